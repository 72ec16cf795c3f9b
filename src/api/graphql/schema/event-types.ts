import type { EventKind, LogEntry } from '../../../domain/sessions/log.ts';

/** The GraphQL type of each kind of entry. A message is an event too. */
const typeOfKind = {
  MESSAGE: 'SessionMessage',
  MESSAGE_CHANGED: 'MessageChangedEvent',
  STATUS: 'StatusEvent',
  TURN: 'TurnEvent',
  THOUGHT: 'ThoughtEvent',
  PLAN: 'PlanEvent',
  TOOL_CALL: 'ToolCallEvent',
  QUESTION: 'QuestionEvent',
  PERMISSION: 'PermissionEvent',
  NOTICE: 'NoticeEvent',
  USAGE: 'UsageEvent',
  LIMIT: 'LimitEvent',
  REPOSITORY: 'RepositoryEvent',
  PUSH: 'PushEvent',
  PULL_REQUEST: 'PullRequestEvent',
  STRUCTURED_OUTPUT: 'StructuredOutputEvent',
  ATTACHMENT: 'AttachmentEvent',
  REWIND: 'RewindEvent',
  ERROR: 'ErrorEvent',
} as const satisfies Record<EventKind, string>;

/** The names of all event types. */
export const eventTypes = Object.values(typeOfKind);

/** The name of an entry's event type. */
export function eventTypeOf(entry: Pick<LogEntry, 'kind'>): (typeof eventTypes)[number] {
  return typeOfKind[entry.kind];
}
