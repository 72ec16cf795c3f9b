import type { Batch, LogCheck, LogSource, TailedLog } from './log-source.ts';
import { ReadQueue } from './read-queue.ts';
import type { AnySource, Tail, TailerServices, TailReader } from './tail.ts';
import type { Topic } from './topics.ts';

/**
 * Reads logs after notifications, for all readers of a process: those that are at the same position share one read and its
 * result, and one read may serve several logs. Each item after the cursor is delivered once and in order. A missed notification
 * only delays, until the next periodic check.
 */
export interface Tailer {
  /** `isIdle`: nothing is read before the first notification. */
  tail<L extends TailedLog, C, B extends Batch<C>>(
    source: LogSource<L, C, B>,
    start: { readonly log: L; readonly cursor: C; readonly isIdle?: boolean },
    reader: TailReader<L, B>,
  ): Tail<C>;
  /** Returns the log with a key that its first reader opened; null if it has no readers. */
  find<L extends TailedLog, C, B extends Batch<C>>(source: LogSource<L, C, B>, key: string): L | null;
  /** Returns the number of readers. */
  count(): number;
  /**
   * Checks for missed notifications every `checkMs`, and when a topic is notified. A check is skipped while the previous one runs; a
   * notified one follows it.
   */
  start(checkMs: number, topics: readonly Topic[]): void;
  /** Ends the periodic check; reads under way have ended when it resolves. */
  stop(): Promise<void>;
}

/** Makes a {@link Tailer}. */
export function createTailer(services: TailerServices): Tailer {
  const queues = new Map<unknown, ReadQueue>();
  let timer: NodeJS.Timeout | null = null;
  let unsubscribes: (() => void)[] = [];

  const queueOf = (source: AnySource) => {
    const known = queues.get(source);
    if (known) return known;
    const queue = new ReadQueue(services, source);
    queues.set(source, queue);
    return queue;
  };
  // The checks under way, by whether to run again afterwards: a check may have read before a later notification.
  const running = new Map<LogCheck<TailedLog>, boolean>();

  const runCheck = (check: LogCheck<TailedLog>, checked: readonly ReadQueue[]) => {
    running.set(check, false);
    check
      .findChanged(checked.flatMap((queue) => queue.logs()))
      .then((changed) => {
        for (const log of changed) for (const queue of checked) queue.notify(log);
      })
      .catch((error: unknown) => services.log.warn({ err: error }, 'The periodic check of subscriptions failed.'))
      .finally(() => {
        const isAgain = running.get(check);
        running.delete(check);
        if (isAgain && timer) runChecks(true);
      });
  };
  const runChecks = (isNotified: boolean) => {
    const byCheck = new Map<LogCheck<TailedLog>, ReadQueue[]>();
    for (const queue of queues.values()) {
      const { check } = queue.source;
      if (check !== null && queue.readers > 0) byCheck.set(check, [...(byCheck.get(check) ?? []), queue]);
    }
    for (const [check, checked] of byCheck) {
      if (!running.has(check)) runCheck(check, checked);
      else if (isNotified) running.set(check, true);
    }
  };

  return {
    tail: (source, { log, cursor, isIdle = false }, reader) =>
      queueOf(source).follow(log, cursor, isIdle, reader as TailReader<TailedLog, unknown>),
    find: <L extends TailedLog, C, B extends Batch<C>>(source: LogSource<L, C, B>, key: string) =>
      (queues.get(source)?.find(key) ?? null) as L | null,
    count: () => [...queues.values()].reduce((sum, { readers }) => sum + readers, 0),
    start(checkMs, topics) {
      timer = setInterval(() => runChecks(false), checkMs).unref();
      unsubscribes = topics.map((topic) => services.notifier.subscribe(topic, () => runChecks(true)));
    },
    async stop() {
      if (timer) clearInterval(timer);
      timer = null;
      for (const unsubscribe of unsubscribes) unsubscribe();
      await Promise.all([...queues.values()].map((queue) => queue.idle()));
    },
  };
}
