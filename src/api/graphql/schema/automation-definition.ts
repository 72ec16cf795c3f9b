import { DomainError, MissingPermissionError, refuse } from '../../../common/errors.ts';
import type { Action } from '../../../domain/automations/model/definition.ts';
import { recurringEvent, webhookEvent } from '../../../domain/automations/model/event-types.ts';
import type { AutomationActionInput, AutomationTriggerInput } from './automation-definition-inputs.ts';

type TriggerInput = typeof AutomationTriggerInput.$inferInput;
type ActionInput = typeof AutomationActionInput.$inferInput;

/** The triggers and the actions of an automation in GraphQL's input form. */
interface Definition {
  readonly triggers?: readonly TriggerInput[] | null | undefined;
  readonly actions?: readonly ActionInput[] | null | undefined;
}

/** The name of the member that a `@oneOf` input has. */
const memberOf = (input: object | undefined): string | undefined =>
  Object.entries(input ?? {}).find(([, value]) => value != null)?.[0];

// The rule is the only condition of such a trigger.
const conditionsOf = (value: string) => ({ any: [{ all: [{ field: 'rrule', operator: 'recurrence', value }] }] });

const memberFor: Readonly<Record<string, string>> = { [recurringEvent]: 'schedule', [webhookEvent]: 'incomingWebhook' };

function readTrigger({ schedule, incomingWebhook, event }: TriggerInput, n: number) {
  // The domain represents replies as objects, so that they can get more members.
  const replies = (schedule ?? incomingWebhook ?? event)?.replies?.map((type) => ({ type }));
  if (schedule) {
    const { rule, timeZone } = schedule;
    return { eventType: recurringEvent, conditions: conditionsOf(rule), timeZone, replies };
  }
  if (incomingWebhook) return { eventType: webhookEvent, conditions: incomingWebhook.conditions, replies };
  const eventType = event?.eventType ?? '';
  const member = memberFor[eventType];
  if (member !== undefined) {
    const path = ['triggers', String(n), 'eventType'];
    throw refuse(path, `"eventType" must not be ${eventType}: give "${member}" in place of "event".`);
  }
  return { eventType, conditions: event?.conditions, replies };
}

const typeOf = {
  startSession: 'start_session',
  messageSession: 'message_session',
  monitorSession: 'monitor_session',
} as const satisfies Record<keyof ActionInput, Action['type']>;

function readAction({ startSession, messageSession, monitorSession }: ActionInput) {
  if (startSession) return { type: typeOf.startSession, ...startSession };
  return messageSession
    ? { type: typeOf.messageSession, ...messageSession }
    : { type: typeOf.monitorSession, ...monitorSession };
}

/** Converts triggers and actions to the domain's form; omitted ones stay omitted. */
export function readDefinition({ triggers, actions }: Definition) {
  return {
    ...(triggers && { triggers: triggers.map(readTrigger) }),
    ...(actions && { actions: actions.map(readAction) }),
  };
}

/** Runs a domain operation, and translates the paths of its errors to the members of this input. */
export async function withInputPaths<T>(input: Definition, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    // A missing permission concerns the caller and has no path in the input.
    if (!(error instanceof DomainError) || error instanceof MissingPermissionError) throw error;
    if (error.issues.length === 0) throw error;
    const issues = error.issues.map(({ path, message }) => {
      const inputPath = inputPathOf(input, path);
      const isRule = inputPath.at(-1) === 'rule';
      return { path: inputPath, message: isRule ? message.replace(/^"value"/, '"rule"') : message };
    });
    const locatedError = new DomainError(error.code, error.message, issues);
    locatedError.cause = error;
    throw locatedError;
  }
}

function inputPathOf({ triggers, actions }: Definition, path: readonly string[]): readonly string[] {
  const [list, index, ...rest] = path;
  if (index === undefined || rest.length === 0) return path;
  const member = memberOf((list === 'triggers' ? triggers : list === 'actions' ? actions : null)?.[Number(index)]);
  if (list === undefined || member === undefined) return path;
  const isRule = member === 'schedule' && rest[0] === 'conditions';
  return [list, index, member, ...(isRule ? ['rule'] : rest)];
}
