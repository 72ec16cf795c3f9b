import { type FormEvent, useState } from 'react';
import { graphql, useFragment, useLazyLoadQuery } from 'react-relay';
import type {
  automationForm_automation$data,
  automationForm_automation$key,
} from '../../__generated__/automationForm_automation.graphql.ts';
import type { automationFormCreateMutation } from '../../__generated__/automationFormCreateMutation.graphql.ts';
import type { automationFormQuery } from '../../__generated__/automationFormQuery.graphql.ts';
import type { automationFormUpdateMutation } from '../../__generated__/automationFormUpdateMutation.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { useAct } from '../../relay/use-act.ts';
import { Button } from '../../ui/button.tsx';
import { errorOf, Select, TextArea, TextField } from '../../ui/field.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { FormErrors, type FormProblem, Given } from '../kit/kit.ts';
import { readTrigger, type TriggerDraft, writeTrigger } from './trigger.ts';
import { TriggerFields } from './trigger-fields.tsx';
import './automations.css';

interface AutomationFormProps {
  /** Null: a new one. */
  readonly automation: automationForm_automation$key | null;
  readonly onCancel: () => void;
  /** With its id, and the secret of its incoming webhook where one was made. */
  readonly onDone: (id: string, secret: string | null) => void;
}

const placed = ['name', 'prompt', 'tags', 'playbookId', 'maxAcuLimit', 'maxConcurrentRuns', 'conditions'];

