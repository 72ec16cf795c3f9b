import type { Services } from '../context.ts';
import { forgetFeeds } from '../feeds/forget-feeds.ts';
import { webhookFeed } from './collect-events.ts';

/** Retention time of deliveries, in ms. */
const retentionMs = 30 * 24 * 60 * 60 * 1_000;
/** Number of rows that are deleted at once. */
const batchSize = 500;

// $1: the cut-off time; $2: the number of rows.
const statements = [
  `delete from webhook_delivery where id in (select d.id from webhook_delivery d where d.created_at < $1::timestamptz limit $2)
   returning id`,
  `delete from webhook_endpoint where id in (
     select w.id from webhook_endpoint w join organization o on o.id = w.organization_id
      where o.deleted_at is not null and $1::timestamptz is not null limit $2) returning id`,
  `delete from webhook_delivery where id in (
     select d.id from webhook_delivery d where $1::timestamptz is not null
        and not exists (select 1 from webhook_endpoint w where w.id = d.endpoint_id) limit $2) returning id`,
] as const;

/**
 * Deletes deliveries older than 30 days, those of deleted endpoints, the endpoints of deleted organizations, and
 * secrets that no longer sign. May run in several processes at once.
 */
export async function pruneWebhooks(services: Services, isStopped: () => boolean): Promise<void> {
  const before = new Date(services.now().getTime() - retentionMs);
  for (const sql of statements) {
    for (;;) {
      const rows = await services.store.execute(sql, [before, batchSize]);
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
