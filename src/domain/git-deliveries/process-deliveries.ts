import { plainLine } from '../../common/plain-text.ts';
import type { ForgeEvent } from '../../forges/interface/events.ts';
import type { Services } from '../context.ts';
import { wantEnvironmentReads } from '../environment-builds/want-reads.ts';
import { wantReads } from '../followed-pull-requests/want-reads.ts';
import { isOutage } from '../unavailable.ts';

/** Number of deliveries of one transaction. */
const batchSize = 100;
/** Number of attempts of a delivery, with pauses of 5 s, 10 s, 20 s and so on. */
const maxAttempts = 8;
const firstPauseMs = 5_000;

interface PendingDelivery {
  readonly id: string;
  readonly gitConnectionId: string;
  readonly repositoryPath: string;
  readonly event: ForgeEvent;
  readonly attemptCount: number;
}

/**
 * Processes the deliveries that are due, each exactly once: its effect and its end are one transaction, which any process may
 * run. The order does not matter. Returns their number. A delivery that fails is tried again, and then kept as failed.
 */
export async function processGitDeliveries(services: Services, isStopped: () => boolean): Promise<number> {
  let count = 0;
  for (;;) {
    const done = await processBatch(services, batchSize).catch(async (error: unknown) => {
      if (isOutage(error)) throw error;
      return processBatch(services, 1, error);
    });
    count += done;
    if (done === 0 || isStopped()) return count;
  }
}

/** Processes up to `limit` deliveries. `earlier`: the error of a whole batch, after which each delivery is tried alone. */
async function processBatch(services: Services, limit: number, earlier?: unknown): Promise<number> {
  let claimed: readonly PendingDelivery[] = [];
  const now = services.now();
  try {
    await services.store.transact(async (tx) => {
      claimed = await tx.query<PendingDelivery>(
        `select d.id, d.git_connection_id as "gitConnectionId", d.repository_path as "repositoryPath", d.event,
                d.attempt_count as "attemptCount"
           from git_delivery d where d.next_attempt_at <= $1::timestamptz
          order by d.next_attempt_at limit $2 for update skip locked`,
        [now, limit],
      );
      if (claimed.length === 0) return;
      await wantReads(tx, claimed, now);
      await wantEnvironmentReads(tx, claimed, now);
      await tx.query(
        `update git_delivery set status = 'processed', event = null, error = null, attempt_count = attempt_count + 1,
                next_attempt_at = null, finished_at = $2::timestamptz
          where id = any($1::text[])`,
        [claimed.map(({ id }) => id), now],
      );
    });
    return claimed.length;
  } catch (error) {
    const [failed] = claimed;
    if (limit > 1 || failed === undefined || isOutage(error)) throw error;
    services.log.warn({ err: error, earlier, deliveryId: failed.id }, 'A webhook of a forge could not be processed.');
    await recordFailure(services, failed, error);
    return 1;
  }
}

async function recordFailure({ store, now }: Services, delivery: PendingDelivery, error: unknown): Promise<void> {
  const count = delivery.attemptCount + 1;
  const at = now();
  const isLast = count >= maxAttempts;
  const next = isLast ? null : new Date(at.getTime() + firstPauseMs * 2 ** (count - 1));
  const reason = `The service could not process it: ${plainLine(error instanceof Error ? error.name : 'an error', 100)}.`;
  await store.execute(
    `update git_delivery set status = $2, error = $3, attempt_count = $4, next_attempt_at = $5::timestamptz,
            finished_at = $6::timestamptz, event = case when $6::timestamptz is null then event end
      where id = $1 and status = 'pending' returning id`,
    [delivery.id, isLast ? 'failed' : 'pending', reason, count, next, isLast ? at : null],
  );
}

/** Returns the time when the next delivery is due; null: there is none. */
export async function nextGitDeliveryAt({ store }: Pick<Services, 'store'>): Promise<Date | null> {
  const [row] = await store.query<{ at: Date | null }>(
    'select min(d.next_attempt_at) as at from git_delivery d where d.next_attempt_at is not null',
  );
  return row?.at ?? null;
}
