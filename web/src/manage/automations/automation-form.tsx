import { type FormEvent, useEffect, useRef, useState } from 'react';
import { graphql, useFragment, useLazyLoadQuery } from 'react-relay';
import type {
  AutomationActionInput,
  automationFormCreateMutation,
  CreateAutomationInput,
} from '../../__generated__/automationFormCreateMutation.graphql.ts';
import type { automationFormQuery } from '../../__generated__/automationFormQuery.graphql.ts';
import type {
  automationFormUpdateMutation,
  UpdateAutomationInput,
} from '../../__generated__/automationFormUpdateMutation.graphql.ts';
import type { automationFragment_automation$key } from '../../__generated__/automationFragment_automation.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { useCurrentErrors } from '../../relay/use-current-errors.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { automationForm as texts } from '../../texts/automation-form.ts';
import { common } from '../../texts/common.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { saveResultOf } from '../kit/editor-page.tsx';
import { discardedText, Restored } from '../kit/restored.tsx';
import { checkFailedText, SavedMeanwhile, theirsTakenText } from '../kit/saved-meanwhile.tsx';
import { Actions } from './actions.tsx';
import { automationFragment } from './automation-fragment.ts';
import { changesOf, type Definition, type Draft, definitionOf, problemsOf, writeDraft } from './draft.ts';
import { formPathOf, inputOf } from './input.ts';
import { type MadeWebhook, madeWebhook } from './made-webhook.tsx';
import { Problem } from './problem.tsx';
import { type Problems, problemBeside, problemOf, problemsIn } from './problems.ts';
import { fieldTypesOf } from './schemas.ts';
import { moreSettings } from './settings.ts';
import { SettingsFields } from './settings-fields.tsx';
import { Triggers } from './triggers.tsx';
import { useDraft } from './use-draft.ts';
import {
  conflictingParts,
  type LatestAutomation,
  partLabels,
  textsOf,
  useLatestAutomation,
} from './use-latest-automation.ts';
import './automations.css';

interface AutomationFormProps {
  /** Null: a new one. */
  readonly automation: automationFragment_automation$key | null;
  readonly onCancel: () => void;
  /** Called when the user undoes a cancel. */
  readonly onAgain: () => void;
  /** Receives its id, and the secret of its incoming webhook if one was created. */
  readonly onDone: (id: string, webhook: MadeWebhook | null) => void;
}

const fieldNames = [
  'name',
  'triggers',
  'actions',
  'runAs',
  'limits',
  'concurrency',
  'missedRuns',
  'jitterSeconds',
  'more',
  ...moreSettings,
];

/**
 * Creates or changes an automation. It sends only the changes, so that settings made by a program stay as they are.
 * Unsaved input is kept until it is saved or cancelled.
 */
