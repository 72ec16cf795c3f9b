import type { Batch, LogSource, TailedLog } from './log-source.ts';
import type { Notifier } from './notifier.ts';

/** Receives what is read for one subscriber. Its methods are not awaited. */
export interface TailReader<L extends TailedLog, B> {
  /**
   * Returns the log to read now, where it depends on what the subscriber may see. It is compared after each read: the result of
   * another log is dropped, and this one is read. Left out: the log never changes.
   */
  currentLog?(): L;
  /** Returns whether the subscriber may receive a batch. Called after the read and after pending revocations are applied. */
  mayTake(batch: B): boolean;
  /** Takes a batch, which may be empty. Nothing more is read for this reader until {@link Tail.advance}. */
  take(batch: B): void;
  /** The subscriber may not take the batch, or the log no longer exists. */
  end(): void;
  /** The log could not be read for a reason that is no outage. */
  fail(error: unknown): void;
}

/** A reader's position in a log. */
export interface Tail<C> {
  /** Continues after a cursor: at once if there is more, otherwise with the next notification. */
  advance(cursor: C): void;
  /** Reads as after a notification. */
  wake(): void;
  /** Forgets the reader at once. Safe to call twice. */
  stop(): void;
}

/** Services of a tailer. */
export interface TailerServices {
  readonly notifier: Pick<Notifier, 'subscribe'>;
  /** Waits until the revocations that are known in this process are applied to its viewers; null when none is pending. */
  readonly settled: () => Promise<void> | null;
  /** Returns whether a read failed because of an outage. It is repeated then. */
  readonly isOutage: (error: unknown) => boolean;
  readonly log: { warn(fields: object, message: string): void };
}

/** A source of any type: its logs, cursors and batches are only passed to that source and its readers. */
export type AnySource = LogSource<TailedLog, unknown, Batch<unknown>>;
