import type { Services } from '../context.ts';
import type { FeedConsumer } from './feeds.ts';

/** Number of rows that are deleted at once. */
const batchSize = 500;

/** Deletes a consumer's positions in deleted organizations. May run in several processes at once. */
export async function forgetFeeds(
  { store }: Pick<Services, 'store'>,
  { feedTable, progressTable }: FeedConsumer,
  isStopped: () => boolean,
): Promise<void> {
  for (const [table, key] of [
    [feedTable, 'organization_id'],
    [progressTable, 'session_id'],
  ]) {
    for (;;) {
      const rows = await store.execute(
        `delete from ${table} where ${key} in (
           select x.${key} from ${table} x join organization o on o.id = x.organization_id
            where o.deleted_at is not null limit $1) returning ${key}`,
        [batchSize],
      );
      if (rows.length < batchSize || isStopped()) break;
    }
  }
}