export function AutomationForm({ automation, onCancel, onAgain, onDone }: AutomationFormProps) {
  const { organization } = useSigned();
  const toasts = useToasts();
  const found = useFragment(automationFragment, automation);
  const { automationSchemas } = useLazyLoadQuery<automationFormQuery>(
    graphql`
      query automationFormQuery {
        automationSchemas {
          operators {
            name
            operand
          }
          eventTypes {
            name
            hasSource
            description
            fields {
              name
              type
              description
              operators
            }
          }
        }
      }
    `,
    {},
  );
  const typeOf = fieldTypesOf(automationSchemas);
  const draftState = useDraft(
    found?.automationId ?? null,
    organization?.organizationId,
    () => (found ? definitionOf(found) : null),
    typeOf,
  );
  const { base, draft, change: setDraft } = draftState;
  const fetchLatest = useLatestAutomation();
  const [other, setOther] = useState<(LatestAutomation & { readonly names: readonly (keyof Definition)[] }) | null>(
    null,
  );
  const [problems, setProblems] = useState<Problems>([]);
  const [create, isCreating] = useMutation<automationFormCreateMutation>(
    graphql`
      mutation automationFormCreateMutation($input: CreateAutomationInput!) {
        createAutomation(input: $input) {
          automation {
            id
            triggers {
              ... on IncomingWebhookTrigger {
                webhookUrl
              }
            }
          }
          webhookSecret
          userErrors {
            message
            path
          }
        }
      }
    `,
    { isQuiet: true },
  );
  const [update, isUpdating] = useMutation<automationFormUpdateMutation>(
    graphql`
      mutation automationFormUpdateMutation($input: UpdateAutomationInput!) {
        updateAutomation(input: $input) {
          automation {
            id
            triggers {
              ... on IncomingWebhookTrigger {
                webhookUrl
              }
            }
            ...automationFragment_automation
          }
          webhookSecret
          userErrors {
            message
            path
          }
        }
      }
    `,
    { isQuiet: true },
  );
  // The service's errors refer to the parts by index, so they are dropped when a part is added or removed.
  const change = (part: 'triggers' | 'actions', changed: Partial<Draft>, isOther: boolean) => {
    setDraft({ ...draft, ...changed });
    if (isOther) setProblems(problems.filter(({ path }) => path?.[0] !== part));
  };
  // The form is long: the error may be far above the button.
  const form = useRef<HTMLFormElement>(null);
  const [refusals, setRefusals] = useState(0);
  useEffect(() => {
    if (refusals === 0) return;
    const wrong = form.current?.querySelector<HTMLElement>('[aria-invalid="true"], .problem');
    wrong?.scrollIntoView({ block: 'center' });
    wrong?.focus({ preventScroll: true });
  }, [refusals]);
  /** Reads the service's version; null: there is nothing to save, and the form shows the reason. */
  const versionToSave = async (): Promise<{ readonly version: number | undefined } | null> => {
    if (!found || !base) return { version: undefined };
    const latest = await fetchLatest(found.id).catch(() => 'unseen' as const);
    if (latest === 'unseen') {
      setProblems([{ message: checkFailedText, path: [] }]);
      setRefusals((before) => before + 1);
      return null;
    }
    // If it was deleted, the service refuses the change.
    const names = latest
      ? conflictingParts(changesOf(draft, base, typeOf), other?.definition ?? base, latest.definition)
      : [];
    setOther(latest && names.length > 0 ? { ...latest, names } : null);
    return names.length > 0 ? null : { version: latest?.version };
  };
  const send = (expectedVersion: number | undefined) => {
    if (found && base) {
      const changes = inputOf(changesOf(draft, base, typeOf)) as UpdateInput;
      return update({ input: { automationId: found.automationId, expectedVersion, ...changes } });
    }
    const input = inputOf(writeDraft(draft, null, typeOf)) as CreateInput;
    return create({ input: { organizationId: organization?.organizationId ?? null, ...input } });
  };
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const own = problemsOf(draft);
    setProblems(own);
    if (own.length > 0) return setRefusals((before) => before + 1);
    for (;;) {
      const seen = await versionToSave();
      if (seen === null) return;
      const { payload, errors } = await send(seen.version);
      // Another version was saved after the check.
      if (saveResultOf(errors) === 'overtaken') continue;
      setProblems((errors ?? []).map(({ message, path }) => ({ message, path: formPathOf(path?.slice(1) ?? []) })));
      if (!payload?.automation) return setRefusals((before) => before + 1);
      draftState.end();
      toasts.say(common.savedName({ name: draft.name.trim() }));
      onDone(payload.automation.id, madeWebhook(payload.webhookSecret, payload.automation.triggers));
      return;
    }
  };
  const takeTheirs = (theirs: Definition) => {
    setOther(null);
    toasts.say(theirsTakenText, draftState.take(theirs));
  };
  const cancel = () => {
    const restoreDraft = draftState.end();
    onCancel();
    if (restoreDraft === null) return;
    toasts.say(discardedText, () => {
      restoreDraft();
      onAgain();
    });
  };
  const beside = problemBeside(useCurrentErrors(problems) ?? [], ...fieldNames);
  return (
    <form className="form card sheet" ref={form} onSubmit={(event) => void submit(event)}>
      {draftState.isRestored && <Restored onDiscard={() => toasts.say(discardedText, draftState.discard())} />}
      <TextField
        label={common.name}
        required
        autoFocus={base === null}
        value={draft.name}
        error={problemOf(problems, 'name')}
        onChange={({ target }) => setDraft({ ...draft, name: target.value })}
      />
      <Triggers
        triggers={draft.triggers}
        schemas={automationSchemas}
        problems={problemsIn(problems, 'triggers')}
        onChange={(triggers, isOther) => change('triggers', { triggers }, isOther)}
      />
      <Actions
        actions={draft.actions}
        problems={problemsIn(problems, 'actions')}
        onChange={(actions, isOther) => change('actions', { actions }, isOther)}
      />
      <SettingsFields
        settings={draft.settings}
        problems={problems}
        onChange={(settings) => setDraft({ ...draft, settings })}
      />
      {beside && <Problem text={beside} />}
      {other && base && (
        <SavedMeanwhile
          saved={{ values: textsOf(other.definition, other.names), at: other.at, by: null }}
          base={textsOf(base, other.names)}
          labels={partLabels}
        />
      )}
      <div className="buttons">
        <Button onClick={cancel}>{common.cancel}</Button>
        {other && <Button onClick={() => takeTheirs(other.definition)}>{texts.useTheirs}</Button>}
        <Button type="submit" tone="primary" isBusy={isCreating || isUpdating}>
          {other ? texts.saveMine : found ? common.save : texts.create}
        </Button>
      </div>
    </form>
  );
}

// The same with mutable lists.
type CreateInput = Omit<CreateAutomationInput, 'organizationId'> & { actions: AutomationActionInput[] };
type UpdateInput = Omit<UpdateAutomationInput, 'automationId'>;
