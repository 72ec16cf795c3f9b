/** What an endpoint can hear of: the `type` of what is sent to it. The log entries that it comes from, and what it says. */
export const webhookEventTypes = {
  'session.status_changed': {
    kind: 'STATUS',
    meaning: 'The status of a session changed, or a session was created or archived.',
  },
  'session.message': { kind: 'MESSAGE', meaning: 'A user or the agent wrote a message in a session.' },
} as const satisfies Record<string, { kind: string; meaning: string }>;

/** One of {@link webhookEventTypes}. */
export type WebhookEventType = keyof typeof webhookEventTypes;

/** What only a test sends: of no session, to whoever asked for it. */
export const testEventType = 'webhook.test';

/** All that a delivery can be of. */
export type WebhookDeliveryType = WebhookEventType | typeof testEventType;

/** The kinds of log entry that are sent. */
export const sentKinds: readonly string[] = Object.values(webhookEventTypes).map(({ kind }) => kind);

/** The event that a log entry of this kind is; null for one that nobody is told of. */
export function eventTypeOfKind(kind: string): WebhookEventType | null {
  const found = Object.entries(webhookEventTypes).find(([, type]) => type.kind === kind);
  return found ? (found[0] as WebhookEventType) : null;
}
