import { permissionFor } from '../../auth/permissions.ts';
import { hasPermission, type Viewer } from '../../auth/viewer.ts';
import type { Services } from '../context.ts';
import { isOutage } from '../unavailable.ts';
import type { LogEntry } from './log.ts';
import { batchSizes, upTo } from './log-batches.ts';
import { type LogPosition, type LogRead, readLogsAt } from './read-logs-at.ts';
import type { WatchStart } from './start-watch.ts';

/** What one read brought to all who waited at the same place. */
export interface LogBatch {
  readonly entries: readonly LogEntry[];
  /** For whoever takes it: what was made of it for one of them, and may serve the others. */
  readonly made: Map<object, unknown>;
}

/** Who follows a log. Nothing is thrown into it and nothing awaited of it: it says by itself when it wants more. */
export interface LogReader {
  /** Who reads, asked anew for each batch. */
  viewer(): Viewer;
  /** Takes the entries after the last ones; {@link LogSubscription.next} is to be called when that is done. Never throws. */
  take(batch: LogBatch): void;
  /** The viewer may no longer see the session, or it is gone. */
  end(): void;
  /** The log could not be read. */
  fail(error: unknown): void;
}

/** A reader's place in a log. */
export interface LogSubscription {
  /** Goes on after this number. */
  next(seq: number): void;
  /** Nothing more is to come. Safe to call twice. */
  stop(): void;
}

/**
 * The logs that are followed in this process, read for all who follow them: one statement for all sessions that were rung
 * for in the meantime, and in it, again each time, where each session belongs, from which is told who may see it.
 */
export interface LogTailer {
  /** From the start on: each entry once and in order, for ever. */
  follow(start: WatchStart, reader: LogReader): LogSubscription;
  /** How many follow a log, and how many logs they follow. */
  count(): { readonly readers: number; readonly logs: number };
}

/** What {@link createLogTailer} needs. `listen`: calls back on each ring of a session. `settled`: see `LiveViewers`. */
export interface LogTailerServices extends Pick<Services, 'store'> {
  readonly settled: () => Promise<void> | null;
  readonly listen: (sessionId: string, listener: () => void) => () => void;
}

/** How long after a read that failed in an outage the next one begins. */
const retryMs = 500;
/** Places read in one statement. */
const maxPositions = 100;
/** Statements at once: the next one takes in whatever is rung for while they run. */
const maxReads = 2;

interface FollowedLog {
  readonly sessionId: string;
  readonly followers: Set<Follower>;
  notificationCount: number;
  stopListening: () => void;
}

/** Followers who stand at the same place and ask for the same. */
interface ReadRequest {
  readonly position: LogPosition;
  readonly followers: Follower[];
}

class Follower implements LogSubscription {
  readonly log: FollowedLog;
  readonly start: WatchStart;
  readonly reader: LogReader;
  readonly owner: Pick<ReadQueue, 'wake' | 'leave'>;
  after: number;
  limit: number = batchSizes.first;
  /** The rings that its last read has seen. */
  seen = -1;
  isBusy = false;
  hasMore = false;

  constructor(owner: Pick<ReadQueue, 'wake' | 'leave'>, log: FollowedLog, start: WatchStart, reader: LogReader) {
    this.owner = owner;
    this.log = log;
    this.start = start;
    this.reader = reader;
    this.after = start.after;
  }

  wants(): boolean {
    return !this.isBusy && (this.hasMore || this.seen !== this.log.notificationCount);
  }

  next(seq: number): void {
    if (!this.log.followers.has(this)) return;
    this.after = seq;
    this.isBusy = false;
    if (this.wants()) this.owner.wake(this.log);
  }

  stop(): void {
    this.owner.leave(this);
  }
}

interface ReadQueue {
  wake(log: FollowedLog): void;
  leave(follower: Follower): void;
}

