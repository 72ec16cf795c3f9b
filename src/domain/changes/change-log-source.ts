import type { LogSource } from '../../realtime/log-source.ts';
import type { Tailer } from '../../realtime/tailer.ts';
import type { ChangeCursor } from './change-cursor.ts';
import type { ChangeLog } from './change-log.ts';
import type { ChangeStore } from './change-source.ts';
import { createChangeCheck } from './missed-changes.ts';
import { type Changes, currentChangePosition, readChanges } from './read-changes.ts';

/** Minimum time in ms between two reads after notifications, and 1 ms for each organization that is read. */
const gapMs = 100;

/** Reads the changes of all sources. A batch has the records of the source of its log. */
export type ChangeLogSource = LogSource<ChangeLog, ChangeCursor, Changes<unknown>>;

/** Makes the {@link ChangeLogSource} of a store. */
export function createChangeLogSource(store: ChangeStore): ChangeLogSource {
  /** Cursors as text, by value: readers that resumed at different cursors come to share reads. */
  const keys = new WeakMap<ChangeCursor, string>();
  return {
    limits: { first: 20, max: 160 },
    maxRequests: 1,
    maxReads: 8,
    stuckMs: 1_000,
    check: createChangeCheck(store),
    cursorKey(cursor) {
      const known = keys.get(cursor);
      if (known !== undefined) return known;
      const seen = [...cursor.seen].toSorted(([a], [b]) => (a < b ? -1 : 1));
      const key = `${cursor.xid}|${cursor.id}|${seen.join(';')}`;
      keys.set(cursor, key);
      return key;
    },
    groupKey: ({ key }) => key,
    gapMs: ({ scopeCount }) => Math.max(gapMs, scopeCount),
    async read([request]) {
      if (request === undefined) return [];
      const { log, cursor, limit } = request;
      const changes = await readChanges(store, log.source, log.scope, cursor, limit);
      log.scopeCount = changes.scopeIds.size;
      if (!changes.hasMore) log.position = changes.cursor;
      return [changes];
    },
  };
}

/** Returns the cursor of now. Readers that begin where others are share their reads from then on. */
export async function currentCursor(
  store: ChangeStore,
  { tailer, changes }: { readonly tailer: Tailer; readonly changes: ChangeLogSource },
  { key, source, scope }: ChangeLog,
): Promise<ChangeCursor> {
  return tailer.find(changes, key)?.position ?? currentChangePosition(store, source, scope);
}
