import type { Topic } from './topics.ts';

/** An append-only sequence of items in which cursors are positions, such as the log of a session. */
export interface TailedLog {
  /** Identifies the log. Readers of logs of a source with the same key share reads. */
  readonly key: string;
  /** Topics that are notified when the log may have grown. */
  readonly topics: readonly Topic[];
}

/** The result of one read. */
export interface Batch<C> {
  readonly items: readonly unknown[];
  /** Position after the items. */
  readonly cursor: C;
  /** True if there may be more to read without waiting for a notification. */
  readonly hasMore: boolean;
}

/** A request for the items of a log after a cursor. */
export interface ReadRequest<L extends TailedLog, C> {
  readonly log: L;
  readonly cursor: C;
  /** Maximum number of items. */
  readonly limit: number;
}

/** Finds missed notifications: one check, and so one query, serves all watched logs of the sources that share it. */
export interface LogCheck<L extends TailedLog> {
  /** Returns the logs that may have grown since they were last read or checked. */
  findChanged<E extends L>(logs: readonly E[]): Promise<readonly E[]>;
}

/** Reads logs of one kind. Its methods know the permissions of no reader: a {@link TailReader} checks its own. */
export interface LogSource<L extends TailedLog, C, B extends Batch<C>> {
  /** Items of a first read, and of one that follows several full ones. */
  readonly limits: { readonly first: number; readonly max: number };
  /** Maximum number of requests that one read answers. */
  readonly maxRequests: number;
  /** Maximum number of reads at once. */
  readonly maxReads: number;
  /** Time in ms after which a read that has not ended no longer counts for `maxReads`; null: it counts until it ends. */
  readonly stuckMs: number | null;
  /** Null: the owner of the tailer looks for missed notifications. */
  readonly check: LogCheck<L> | null;
  /** Returns the same text for equal cursors. */
  cursorKey(cursor: C): string;
  /** Returns the same text for logs that one read can serve. */
  groupKey(log: L): string;
  /** Returns the minimum time in ms between two notifications of a log that lead to reads. */
  gapMs(log: L): number;
  /** Reads the items of each request, in their order; null for a log that no longer exists. */
  read(requests: readonly ReadRequest<L, C>[]): Promise<readonly (B | null)[]>;
}