/** Makes or changes an automation. What it cannot show, of one that a program made, stays as it is. */
export function AutomationForm({ automation, onCancel, onDone }: AutomationFormProps) {
  const { organization } = useSigned();
  const toasts = useToasts();
  const before = useFragment(
    graphql`
      fragment automationForm_automation on Automation {
        automationId
        name
        missedRuns
        triggers {
          eventType
          timeZone
          replies
          conditions {
            any {
              all {
                field
                operator
                value
              }
            }
          }
        }
        actions {
          type
          prompt
          session {
            tags
            repos
            platform
            bypassApproval
            playbook {
              playbookId
            }
          }
        }
        limits {
          maxAcuLimit
          invocations {
            maxPerWindow
            windowSeconds
          }
        }
        concurrency {
          maxConcurrentRuns
          maxQueueDepth
        }
      }
    `,
    automation,
  );
  const { organization: found, automationSchemas } = useLazyLoadQuery<automationFormQuery>(
    graphql`
      query automationFormQuery($id: ID!) {
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
              description
              operators
            }
          }
        }
        organization(id: $id) {
          playbooks(first: 100) {
            nodes {
              playbookId
              title
            }
          }
        }
      }
    `,
    { id: organization?.organizationId ?? '' },
  );
  const [trigger, setTrigger] = useState<TriggerDraft | null>(() =>
    before ? readTrigger(before.triggers) : newTrigger(),
  );
  const action = before ? simpleAction(before.actions) : { prompt: '', session: null };
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [create, isCreating] = useAct<automationFormCreateMutation>(
    graphql`
      mutation automationFormCreateMutation($input: CreateAutomationInput!) {
        createAutomation(input: $input) {
          automation {
            id
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
  const [update, isUpdating] = useAct<automationFormUpdateMutation>(
    graphql`
      mutation automationFormUpdateMutation($input: UpdateAutomationInput!) {
        updateAutomation(input: $input) {
          automation {
            id
            ...automationForm_automation
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
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new Given(event.currentTarget);
    const playbookId = given.word('playbookId');
    const tags = given.list('tags');
    const actions = action && [
      {
        type: 'start_session',
        prompt: given.raw('prompt'),
        session: {
          tags,
          playbookId,
          repos: action.session?.repos ?? null,
          platform: action.session?.platform ?? null,
          bypassApproval: action.session?.bypassApproval ?? null,
        },
      },
    ];
    const triggers = trigger && [writeTrigger(trigger, before?.triggers[0]?.replies ?? null)];
    const maxAcuLimit = given.number('maxAcuLimit');
    const maxConcurrentRuns = given.number('maxConcurrentRuns');
    const invocations = before?.limits?.invocations ?? null;
    const maxQueueDepth = before?.concurrency?.maxQueueDepth ?? null;
    const settings = {
      name: given.text('name'),
      missedRuns: given.word('missedRuns'),
      limits: maxAcuLimit === null && invocations === null ? null : { maxAcuLimit, invocations },
      concurrency: maxConcurrentRuns === null && maxQueueDepth === null ? null : { maxConcurrentRuns, maxQueueDepth },
    };
    const { payload, errors: refused } = before
      ? await update({
          input: {
            ...settings,
            automationId: before.automationId,
            ...(triggers ? { triggers } : {}),
            ...(actions ? { actions } : {}),
          },
        })
      : await create({
          input: {
            ...settings,
            organizationId: organization?.organizationId ?? null,
            triggers: triggers ?? [],
            actions: actions ?? [],
          },
        });
    setErrors(refused);
    if (!payload?.automation) return;
    toasts.say(`${settings.name} is saved.`);
    onDone(payload.automation.id, payload.webhookSecret ?? null);
  };
  const playbooks = found?.playbooks.nodes ?? [];
  return (
    <form className="form card sheet" onSubmit={(event) => void submit(event)}>
      <TextField
        label="Name"
        name="name"
        required
        autoFocus={before === null}
        defaultValue={before?.name ?? ''}
        error={errorOf(errors, 'name')}
      />
      <fieldset className="group-box">
        <legend>When</legend>
        {trigger ? (
          <TriggerFields
            draft={trigger}
            onChange={setTrigger}
            schemas={automationSchemas}
            error={errorOf(errors, 'conditions')}
          />
        ) : (
          <p className="soft">Its triggers are more than this form can show. They stay as they are.</p>
        )}
      </fieldset>
      <fieldset className="group-box">
        <legend>What is done then</legend>
        {action ? (
          <>
            <TextArea
              label="What an agent is asked"
              name="prompt"
              rows={6}
              required
              defaultValue={action.prompt}
              error={errorOf(errors, 'prompt')}
            />
            <div className="fields">
              <Select
                label="Playbook"
                name="playbookId"
                defaultValue={action.session?.playbook?.playbookId ?? ''}
                error={errorOf(errors, 'playbookId')}
              >
                <option value="">None</option>
                {playbooks.map(({ playbookId, title }) => (
                  <option value={playbookId} key={playbookId}>
                    {title}
                  </option>
                ))}
              </Select>
              <TextField
                label="Tags"
                name="tags"
                placeholder="one, another"
                defaultValue={action.session?.tags?.join(', ') ?? ''}
                error={errorOf(errors, 'tags')}
              />
            </div>
          </>
        ) : (
          <p className="soft">Its actions are more than this form can show. They stay as they are.</p>
        )}
      </fieldset>
      <fieldset className="group-box">
        <legend>How much</legend>
        <div className="fields">
          <TextField
            label="ACUs of a session at most"
            name="maxAcuLimit"
            type="number"
            min={1}
            placeholder="No limit of its own"
            defaultValue={before?.limits?.maxAcuLimit ?? ''}
            error={errorOf(errors, 'maxAcuLimit')}
          />
          <TextField
            label="Sessions at once at most"
            name="maxConcurrentRuns"
            type="number"
            min={1}
            placeholder="Any number"
            defaultValue={before?.concurrency?.maxConcurrentRuns ?? ''}
            error={errorOf(errors, 'maxConcurrentRuns')}
          />
          <Select label="Times that were missed" name="missedRuns" defaultValue={before?.missedRuns ?? ''}>
            <option value="">The last one is made up for</option>
            <option value="skip">None is made up for</option>
            <option value="all">Each is made up for</option>
          </Select>
        </div>
      </fieldset>
      <FormErrors errors={errors} placed={placed} />
      <div className="buttons">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" tone="primary" isBusy={isCreating || isUpdating}>
          Save
        </Button>
      </div>
    </form>
  );
}

type Action = automationForm_automation$data['actions'][number];

// One that starts a session, which is what the form can say.
function simpleAction(actions: readonly Action[]): { prompt: string; session: Action['session'] } | null {
  const [only, ...others] = actions;
  if (!only || others.length > 0 || only.type !== 'start_session') return null;
  return { prompt: only.prompt ?? '', session: only.session };
}

const newTrigger = (): TriggerDraft => readTrigger([]) as TriggerDraft;