/** See {@link LogTailer}. */
export function createLogTailer({ store, settled, listen }: LogTailerServices): LogTailer {
  const logs = new Map<string, FollowedLog>();
  /** The feeds that may have somebody who wants a read. */
  const awake = new Set<FollowedLog>();
  let readers = 0;
  let reads = 0;
  let isPlanned = false;

  const plan = () => {
    if (isPlanned || reads >= maxReads || awake.size === 0) return;
    isPlanned = true;
    // Not at once: rings come in swarms, and one statement serves them all.
    setImmediate(readAwake);
  };

  const readAwake = () => {
    isPlanned = false;
    const waiting: ReadRequest[] = [];
    for (const log of awake) {
      if (waiting.length >= maxPositions) break;
      awake.delete(log);
      waiting.push(...takeRequests(log));
    }
    for (const requests of byKind(waiting)) {
      reads += 1;
      readLogsAt(
        store,
        requests.map(({ position }) => position),
      )
        .then(async (found) => {
          // After the read: permission that was lost before an entry was written must stop that entry.
          await settled();
          return found;
        })
        .then(
          (found) => {
            for (const [n, each] of requests.entries()) deliver(each, found[n] ?? null);
          },
          (error: unknown) => {
            for (const { followers } of requests) for (const follower of followers) fail(follower, error);
          },
        )
        .finally(() => {
          reads -= 1;
          plan();
        });
    }
    plan();
  };

  const fail = (follower: Follower, error: unknown) => {
    if (!follower.log.followers.has(follower)) return;
    if (isOutage(error)) {
      // It goes on from where it stands, as soon as the database is back.
      setTimeout(() => {
        follower.seen = -1;
        follower.next(follower.after);
      }, retryMs).unref();
      return;
    }
    queue.leave(follower);
    follower.reader.fail(error);
  };

  const queue: ReadQueue = {
    wake(log) {
      awake.add(log);
      plan();
    },
    leave(follower) {
      const { log } = follower;
      if (!log.followers.delete(follower)) return;
      readers -= 1;
      if (log.followers.size > 0) return;
      log.stopListening();
      logs.delete(log.sessionId);
      awake.delete(log);
    },
  };

  const open = (sessionId: string): FollowedLog => {
    const log: FollowedLog = { sessionId, followers: new Set(), notificationCount: 0, stopListening: () => undefined };
    log.stopListening = listen(sessionId, () => {
      log.notificationCount += 1;
      queue.wake(log);
    });
    logs.set(sessionId, log);
    return log;
  };

  return {
    follow(start, reader) {
      const log = logs.get(start.sessionId) ?? open(start.sessionId);
      const follower = new Follower(queue, log, start, reader);
      log.followers.add(follower);
      readers += 1;
      queue.wake(log);
      return follower;
    },
    count: () => ({ readers, logs: logs.size }),
  };
}

/** Those of a feed who want a read, by where they stand; all of them are busy from here on. */
function takeRequests(log: FollowedLog): ReadRequest[] {
  const waiting: ReadRequest[] = [];
  for (const follower of log.followers) {
    if (!follower.wants()) continue;
    follower.isBusy = true;
    // Before the read: a ring during it must cause another.
    follower.seen = log.notificationCount;
    const same = waiting.find(({ position }) => isAt(follower, position));
    if (same) same.followers.push(follower);
    else waiting.push({ position: positionOf(follower), followers: [follower] });
  }
  return waiting;
}

const isAt = ({ after, limit, start }: Follower, position: LogPosition) =>
  after === position.after && limit === position.limit && start.kindsKey === position.kindsKey;

function positionOf({ log, after, limit, start }: Follower): LogPosition {
  const { messagesOnly, kinds, kindsKey } = start;
  return { sessionId: log.sessionId, after, limit, messagesOnly, kinds, kindsKey };
}

/** What one statement can ask for. */
function byKind(waiting: readonly ReadRequest[]): ReadRequest[][] {
  const groups = new Map<string, ReadRequest[]>();
  for (const each of waiting) {
    const group = groups.get(each.position.kindsKey);
    if (group) group.push(each);
    else groups.set(each.position.kindsKey, [each]);
  }
  return [...groups.values()];
}

function deliver({ position, followers }: ReadRequest, found: LogRead | null): void {
  const entries = found ? upTo(found.entries) : [];
  const hasMore = found !== null && (found.entries.length === position.limit || entries.length < found.entries.length);
  const batch: LogBatch = { entries, made: new Map() };
  for (const follower of followers) {
    if (!follower.log.followers.has(follower)) continue;
    if (found === null || !maySee(follower.reader.viewer(), found)) {
      follower.stop();
      follower.reader.end();
      continue;
    }
    follower.hasMore = hasMore;
    follower.limit = hasMore
      ? Math.min(entries.length < position.limit ? entries.length : position.limit * 2, batchSizes.max)
      : batchSizes.first;
    if (entries.length === 0) follower.next(follower.after);
    else follower.reader.take(batch);
  }
}

function maySee(viewer: Viewer, { enterpriseId, organizationId }: LogRead): boolean {
  return viewer.enterpriseId === enterpriseId && hasPermission(viewer, permissionFor.viewSession, organizationId);
}
