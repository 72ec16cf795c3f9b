import { useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { RecordSourceSelectorProxy } from 'relay-runtime';
import type { automationActs_automation$key } from '../../__generated__/automationActs_automation.graphql.ts';
import type { automationActsDeleteMutation } from '../../__generated__/automationActsDeleteMutation.graphql.ts';
import type { automationActsDisableMutation } from '../../__generated__/automationActsDisableMutation.graphql.ts';
import type { automationActsEnableMutation } from '../../__generated__/automationActsEnableMutation.graphql.ts';
import type { automationActsRunMutation } from '../../__generated__/automationActsRunMutation.graphql.ts';
import { useAct } from '../../relay/use-act.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { useToasts } from '../../ui/toasts.tsx';

interface AutomationActsProps {
  readonly automation: automationActs_automation$key;
  /** The lists, by Relay's ids, that it is taken out of when it is deleted. */
  readonly connections: readonly string[];
  readonly onDeleted?: () => void;
  readonly onRun?: () => void;
}

/** What can be done with an automation: enabled and disabled, run now, deleted. */
export function AutomationActs({ automation, connections, onDeleted, onRun }: AutomationActsProps) {
  const { id, automationId, name, isEnabled } = useFragment(
    graphql`
      fragment automationActs_automation on Automation {
        id
        automationId
        name
        isEnabled
      }
    `,
    automation,
  );
  const toasts = useToasts();
  const [asked, setAsked] = useState(false);
  const [enable] = useAct<automationActsEnableMutation>(graphql`
    mutation automationActsEnableMutation($input: EnableAutomationInput!) {
      enableAutomation(input: $input) {
        automation {
          id
          isEnabled
          nextRunAt
          nextRuns
          consecutiveFailures
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [disable] = useAct<automationActsDisableMutation>(graphql`
    mutation automationActsDisableMutation($input: DisableAutomationInput!) {
      disableAutomation(input: $input) {
        automation {
          id
          isEnabled
          nextRunAt
          nextRuns
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [run, isRunning] = useAct<automationActsRunMutation>(graphql`
    mutation automationActsRunMutation($input: RunAutomationInput!) {
      runAutomation(input: $input) {
        run {
          status
          error {
            message
          }
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [remove, isRemoving] = useAct<automationActsDeleteMutation>(graphql`
    mutation automationActsDeleteMutation($input: DeleteAutomationInput!, $connections: [ID!]!) {
      deleteAutomation(input: $input) {
        deletedAutomationId @deleteEdge(connections: $connections)
        userErrors {
          message
        }
      }
    }
  `);
  const input = { automationId };
  const runNow = async () => {
    const { payload } = await run({ input });
    if (!payload?.run) return;
    if (payload.run.error) toasts.fail(`${name}: ${payload.run.error.message}`);
    else toasts.say(`${name} was ${payload.run.status}.`);
    onRun?.();
  };
  // Each is the other's undoing.
  const turn = async (isOn: boolean, isUndoing = false) => {
    const expect = (store: RecordSourceSelectorProxy) => void store.get(id)?.setValue(isOn, 'isEnabled');
    const { errors } = await (isOn ? enable : disable)({ input }, expect);
    if (errors !== null) return;
    toasts.say(`${name} is ${isOn ? 'enabled' : 'disabled'}.`, isUndoing ? undefined : () => void turn(!isOn, true));
  };
  return (
    <>
      <Button size="small" icon="play" isBusy={isRunning} aria-label={`Run now: ${name}`} onClick={() => void runNow()}>
        Run now
      </Button>
      <Button
        size="small"
        aria-label={`${isEnabled ? 'Disable' : 'Enable'} ${name}`}
        onClick={() => void turn(!isEnabled)}
      >
        {isEnabled ? 'Disable' : 'Enable'}
      </Button>
      <Button size="small" tone="danger" aria-label={`Delete ${name}`} onClick={() => setAsked(true)}>
        Delete
      </Button>
      {asked && (
        <Confirm
          key={id}
          title={`Delete ${name}?`}
          text="It acts no more. The sessions that it started stay."
          act="Delete"
          isBusy={isRemoving}
          onClose={() => setAsked(false)}
          onConfirm={() =>
            void remove({ input, connections }).then(({ errors }) => {
              setAsked(false);
              if (errors !== null) return;
              toasts.say(`${name} is deleted.`);
              onDeleted?.();
            })
          }
        />
      )}
    </>
  );
}
