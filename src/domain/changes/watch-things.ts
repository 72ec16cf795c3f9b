import type { Context } from '../context.ts';
import { pull } from '../sessions/pull.ts';
import { type ChangePlace, type Cursors, createCursors, placeOfCursor } from './change-place.ts';
import { type ChangedKind, type ChangeScope, type ChangeSource, scopeKey } from './change-source.ts';
import type { ChangeWatches } from './change-watches.ts';
import { type ChangeType, createKnownThings, type KnownThing, type KnownThings } from './known-things.ts';
import type { Changed, Changes } from './read-changes.ts';

/** A change for a subscriber. `record` null: it was removed, or is out of sight. */
export interface ThingChange<R> {
  readonly type: ChangeType;
  readonly cursor: string;
  readonly kind: ChangedKind;
  /** Bare. */
  readonly id: string;
  readonly record: R | null;
}

/** A test of things against a filter. */
export interface ThingFilter<R> {
  isMatch(record: R): boolean;
  /** False for a thing that the client cannot have had as one that matches. `xid`: the transaction that changed it last. */
  couldMatch(record: R, xid: bigint): boolean;
}

/** Things to follow, as the viewer may see them: each function is asked again for every read. */
export interface ThingsRequest<R> {
  readonly source: ChangeSource<R>;
  readonly scopeNow: () => ChangeScope;
  /** True if the viewer may view the things of a kind in an organization, or of the enterprise; both exist. */
  readonly mayView: (thing: { readonly kind: ChangedKind; readonly placeId: string }) => boolean;
  /** True if there is nothing left to follow; `exists` says it of an organization. */
  readonly isOver: (exists: (placeId: string) => boolean) => boolean;
  readonly filterNow: () => ThingFilter<R>;
  /** A cursor of such a subscription, or one of now; null: from now on. */
  readonly after: string | null;
}

/** Things read at once for one subscriber: what a slow one holds in memory. While none of them counts, more are read. */
const batchSize = { least: 20, most: 160 } as const;

/** A client has this long to read its list after it has subscribed; what is made later can only come from here. */
const listReadMs = 10_000;

/**
 * The changes of things, by what they mean for a list with the filter: ADDED is the first report of a thing that matches, or one
 * that matches again; UPDATED each later one; LEFT a thing that does not match, which is reported once until it matches again, and
 * never if the client cannot have it: by a condition that never changes, or since it was made after the subscription and has not
 * been reported; REMOVED a thing that was deleted, or one that was reported and is out of sight, since its organization was
 * deleted or the viewer may no longer view it. Each change is delivered at least once, whatever rings are lost; changes close
 * together come as one, and a slow subscriber gets the latest of what it missed.
 *
 * Ends on `return()`, and when there is nothing left to follow. BAD_CURSOR before the first one.
 */
export async function watchThings<R>(
  context: Context,
  watches: ChangeWatches,
  { source, scopeNow, mayView, isOver: isOverNow, filterNow, after }: ThingsRequest<R>,
): Promise<AsyncIterableIterator<ThingChange<R>>> {
  let place =
    after === null
      ? await watches.placeNow({ source, scope: scopeNow() })
      : await placeOfCursor(context.store, source, after);
  const horizonNow = () => new Date(context.now().getTime() + listReadMs);
  const cursors = createCursors(source.name, after === null ? { ...place, seen: new Map() } : place);
  const known = createKnownThings(horizonNow());
  const following = createFollowing(watches, source, scopeNow());
  let limit: number = batchSize.least;
  let isOver = false;

  return pull(following.listen, async () => {
    if (isOver) return null;
    const changes = await readSettled(context, watches, source, scopeNow, place, limit);
    // Of organizations that came into sight the client reads its list now.
    if (following.move(scopeNow())) known.moveHorizon(horizonNow());
    const isInSight = (thing: { readonly kind: ChangedKind; readonly placeId: string }) =>
      changes.placeIds.has(thing.placeId) && mayView(thing);
    const removed = known.removeWhere((thing) => !isInSight(thing));
    isOver = isOverNow((id) => changes.placeIds.has(id));
    // Without the id of a thing that was not reported.
    const cursor = cursors.at({ xid: place.xid, id: '' });
    place = changes.place;
    const judge = createJudge(source, filterNow(), known, cursors);
    const items = [
      ...removed.map(({ kind, id }): ThingChange<R> => ({ type: 'REMOVED', cursor, kind, id, record: null })),
      ...changes.things.filter(isInSight).flatMap(judge),
    ];
    limit = changes.more && items.length === 0 ? Math.min(limit * 2, batchSize.most) : batchSize.least;
    return { items, more: changes.more || isOver };
  });
}

/** Reads changes of what the viewer may still see after the read: what was lost before a change must stop it. */
async function readSettled<R>(
  context: Context,
  watches: ChangeWatches,
  source: ChangeSource<R>,
  scopeNow: () => ChangeScope,
  place: ChangePlace,
  limit: number,
): Promise<Changes<R>> {
  for (;;) {
    const scope = scopeNow();
    const changes = await watches.read({ source, scope }, place, limit);
    await context.liveViewers.settled();
    // Another scope may have changes before this place.
    if (scopeKey(scopeNow()) === scopeKey(scope)) return changes;
  }
}

/** Listens for one subscriber, to other organizations once its viewer may see others. */
function createFollowing(watches: ChangeWatches, source: ChangeSource<unknown>, first: ChangeScope) {
  let scope = first;
  let ring: (() => void) | null = null;
  let stop: () => void = () => undefined;
  return {
    listen(listener: () => void) {
      ring = listener;
      stop = watches.listen({ source, scope }, listener);
      return () => {
        ring = null;
        stop();
      };
    },
    /** Returns whether there are other organizations now. */
    move(next: ChangeScope): boolean {
      if (ring === null || scopeKey(next) === scopeKey(scope)) return false;
      scope = next;
      stop();
      stop = watches.listen({ source, scope }, ring);
      // For what changed there between the read and now.
      ring();
      return true;
    },
  };
}

function createJudge<R>(
  source: ChangeSource<R>,
  { isMatch, couldMatch }: ThingFilter<R>,
  known: KnownThings,
  cursors: Cursors,
) {
  const report = (type: ChangeType, { kind, id, record, xid, position }: Changed<R>): ThingChange<R> => {
    cursors.report(id, xid);
    return { type, cursor: cursors.at(position), kind, id, record };
  };
  return (changed: Changed<R>): ThingChange<R>[] => {
    const { kind, id, placeId, isRemoved, record, xid } = changed;
    if (isRemoved || record === null) {
      return known.remove(id) ? [report('REMOVED', { ...changed, record: null })] : [];
    }
    const thing: KnownThing = { kind, id, placeId, createdAt: source.createdAt(record) };
    const type = known.judge(thing, isMatch(record), couldMatch(record, xid));
    return type === null ? [] : [report(type, changed)];
  };
}
