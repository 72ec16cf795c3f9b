import { useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { RecordSourceSelectorProxy } from 'relay-runtime';
import type { automationButtons_automation$key } from '../../__generated__/automationButtons_automation.graphql.ts';
import type { automationButtonsDeleteMutation } from '../../__generated__/automationButtonsDeleteMutation.graphql.ts';
import type { automationButtonsDisableMutation } from '../../__generated__/automationButtonsDisableMutation.graphql.ts';
import type { automationButtonsEnableMutation } from '../../__generated__/automationButtonsEnableMutation.graphql.ts';
import type { automationButtonsRunMutation } from '../../__generated__/automationButtonsRunMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { sessionAddress } from '../../session/address.ts';
import { automationButtons as texts } from '../../texts/automations.ts';
import { common } from '../../texts/common.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { useToasts } from '../../ui/toasts.tsx';

interface AutomationButtonsProps {
  readonly automation: automationButtons_automation$key;
  /** The Relay ids of the connections to remove it from when it is deleted. */
  readonly connections: readonly string[];
  readonly onDeleted?: () => void;
  readonly onRun?: () => void;
}

/** Buttons for an automation: enable or disable, run now, delete. */
export function AutomationButtons({ automation, connections, onDeleted, onRun }: AutomationButtonsProps) {
  const { id, automationId, name, isEnabled } = useFragment(
    graphql`
      fragment automationButtons_automation on Automation {
        id
        automationId
        name
        isEnabled
      }
    `,
    automation,
  );
  const toasts = useToasts();
  const [isConfirming, setConfirming] = useState(false);
  const [enable] = useMutation<automationButtonsEnableMutation>(graphql`
    mutation automationButtonsEnableMutation($input: EnableAutomationInput!) {
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
  const [disable] = useMutation<automationButtonsDisableMutation>(graphql`
    mutation automationButtonsDisableMutation($input: DisableAutomationInput!) {
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
  const [run, isRunning] = useMutation<automationButtonsRunMutation>(graphql`
    mutation automationButtonsRunMutation($input: RunAutomationInput!) {
      runAutomation(input: $input) {
        run {
          status
          sessionId
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
  const [remove, isRemoving] = useMutation<automationButtonsDeleteMutation>(graphql`
    mutation automationButtonsDeleteMutation($input: DeleteAutomationInput!, $connections: [ID!]!) {
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
    else {
      const text = texts.runState({ name, status: payload.run.status.toLowerCase() });
      const { sessionId } = payload.run;
      if (sessionId == null) toasts.say(text);
      else toasts.sayOf(text, { label: texts.viewSession, href: sessionAddress(sessionId) });
    }
    onRun?.();
  };
  // Each is the undo of the other.
  const turn = async (isOn: boolean, isUndoing = false) => {
    const expect = (store: RecordSourceSelectorProxy) => void store.get(id)?.setValue(isOn, 'isEnabled');
    const { errors } = await (isOn ? enable : disable)({ input }, expect);
    if (errors !== null) return;
    toasts.say(
      isOn ? common.enabledName({ name }) : common.disabledName({ name }),
      isUndoing ? undefined : () => void turn(!isOn, true),
    );
  };
  return (
    <>
      <Button
        size="small"
        icon="play"
        isBusy={isRunning}
        aria-label={texts.runNowName({ name })}
        onClick={() => void runNow()}
      >
        {texts.runNow}
      </Button>
      <Button
        size="small"
        aria-label={isEnabled ? common.disableName({ name }) : common.enableName({ name })}
        onClick={() => void turn(!isEnabled)}
      >
        {isEnabled ? common.disable : common.enable}
      </Button>
      <Button size="small" tone="danger" aria-label={common.deleteName({ name })} onClick={() => setConfirming(true)}>
        {common.delete}
      </Button>
      {isConfirming && (
        <Confirm
          key={id}
          title={common.deleteNameTitle({ name })}
          text={texts.deleteText}
          confirmLabel={common.delete}
          isBusy={isRemoving}
          onClose={() => setConfirming(false)}
          onConfirm={() =>
            void remove({ input, connections }).then(({ errors }) => {
              setConfirming(false);
              if (errors !== null) return;
              toasts.say(common.deletedName({ name }));
              onDeleted?.();
            })
          }
        />
      )}
    </>
  );
}
