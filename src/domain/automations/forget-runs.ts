import type { Services } from '../context.ts';
import { forgetFeeds } from '../feeds/forget-feeds.ts';
import { isRecordHeld } from '../legal-holds/held.ts';
import { automationFeed } from './triggers/follow-events.ts';

/** Retention time of runs. */
export const runRetentionMs = 90 * 24 * 60 * 60 * 1_000;
const batchSize = 5_000;

/**
 * Deletes runs older than {@link runRetentionMs} that are not queued, unless a legal hold covers them; their sessions stay. Returns their number. Also
 * deletes the feed cursors of deleted organizations.
 */
export async function forgetRuns(services: Services, isStopping: () => boolean): Promise<number> {
  await forgetFeeds(services, automationFeed, isStopping);
  const before = new Date(services.now().getTime() - runRetentionMs);
  for (let count = 0; ; ) {
    const rows = await services.store.execute(
      `delete from automation_run where id in (select t.id from automation_run t
          where t.status in ('started', 'failed', 'skipped') and t.created_at < $1::timestamptz and not ${isRecordHeld} limit ${batchSize}) returning 1 as gone`,
      [before],
    );
    count += rows.length;
    if (rows.length < batchSize || isStopping()) return count;
  }
}
