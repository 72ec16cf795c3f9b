import type { LogEntry } from '../sessions/log.ts';

/** The facts of a log entry that decide about its event types. */
export type TypedEntry = Pick<LogEntry, 'kind' | 'data'>;

interface EventType {
  /** The kind of the log entries that it comes from. */
  readonly kind: LogEntry['kind'];
  /** Tells if an entry of this kind has it. */
  readonly isOf: (data: Readonly<Record<string, unknown>>) => boolean;
  /** A description. */
  readonly meaning: string;
}

const ofState =
  (state: string): EventType['isOf'] =>
  (data) =>
    data.state === state;

/**
 * The event types of webhooks: the `type` of a delivery, with the log entries that it comes from. Of several types of one entry,
 * an endpoint gets the first that it receives, so that it gets each entry once.
 */
export const webhookEventTypes = {
  'session.status_changed': {
    kind: 'STATUS',
    isOf: () => true,
    meaning: 'The status of a session changed, or a session was created or archived.',
  },
  'session.follow_up_sent': {
    kind: 'MESSAGE',
    isOf: ({ followUp }) => typeof followUp === 'object' && followUp !== null,
    meaning:
      'A follow-up of a pull request was sent to its session: failed checks, a review, comments or a conflict. It takes the place of the message event.',
  },
  'session.message': {
    kind: 'MESSAGE',
    isOf: () => true,
    meaning: 'A user or the agent wrote a message in a session.',
  },
  'session.pull_request_opened': {
    kind: 'PULL_REQUEST',
    isOf: (data) => data.state === 'open' && data.isReviewed !== true,
    meaning: 'A session opened a pull request, or a pull request of a session was opened again.',
  },
  'session.pull_request_merged': {
    kind: 'PULL_REQUEST',
    isOf: ofState('merged'),
    meaning: 'A pull request of a session was merged.',
  },
  'session.pull_request_closed': {
    kind: 'PULL_REQUEST',
    isOf: ofState('closed'),
    meaning: 'A pull request of a session was closed without a merge.',
  },
  'session.follow_ups_stopped': {
    kind: 'NOTICE',
    isOf: ({ followUpStop }) => typeof followUpStop === 'object' && followUpStop !== null,
    meaning: 'A limit stopped the follow-ups of a pull request, and a person has to look at it.',
  },
} as const satisfies Record<string, EventType>;

/** One of {@link webhookEventTypes}. */
export type WebhookEventType = keyof typeof webhookEventTypes;

/** The event type of a test, which belongs to no session. */
export const testEventType = 'webhook.test';

/** Every event type of a delivery. */
export type WebhookDeliveryType = WebhookEventType | typeof testEventType;

const types = Object.entries(webhookEventTypes) as [WebhookEventType, EventType][];

/** The kinds of log entry that are sent. */
export const sentKinds: readonly string[] = [...new Set(types.map(([, { kind }]) => kind))];

/** Returns the event type by which an endpoint with these types gets a log entry; null if it does not. */
export function eventTypeFor(
  { kind, data }: TypedEntry,
  received: readonly WebhookEventType[],
): WebhookEventType | null {
  const found = types.find(([name, type]) => type.kind === kind && received.includes(name) && type.isOf(data ?? {}));
  return found?.[0] ?? null;
}
