import type { Action } from './action.ts';
import type { Definition } from './draft.ts';
import { incoming, recurring, ruleOf, type Trigger } from './trigger.ts';

/** The API's input for an automation, with each trigger and each action below the member of its kind. */
export function inputOf({ triggers, actions, ...rest }: Partial<Definition>): object {
  return {
    ...rest,
    ...(triggers && { triggers: triggers.map(triggerInput) }),
    ...(actions && { actions: actions.map(actionInput) }),
  };
}

function triggerInput(trigger: Trigger): object {
  const { eventType, conditions, timeZone, replies } = trigger;
  if (eventType === recurring) return { schedule: { rule: ruleOf(trigger), timeZone, replies } };
  if (eventType === incoming) return { incomingWebhook: { conditions, replies } };
  return { event: { eventType, conditions, replies } };
}

const members = {
  'start_session': 'startSession',
  'message_session': 'messageSession',
  'monitor_session': 'monitorSession',
} as const satisfies Record<Action['type'], string>;

const actionInput = ({ type, ...action }: Action): object => ({ [members[type]]: action });

/** The form's path for a path of the API's input. */
export function formPathOf(path: readonly string[]): readonly string[] {
  const [list, index, member, ...rest] = path;
  if ((list !== 'triggers' && list !== 'actions') || index === undefined || member === undefined) return path;
  return [list, index, ...(rest[0] === 'rule' ? ['conditions'] : rest)];
}
