import { useId, useLayoutEffect, useRef, useState } from 'react';
import type { AgentKeySource, ModelProvider } from '../__generated__/gettingStartedPageQuery.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import { keySourceText } from '../manage/agents/key-source.ts';
import { failureText } from '../manage/model-keys/failure-text.ts';
import { KeyForm, type KeyScope } from '../manage/model-keys/key-form.tsx';
import { isKnownProvider } from '../manage/model-keys/providers.ts';
import { common } from '../texts/common.ts';
import { keyStep as texts } from '../texts/getting-started.ts';
import { Button } from '../ui/button.tsx';
import { Select } from '../ui/field.tsx';
import { focusHeading, isLost } from '../ui/focus.ts';
import { useToasts } from '../ui/toasts.tsx';
import { visible } from '../ui/visible.ts';
import { failedKeyOf, usableAgents } from './setup-state.ts';
import type { StepKey } from './use-step-keys.ts';

interface Agent {
  readonly agentId: string;
  readonly name: string;
  readonly keySource: AgentKeySource | null | undefined;
  readonly providers: readonly ModelProvider[];
}

interface KeyStepProps {
  readonly agents: readonly Agent[];
  /** The keys that the viewer sees. */
  readonly keys: readonly StepKey[];
  readonly organizationId: string;
  /** Called when a key has changed. */
  readonly onChanged: () => void;
}

/** The second step: a model key for an installed agent. */
export function KeyStep({ agents, keys, organizationId, onChanged }: KeyStepProps) {
  const usable = usableAgents(agents);
  const offered = [...new Set(agents.flatMap(({ providers }) => providers))].filter(isKnownProvider);
  const isOnlyEnvironment = agents.length > 0 && offered.length === 0;
  // The form stays open until its key works, although an agent can use the key as soon as it is saved.
  const [form, setForm] = useState<'new' | StepKey | null>(usable.length === 0 ? 'new' : null);
  useFocusAfter(form !== null);
  if (usable.length === 0 && isOnlyEnvironment) {
    return <p>{texts.operatorSetsKeys}</p>;
  }
  const open = form ?? (usable.length === 0 ? 'new' : null);
  return (
    <>
      {usable.length > 0 && form !== 'new' && (
        <ul className="step-result">
          {usable.map((agent) => (
            <UsableAgent key={agent.agentId} agent={agent} failed={failedKeyOf(agent, keys)} onReplace={setForm} />
          ))}
        </ul>
      )}
      {open === null ? (
        !isOnlyEnvironment && (
          <div>
            <Button size="small" onClick={() => setForm('new')}>
              {texts.addAnotherKey}
            </Button>
          </div>
        )
      ) : (
        <StepForm
          // The list of providers depends on the installed agents.
          key={open === 'new' ? offered.join() : open.providerKeyId}
          edited={open === 'new' ? null : open}
          offered={offered}
          organizationId={organizationId}
          onStored={() => {
            setForm(open);
            onChanged();
          }}
          onDone={() => {
            setForm(null);
            onChanged();
          }}
          onCancel={usable.length > 0 ? () => setForm(null) : null}
        />
      )}
    </>
  );
}

/** Moves the focus from a form that closes to the heading of the current step. */
function useFocusAfter(isOpen: boolean): void {
  const wasOpen = useRef(isOpen);
  useLayoutEffect(() => {
    if (wasOpen.current && !isOpen && isLost()) {
      const heading = document.querySelector<HTMLElement>('.steps [aria-current] h2');
      if (heading === null) focusHeading();
      else heading.focus();
    }
    wasOpen.current = isOpen;
  }, [isOpen]);
}

interface UsableAgentProps {
  readonly agent: Agent;
  /** A key whose last call failed, if the agent has no other; null: it has. */
  readonly failed: StepKey | null;
  readonly onReplace: (key: StepKey) => void;
}

function UsableAgent({ agent: { name, keySource }, failed, onReplace }: UsableAgentProps) {
  return (
    <li>
      <span>
        {name}: {keySourceText(keySource ?? 'NONE')}
      </span>
      {failed?.lastFailure && (
        <>
          <p className="problem">{failureText(failed.lastFailure.message, failed)}</p>
          <Button
            size="small"
            aria-label={texts.replaceKeyName({ name: failed.name })}
            onClick={() => onReplace(failed)}
          >
            {texts.replaceKey}
          </Button>
        </>
      )}
    </li>
  );
}

interface StepFormProps {
  /** Null: a new key. */
  readonly edited: StepKey | null;
  readonly offered: Parameters<typeof KeyForm>[0]['offered'] & object;
  readonly organizationId: string;
  readonly onStored: () => void;
  readonly onDone: () => void;
  /** Null: the form cannot be closed. */
  readonly onCancel: (() => void) | null;
}

function StepForm({ edited, offered, organizationId, onStored, onDone, onCancel }: StepFormProps) {
  const { viewer, organization, may } = useSigned();
  const form = useId();
  const toasts = useToasts();
  const [chosen, setChosen] = useState('enterprise');
  const scopes: Readonly<Record<string, { readonly label: string; readonly scope: KeyScope } | false>> = {
    enterprise: { label: texts.everybody, scope: { enterprise: true } },
    organization: may('MANAGE_ORG_SECRETS') && {
      label: texts.membersOf({ name: visible(organization?.name ?? '') }),
      scope: { organizationId },
    },
    me: viewer.user != null && { label: texts.onlyMe, scope: { viewer: true } },
  };
  const { scope } = scopes[chosen] || { scope: { enterprise: true } };
  return (
    <>
      {edited === null && <p>{texts.keyIntro}</p>}
      <KeyForm
        id={form}
        edited={edited}
        scope={scope}
        {...(offered.length > 0 && { offered })}
        isShort
        onStored={onStored}
        onSaved={(name) => {
          toasts.say(common.savedName({ name }));
          onDone();
        }}
        buttons={({ isBusy, isRefused }) => (
          <>
            <Button type="submit" tone="primary" isBusy={isBusy}>
              {isRefused || edited !== null ? texts.replaceKey : texts.saveKey}
            </Button>
            {onCancel !== null && !isRefused && <Button onClick={onCancel}>{common.cancel}</Button>}
          </>
        )}
      >
        {edited === null && (
          <Select label={texts.audience} value={chosen} onChange={({ target }) => setChosen(target.value)}>
            {Object.entries(scopes).map(
              ([value, each]) =>
                each && (
                  <option value={value} key={value}>
                    {each.label}
                  </option>
                ),
            )}
          </Select>
        )}
      </KeyForm>
    </>
  );
}
