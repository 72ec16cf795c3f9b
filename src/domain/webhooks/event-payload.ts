import { prefixedId } from '../ids.ts';
import type { LogEntry } from '../sessions/log.ts';
import { testEventType, type WebhookDeliveryType } from './event-types.ts';

/** What a delivery is about. */
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

/** The id that a receiver knows something again by: the same for every attempt, and for every endpoint. */
export function webhookMessageId({ eventType, eventId }: Pick<PayloadSource, 'eventType' | 'eventId'>): string {
  return eventType === testEventType ? prefixedId('webhookDelivery', eventId) : prefixedId('event', eventId);
}

/**
 * The text that is sent, in the form of Standard Webhooks: `type`, `timestamp` and `data`. A log is only ever added to, so that it
 * is the same whenever it is sent.
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
    ...(entry.kind === 'STATUS' ? statusOf(entry.data ?? {}) : messageOf(entry)),
  };
  return JSON.stringify({ type, timestamp: entry.createdAt, data });
}

const statusOf = ({ status, statusDetail, request, endedBy, isArchived }: Record<string, unknown>) => ({
  status,
  statusDetail: statusDetail ?? null,
  request: request ?? null,
  endedBy: endedBy ?? null,
  isArchived: isArchived ?? false,
});

const messageOf = ({ messageType, body, userId, serviceUserId }: NonNullable<PayloadSource['entry']>) => ({
  messageType,
  message: body ?? '',
  userId: userId === null ? null : prefixedId('user', userId),
  serviceUserId: serviceUserId === null ? null : prefixedId('serviceUser', serviceUserId),
});
