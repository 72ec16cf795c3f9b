import { pull } from '../../realtime/pull.ts';
import type { Tailer } from '../../realtime/tailer.ts';
import type { Context } from '../context.ts';
import { type Cursors, createCursors, resolveChangeCursor } from './change-cursor.ts';
import { changeLog } from './change-log.ts';
import { type ChangeLogSource, currentCursor } from './change-log-source.ts';
import { type ChangedKind, type ChangeScope, type ChangeSource, scopeKey } from './change-source.ts';
import type { ChangedEntity, Changes } from './read-changes.ts';
import {
  type ChangeType,
  createTrackedEntities,
  type TrackedEntities,
  type TrackedEntity,
} from './tracked-entities.ts';

/** A change for a subscriber. `record` null: the object was removed, or is no longer visible. */
export interface EntityChange<R> {
  readonly type: ChangeType;
  readonly cursor: string;
  readonly kind: ChangedKind;
  /** Unprefixed id. */
  readonly id: string;
  readonly record: R | null;
}

/** A test of objects against a filter. */
export interface EntityFilter<R> {
  isMatch(record: R): boolean;
  /**
   * False for an object that the client cannot have received as a match. `xid`: the transaction that changed it last.
   */
  couldMatch(record: R, xid: bigint): boolean;
}

/** The objects to follow, as the viewer may see them: each function is called again for every read. */
export interface WatchEntitiesRequest<R> {
  readonly source: ChangeSource<R>;
  readonly scopeNow: () => ChangeScope;
  /** True if the viewer may view the objects of a kind in an organization, or of the enterprise; both exist. */
  readonly mayView: (entity: { readonly kind: ChangedKind; readonly scopeId: string }) => boolean;
  /** True if there is nothing left to follow; `exists` tells if an organization exists. */
  readonly isOver: (exists: (scopeId: string) => boolean) => boolean;
  readonly filterNow: () => EntityFilter<R>;
  /** A cursor of such a subscription, or one of now; null: from now on. */
  readonly after: string | null;
}

/** The tailer of this process, and what it reads of changes. */
export interface ChangeWatches {
  readonly tailer: Tailer;
  readonly changes: ChangeLogSource;
}

/**
 * Time that a client has to read its list after it has subscribed; objects created later can only come from the
 * subscription.
 */
const listReadMs = 10_000;

/**
 * Subscribes to changes of objects, by their effect on a list with the filter. ADDED is the first report of an object
 * that matches, or one that matches again. UPDATED is each later one. LEFT is an object that does not match, which is
 * reported once until it matches again, and never if the client cannot have it: by a condition that never changes, or
 * because it was created after the subscription and has not been reported. REMOVED is an object that was deleted, or
 * one that was reported and is no longer visible, because its organization was deleted or the viewer may no longer view
 * it. Each change is delivered at least once, even if notifications are missed; changes in quick succession are merged,
 * and a slow subscriber gets the latest state of the objects that it missed.
 *
 * Ends on `return()`, and when there is nothing left to follow. Throws BAD_CURSOR before the first one.
 */
export async function watchEntities<R>(
  context: Context,
  watches: ChangeWatches,
  { source, scopeNow, mayView, isOver, filterNow, after }: WatchEntitiesRequest<R>,
): Promise<AsyncIterableIterator<EntityChange<R>>> {
  const logNow = () => changeLog(source, scopeNow());
  const first = logNow();
  const start =
    after === null
      ? await currentCursor(context.store, watches, first)
      : await resolveChangeCursor(context.store, source, after);
  const horizonNow = () => new Date(context.now().getTime() + listReadMs);
  const cursors = createCursors(source.name, after === null ? { ...start, seen: new Map() } : start);
  const tracked = createTrackedEntities(horizonNow());
  let scopeRead = scopeKey(first.scope);
  let position = start;

  return pull(watches.tailer, {
    source: watches.changes,
    log: first,
    cursor: start,
    currentLog: logNow,
    // Each entity is checked separately.
    mayTake: () => true,
    select(batch) {
      // The key of the log names the source, and thus its records.
      const changes = batch as Changes<R>;
      const scope = scopeKey(scopeNow());
      // The client reads its list of organizations that became visible now.
      if (scope !== scopeRead) tracked.moveHorizon(horizonNow());
      scopeRead = scope;
      const isVisible = (entity: { readonly kind: ChangedKind; readonly scopeId: string }) =>
        changes.scopeIds.has(entity.scopeId) && mayView(entity);
      const removed = tracked.removeWhere((entity) => !isVisible(entity));
      // Without the id of an entity that was not reported.
      const cursor = cursors.at({ xid: position.xid, id: '' });
      position = changes.cursor;
      const classify = createClassifier(source, filterNow(), tracked, cursors);
      const items = [
        ...removed.map(({ kind, id }): EntityChange<R> => ({ type: 'REMOVED', cursor, kind, id, record: null })),
        ...changes.items.filter(isVisible).flatMap(classify),
      ];
      return { items, isLast: isOver((id) => changes.scopeIds.has(id)) };
    },
  });
}

function createClassifier<R>(
  source: ChangeSource<R>,
  { isMatch, couldMatch }: EntityFilter<R>,
  tracked: TrackedEntities,
  cursors: Cursors,
) {
  const report = (type: ChangeType, { kind, id, record, xid, position }: ChangedEntity<R>): EntityChange<R> => {
    cursors.report(id, xid);
    return { type, cursor: cursors.at(position), kind, id, record };
  };
  return (changed: ChangedEntity<R>): EntityChange<R>[] => {
    const { kind, id, scopeId, isRemoved, record, xid } = changed;
    if (isRemoved || record === null) {
      return tracked.remove(id) ? [report('REMOVED', { ...changed, record: null })] : [];
    }
    const entity: TrackedEntity = { kind, id, scopeId, createdAt: source.createdAt(record) };
    const type = tracked.track(entity, isMatch(record), couldMatch(record, xid));
    return type === null ? [] : [report(type, changed)];
  };
}
