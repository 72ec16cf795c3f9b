import type { Services } from '../context.ts';
import { forgetFeeds } from '../feeds/forget-feeds.ts';
import { isRecordHeld } from '../legal-holds/held.ts';
import { webhookFeed } from './collect-events.ts';

/** Number of rows that are deleted at once. */
const batchSize = 500;

// $1: the number of rows.
const ofDeleted = [
  `delete from webhook_endpoint where id in (
     select w.id from webhook_endpoint w join organization o on o.id = w.organization_id where o.deleted_at is not null limit $1)
   returning id`,
  `delete from webhook_delivery where id in (
     select t.id from webhook_delivery t
      where not exists (select 1 from webhook_endpoint w where w.id = t.endpoint_id) and not ${isRecordHeld} limit $1)
   returning id`,
] as const;

const old = `
  delete from webhook_delivery where id in (
    select t.id from webhook_delivery t where t.created_at < $2::timestamptz and not ${isRecordHeld} limit $1) returning id`;

/**
 * Deletes deliveries older than the retention time and those of deleted endpoints, unless a legal hold covers them, the endpoints of
 * deleted organizations, and secrets that no longer sign. May run in several processes at once.
 */
export async function pruneWebhooks(services: Services, isStopped: () => boolean): Promise<void> {
  const { webhookDeliveryMs } = services.retention;
  const statements: readonly [string, unknown[]][] = [
    ...(webhookDeliveryMs === null
      ? []
      : [[old, [batchSize, new Date(services.now().getTime() - webhookDeliveryMs)]] satisfies [string, unknown[]]]),
    ...ofDeleted.map((sql): [string, unknown[]] => [sql, [batchSize]]),
  ];
  for (const [sql, values] of statements) {
    for (;;) {
      const rows = await services.store.execute(sql, values);
      if (rows.length < batchSize || isStopped()) break;
    }
  }
  await forgetFeeds(services, webhookFeed, isStopped);
  await services.store.execute(
    `update webhook_endpoint set previous_sealed = null, previous_until_at = null
      where previous_until_at < $1::timestamptz returning id`,
    [services.now()],
  );
}
