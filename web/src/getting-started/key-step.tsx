import { useId, useState } from 'react';
import type { AgentKeySource, ModelProvider } from '../__generated__/gettingStartedPageQuery.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import { keySourceText } from '../manage/agents/key-source.ts';
import { KeyForm, type KeyScope } from '../manage/model-keys/key-form.tsx';
import { isKnownProvider } from '../manage/model-keys/providers.ts';
import { Button } from '../ui/button.tsx';
import { Select } from '../ui/field.tsx';
import { useToasts } from '../ui/toasts.tsx';
import { visible } from '../ui/visible.ts';
import { usableAgents } from './setup-state.ts';

interface KeyStepProps {
  readonly agents: readonly {
    readonly agentId: string;
    readonly name: string;
    readonly keySource: AgentKeySource | null | undefined;
    readonly providers: readonly ModelProvider[];
  }[];
  readonly organizationId: string;
  /** Called when a key is saved. */
  readonly onSaved: () => void;
}

/** The second step: a model key for an installed agent. */
export function KeyStep({ agents, organizationId, onSaved }: KeyStepProps) {
  const { viewer, organization, may } = useSigned();
  const form = useId();
  const toasts = useToasts();
  const [chosen, setChosen] = useState('enterprise');
  const usable = usableAgents(agents);
  if (usable.length > 0) {
    return (
      <ul className="step-result">
        {usable.map(({ agentId, name, keySource }) => (
          <li key={agentId}>
            {name}: {keySourceText(keySource ?? 'NONE').toLowerCase()}
          </li>
        ))}
      </ul>
    );
  }
  const scopes: Readonly<Record<string, { readonly label: string; readonly scope: KeyScope } | false>> = {
    enterprise: { label: 'Everybody', scope: { enterprise: true } },
    organization: may('MANAGE_ORG_SECRETS') && {
      label: `Members of ${visible(organization?.name ?? '')}`,
      scope: { organizationId },
    },
    me: viewer.user != null && { label: 'Only me', scope: { viewer: true } },
  };
  const offered = [...new Set(agents.flatMap(({ providers }) => providers))].filter(isKnownProvider);
  if (agents.length > 0 && offered.length === 0) {
    return (
      <p>The installed agents take their key from the environment of the service. The operator can set it there.</p>
    );
  }
  const { scope } = scopes[chosen] || { scope: { enterprise: true } };
  return (
    <>
      <p>
        Agents call their models with a key of the provider. The service keeps it encrypted: agents never see it. A key
        in the environment of the service works too.
      </p>
      <KeyForm
        id={form}
        // The list of providers depends on the installed agents.
        key={offered.join()}
        edited={null}
        scope={scope}
        {...(offered.length > 0 && { offered })}
        isShort
        onSaved={() => {
          toasts.say('Key saved.');
          onSaved();
        }}
        buttons={(isBusy) => (
          <Button type="submit" tone="primary" isBusy={isBusy}>
            Save key
          </Button>
        )}
      >
        <Select label="Who may use it" value={chosen} onChange={({ target }) => setChosen(target.value)}>
          {Object.entries(scopes).map(
            ([value, each]) =>
              each && (
                <option value={value} key={value}>
                  {each.label}
                </option>
              ),
          )}
        </Select>
      </KeyForm>
    </>
  );
}
