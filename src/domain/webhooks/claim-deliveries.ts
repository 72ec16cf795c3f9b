import type { Keyring } from '../../store/cipher.ts';
import type { Services } from '../context.ts';
import type { WebhookAttempt, WebhookDeliveryRecord } from './deliveries.ts';
import { webhookSecretAssociatedData } from './endpoints.ts';
import type { PayloadSource } from './event-payload.ts';

/** Duration of a process's claim on an attempt: longer than the maximum wait for a response. */
const leaseMs = 30_000;
/** Concurrent deliveries of one process to an endpoint; after a failure, one. */
const maxPerEndpoint = 8;
/**
 * Concurrent deliveries of one process for an organization, so that slow receivers do not use up the slots of others.
 */
const maxPerOrganization = 16;

/** Number of deliveries that a process is sending, by unprefixed ids. */
export interface InFlightCounts {
  readonly endpoints: ReadonlyMap<string, number>;
  readonly organizations: ReadonlyMap<string, number>;
}

// The free slots of an endpoint `w`, with `busy.count` deliveries under way.
const freeSlots = `(case when w.consecutive_failures > 0 then 1 else ${maxPerEndpoint} end - coalesce(busy.count, 0))`;

/** A delivery that this process has claimed, with the data to send it. */
export interface ClaimedDelivery extends PayloadSource {
  readonly id: string;
  readonly enterpriseId: string;
  readonly endpointId: string;
  readonly url: string;
  readonly attemptCount: number;
  readonly attempts: readonly WebhookAttempt[];
  readonly begunAt: Date;
  /** The end of the claim, which also identifies it. */
  readonly claimedUntilAt: Date;
  readonly sealed: string;
  /** The previous secret, while it also signs. */
  readonly previousSealed: string | null;
}

/**
 * Claims due deliveries, of each endpoint and organization in turn, the longest due first, up to their free slots. May
 * run in several processes at once: one process claims each delivery, until the claim expires.
 */
export async function claimDeliveries(
  services: Pick<Services, 'store' | 'now'>,
  { endpoints, organizations }: InFlightCounts,
  limit: number,
): Promise<ClaimedDelivery[]> {
  const now = services.now();
  const claimedUntilAt = new Date(now.getTime() + leaseMs);
  const claimed = await services.store.execute<{ id: string }>(
    `update webhook_delivery set next_attempt_at = $2::timestamptz where id in (
       select ranked.id from (
         select due.id, due.next_attempt_at, w.organization_id, row_number() over (
             partition by w.organization_id order by w.consecutive_failures > 0, due.slot, due.next_attempt_at) as slot
           from webhook_endpoint w join organization o on o.id = w.organization_id and o.deleted_at is null
           left join unnest($3::text[], $4::int[]) busy(endpoint_id, count) on busy.endpoint_id = w.id
           cross join lateral (
             select d.*, row_number() over (order by d.next_attempt_at) as slot from (
               select d.id, d.next_attempt_at from webhook_delivery d
                where d.endpoint_id = w.id and d.next_attempt_at <= $1::timestamptz
                order by d.next_attempt_at limit greatest(0, ${freeSlots}) for update skip locked) d) due
          where w.is_enabled) ranked
         left join unnest($6::text[], $7::int[]) sent(organization_id, count) on sent.organization_id = ranked.organization_id
        where ranked.slot + coalesce(sent.count, 0) <= $8::int
        order by ranked.slot, ranked.next_attempt_at limit $5::int)
     returning id`,
    [
      now,
      claimedUntilAt,
      [...endpoints.keys()],
      [...endpoints.values()],
      limit,
      [...organizations.keys()],
      [...organizations.values()],
      maxPerOrganization,
    ],
  );
  if (claimed.length === 0) return [];
  const rows = await services.store.query<ClaimRow>(
    `select d.id, d.organization_id as "organizationId", o.enterprise_id as "enterpriseId", d.endpoint_id as "endpointId",
            w.url, d.event_type as "eventType", d.event_id as "eventId", d.attempt_count as "attemptCount", d.attempts,
            d.begun_at as "begunAt", d.created_at as "createdAt", w.sealed,
            case when w.previous_until_at > $2::timestamptz then w.previous_sealed end as "previousSealed",
            e.session_id as "sessionId", e.seq, e.kind, e.message_type as "messageType", e.body, e.data,
            e.user_id as "userId", e.service_user_id as "serviceUserId", e.created_at as "happenedAt"
       from webhook_delivery d join webhook_endpoint w on w.id = d.endpoint_id
       join organization o on o.id = w.organization_id
       left join log_entry e on e.session_id = d.session_id and e.seq = d.seq
      where d.id = any($1::text[])`,
    [claimed.map(({ id }) => id), now],
  );
  return rows.map((row) => toClaimed(row, claimedUntilAt));
}

type ClaimRow = Omit<ClaimedDelivery, 'claimedUntilAt' | 'entry'> &
  Omit<NonNullable<PayloadSource['entry']>, 'createdAt'> & { readonly happenedAt: Date };

function toClaimed(row: ClaimRow, claimedUntilAt: Date): ClaimedDelivery {
  const { sessionId, seq, kind, messageType, body, data, userId, serviceUserId, happenedAt, ...delivery } = row;
  const entry = { sessionId, seq, kind, messageType, body, data, userId, serviceUserId, createdAt: happenedAt };
  return { ...delivery, claimedUntilAt, entry: sessionId === null ? null : entry };
}

/** Returns the time when the next delivery is due that this process may claim; null: there is none. */
export async function nextDueAt(
  services: Pick<Services, 'store'>,
  { endpoints, organizations }: InFlightCounts,
): Promise<Date | null> {
  const full = [...organizations].filter(([, count]) => count >= maxPerOrganization).map(([id]) => id);
  const [row] = await services.store.query<Pick<WebhookDeliveryRecord, 'nextAttemptAt'>>(
    `select min(due.next_attempt_at) as "nextAttemptAt" from webhook_endpoint w
       join organization o on o.id = w.organization_id and o.deleted_at is null
       left join unnest($1::text[], $2::int[]) busy(endpoint_id, count) on busy.endpoint_id = w.id
       cross join lateral (
         select d.next_attempt_at from webhook_delivery d where d.endpoint_id = w.id and d.next_attempt_at is not null
          order by d.next_attempt_at limit 1) due
      where w.is_enabled and ${freeSlots} > 0 and not w.organization_id = any($3::text[])`,
    [[...endpoints.keys()], [...endpoints.values()], full],
  );
  return row?.nextAttemptAt ?? null;
}

/** Returns the secrets that sign a delivery, in plain text: the current one first. Only for signing. */
export function secretsOf(keyring: Keyring, delivery: ClaimedDelivery): string[] {
  const associatedData = webhookSecretAssociatedData(delivery.organizationId, delivery.endpointId);
  const sealed = [delivery.sealed, ...(delivery.previousSealed === null ? [] : [delivery.previousSealed])];
  return sealed.map((each) => keyring.open(each, associatedData));
}
