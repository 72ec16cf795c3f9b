/**
 * The event types of webhooks: the `type` of a delivery, with the log entries that it comes from, and a description.
 */
export const webhookEventTypes = {
  'session.status_changed': {
    kind: 'STATUS',
    meaning: 'The status of a session changed, or a session was created or archived.',
  },
  'session.message': { kind: 'MESSAGE', meaning: 'A user or the agent wrote a message in a session.' },
} as const satisfies Record<string, { kind: string; meaning: string }>;

/** One of {@link webhookEventTypes}. */
export type WebhookEventType = keyof typeof webhookEventTypes;

/** The event type of a test, which belongs to no session. */
export const testEventType = 'webhook.test';

/** Every event type of a delivery. */
export type WebhookDeliveryType = WebhookEventType | typeof testEventType;

/** The kinds of log entry that are sent. */
export const sentKinds: readonly string[] = Object.values(webhookEventTypes).map(({ kind }) => kind);

/** Returns the event type of a log entry of this kind; null if such entries are not sent. */
export function eventTypeOfKind(kind: string): WebhookEventType | null {
  const found = Object.entries(webhookEventTypes).find(([, type]) => type.kind === kind);
  return found ? (found[0] as WebhookEventType) : null;
}
