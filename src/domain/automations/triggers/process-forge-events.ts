import { RateLimitedError } from '../../../common/errors.ts';
import { plainLine } from '../../../common/plain-text.ts';
import { isForgeError } from '../../../forges/interface/errors.ts';
import type { Services } from '../../context.ts';
import { isOwnAccount } from '../../git-connections/own-identities.ts';
import { isOutage } from '../../unavailable.ts';
import { lockForRun } from '../runs/locked-automation.ts';
import { recordCrash } from '../runs/start-run.ts';
import { withEventMatcher } from './match-events.ts';
import {
  type ForgeRunProgress,
  forgeEventColumns,
  type PendingForgeEvent,
  startForgeRuns,
} from './start-forge-runs.ts';

/** Number of events that are read at once. */
const batchSize = 20;
/** Number of attempts with an unexpected error after which a run fails and the others continue. */
const maxRunAttempts = 3;
/** Number of attempts of an event, with pauses of 5 s, 10 s, 20 s and so on. */
const maxAttempts = 8;
const firstPauseMs = 5_000;

/**
 * Starts the runs of automations on the events of repositories that are due, each event once for each automation. Any number
 * of processes may do it at once. An event whose sender is an account of the service starts none.
 */
export async function processForgeEvents(services: Services, isStopped: () => boolean): Promise<void> {
  const busy: string[] = [];
  for (;;) {
    const events = await services.store.query<PendingForgeEvent>(
      `select ${forgeEventColumns} from forge_event e
        where e.next_attempt_at <= $1::timestamptz and e.id <> all($2::text[]) order by e.next_attempt_at limit ${batchSize}`,
      [services.now(), busy],
    );
    if (events.length === 0) return;
    for (const event of events) {
      if (isStopped()) return;
      if (await isBusy(services, event, isStopped)) busy.push(event.id);
    }
  }
}

/** Processes an event, or postpones it. Returns true if another process has it. */
async function isBusy(services: Services, event: PendingForgeEvent, isStopped: () => boolean): Promise<boolean> {
  try {
    const sender = { id: event.senderId, login: event.senderLogin };
    if (await isOwnAccount(services, event.gitConnectionId, sender)) {
      const { id, eventType, repositoryPath } = event;
      services.log.info(
        { eventId: id, eventType, repositoryPath },
        'Events that the service itself caused start no runs.',
      );
      await services.store.execute('delete from forge_event where id = $1 returning id', [id]);
      return false;
    }
    for (;;) {
      const outcome = await startRuns(services, event);
      if (outcome !== 'more' || isStopped()) return outcome === 'busy';
    }
  } catch (error) {
    // The request was aborted.
    if (isOutage(error) || isStopped()) throw error;
    await postpone(services, event, error);
    return false;
  }
}

/** {@link startForgeRuns} in a transaction. An automation that fails unexpectedly several times gets a failed run. */
async function startRuns(services: Services, { id }: PendingForgeEvent): Promise<'busy' | 'done' | 'more'> {
  for (let attempt = 1; ; attempt++) {
    const progress: ForgeRunProgress = { current: null };
    try {
      return await withEventMatcher(services, (matcher) => {
        progress.current = null;
        return services.store.transact((tx) => startForgeRuns(services, tx, { id, matcher, progress }));
      });
    } catch (error) {
      const { current } = progress;
      // If patterns cannot be run now, the event is read again later.
      if (current === null || error instanceof RateLimitedError || isOutage(error)) throw error;
      if (attempt < maxRunAttempts) continue;
      const { automationId, cause } = current;
      services.log.error({ err: error, automationId }, 'An automation could not act on an event of a forge.');
      await services.store.transact(async (tx) => recordCrash(services, tx, await lockForRun(tx, automationId), cause));
      attempt = 0;
    }
  }
}

async function postpone({ store, now, log }: Services, event: PendingForgeEvent, error: unknown): Promise<void> {
  const count = event.attemptCount + 1;
  const mustWait = error instanceof RateLimitedError;
  const isLast = count >= maxAttempts && !mustWait;
  const pauseMs = mustWait ? firstPauseMs : firstPauseMs * 2 ** (count - 1);
  const retryMs = isForgeError(error) ? (error.retryAt?.getTime() ?? 0) : 0;
  const nextAt = isLast ? null : new Date(Math.max(now().getTime() + pauseMs, retryMs));
  const reason = plainLine(isForgeError(error) ? error.message : error instanceof Error ? error.name : 'an error', 500);
  log.warn({ err: error, eventId: event.id, isLast }, 'An event of a forge could not be processed.');
  await store.execute(
    `update forge_event set attempt_count = $2, error = $3, next_attempt_at = $4::timestamptz
      where id = $1 and attempt_count = $5 returning id`,
    [event.id, mustWait ? event.attemptCount : count, reason, nextAt, event.attemptCount],
  );
}

/** Returns the time when the next event is due; null: there is none. */
export async function nextForgeEventAt({ store }: Pick<Services, 'store'>): Promise<Date | null> {
  const [row] = await store.query<{ at: Date | null }>(
    'select min(e.next_attempt_at) as at from forge_event e where e.next_attempt_at is not null',
  );
  return row?.at ?? null;
}
