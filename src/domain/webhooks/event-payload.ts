import { prefixedId } from '../ids.ts';
import type { LogEntry } from '../sessions/log.ts';
import { testEventType, type WebhookDeliveryType } from './event-types.ts';

/** The event of a delivery. */
export interface PayloadSource {
  readonly organizationId: string;
  readonly eventType: WebhookDeliveryType;
  readonly eventId: string;
  readonly createdAt: Date;
  /** Null: a test. */
  readonly entry: Pick<
    LogEntry,
    'sessionId' | 'seq' | 'kind' | 'messageType' | 'body' | 'data' | 'userId' | 'serviceUserId' | 'createdAt'
  > | null;
}

/** Returns the id by which a receiver recognizes an event: the same for every attempt, and for every endpoint. */
export function webhookMessageId({ eventType, eventId }: Pick<PayloadSource, 'eventType' | 'eventId'>): string {
  return eventType === testEventType ? prefixedId('webhookDelivery', eventId) : prefixedId('event', eventId);
}

/**
 * Returns the body to send, in the format of Standard Webhooks: `type`, `timestamp` and `data`. The log is append-only,
 * so the body is the same in every attempt.
 */
export function webhookPayload(source: PayloadSource, baseUrl: string): string {
  const { entry, eventType: type } = source;
  const organizationId = prefixedId('organization', source.organizationId);
  if (!entry) {
    return JSON.stringify({ type, timestamp: source.createdAt, data: { organizationId } });
  }
  const data = {
    organizationId,
    sessionId: prefixedId('session', entry.sessionId),
    url: `${baseUrl}/sessions/${entry.sessionId}`,
    eventId: webhookMessageId(source),
    sequence: entry.seq,
    ...factsOf(type, entry),
  };
  return JSON.stringify({ type, timestamp: entry.createdAt, data });
}

type Entry = NonNullable<PayloadSource['entry']>;

function factsOf(type: WebhookDeliveryType, entry: Entry): object {
  const data = entry.data ?? {};
  if (entry.kind === 'STATUS') return statusOf(data);
  if (entry.kind === 'PULL_REQUEST') {
    return {
      pullRequestUrl: data.url ?? '',
      pullRequestState: data.state ?? null,
      isReviewed: data.isReviewed === true,
    };
  }
  if (entry.kind === 'NOTICE') {
    const { url, limit } = recordOf(data.followUpStop);
    return { pullRequestUrl: url ?? '', limit: limit ?? null };
  }
  if (type !== 'session.follow_up_sent') return messageOf(entry);
  const { id, kind, url } = recordOf(data.followUp);
  const followUpId = typeof id === 'string' ? prefixedId('followUp', id) : null;
  return { ...messageOf(entry), followUpId, followUpKind: kind ?? null, pullRequestUrl: url ?? '' };
}

const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

const statusOf = ({ status, statusDetail, request, endedBy, isArchived }: Record<string, unknown>) => ({
  status,
  statusDetail: statusDetail ?? null,
  request: request ?? null,
  endedBy: endedBy ?? null,
  isArchived: isArchived ?? false,
});

const messageOf = ({ messageType, body, userId, serviceUserId }: Entry) => ({
  messageType,
  message: body ?? '',
  userId: userId === null ? null : prefixedId('user', userId),
  serviceUserId: serviceUserId === null ? null : prefixedId('serviceUser', serviceUserId),
});
