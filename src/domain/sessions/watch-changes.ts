import { permissionFor } from '../../auth/permissions.ts';
import { holds, organizationsWith, requireSomewhere } from '../../auth/viewer.ts';
import type { Context } from '../context.ts';
import { useOrganization } from '../organizations/use-organization.ts';
import { badCursor } from '../pages.ts';
import { type ChangeWatches, scopeKey } from './change-watches.ts';
import {
  type ChangedSession,
  type ChangePlace,
  type ChangeScope,
  type Changes,
  changeCursor,
  isPlaceReached,
  readChangeCursor,
} from './changes.ts';
import { type ChangeType, createKnownSessions, type KnownSessions } from './known-sessions.ts';
import { pull } from './pull.ts';
import type { SessionRecord } from './session.ts';
import { matcherOf } from './session-conditions.ts';
import { type CheckedFilter, checkFilter, type SessionFilter } from './session-filter.ts';

/** A subscription to changes. `organizationId`: in any form; null: all organizations where the viewer may view sessions. */
export interface ChangesRequest {
  readonly organizationId: string | null;
  readonly filter: SessionFilter;
  /** Any cursor of such a subscription; null: from now on. */
  readonly after: string | null;
}

/** A change for a subscriber. `session` null: the viewer may no longer see it. */
export interface SessionChange {
  readonly type: ChangeType;
  readonly cursor: string;
  /** Bare. */
  readonly sessionId: string;
  readonly session: SessionRecord | null;
}

/** Sessions read at once for one subscriber: what a slow one holds in memory. While none of them counts, more are read. */
const batchSize = { least: 20, most: 160 } as const;

/** A client has this long to read its list after it has subscribed; what is started later can only come from here. */
const listReadMs = 10_000;

/**
 * The changes of sessions, by what they mean for a list with the filter: ADDED is the first report of a session that matches, or
 * one that matches again; UPDATED each later one; LEFT a session that does not match, which is reported once until it matches
 * again, and never if the client cannot have it: by a condition that never changes, or since it was started after the
 * subscription and has not been reported; REMOVED a reported session whose organization was deleted or whose sessions the
 * viewer may no longer view. Each change is delivered at least once, whatever rings are lost; changes close together come as
 * one, and a slow subscriber gets the latest of what it missed.
 *
 * Ends on `return()`, and when no organization is left. ORGANIZATION_NOT_USABLE, NOT_FOUND, FORBIDDEN, INVALID_INPUT, BAD_CURSOR
 * before the first one.
 */
export async function watchChanges(
  context: Context,
  watches: ChangeWatches,
  { organizationId, filter, after }: ChangesRequest,
): Promise<AsyncIterableIterator<SessionChange>> {
  const only =
    organizationId === null ? null : await useOrganization(context, organizationId, permissionFor.viewSession);
  if (only === null) requireSomewhere(context.viewer, [permissionFor.viewSession]);
  checkFilter(context.viewer, filter);
  const scopeNow = () => scopeOf(context, only?.id ?? null, filter);
  let place = await startPlace(context, watches, scopeNow(), after);
  const horizonNow = () => new Date(context.now().getTime() + listReadMs);
  const known = createKnownSessions(horizonNow());
  const following = createFollowing(watches, scopeNow());
  let limit: number = batchSize.least;
  let isOver = false;

  return pull(following.listen, async () => {
    if (isOver) return null;
    const changes = await readSettled(context, watches, scopeNow, place, limit);
    // Of organizations that came into sight the client reads its list now.
    if (following.move(scopeNow())) known.moveHorizon(horizonNow());
    const isInSight = (id: string) =>
      changes.organizationIds.has(id) && holds(context.viewer, permissionFor.viewSession, id);
    const removed = known.removeWhere((id) => !isInSight(id));
    isOver = only === null ? isWithout(context) : !isInSight(only.id);
    // Without the id of a session that was not reported.
    const cursor = changeCursor({ xid: place.xid, id: '' });
    place = changes.place;
    const judge = createJudge(context, filter, known);
    const items = [
      ...removed.map((sessionId): SessionChange => ({ type: 'REMOVED', cursor, sessionId, session: null })),
      ...changes.sessions.filter(({ session }) => isInSight(session.organizationId)).flatMap(judge),
    ];
    limit = changes.more && items.length === 0 ? Math.min(limit * 2, batchSize.most) : batchSize.least;
    return { items, more: changes.more || isOver };
  });
}

/** Reads changes of organizations that the viewer may still see after the read: what was lost before a change must stop it. */
async function readSettled(
  context: Context,
  watches: ChangeWatches,
  scopeNow: () => ChangeScope,
  place: ChangePlace,
  limit: number,
): Promise<Changes> {
  for (;;) {
    const scope = scopeNow();
    const changes = await watches.read(scope, place, limit);
    await context.liveViewers.settled();
    // Another scope may have changes before this place.
    if (scopeKey(scopeNow()) === scopeKey(scope)) return changes;
  }
}

function scopeOf({ viewer }: Context, only: string | null, { organizationIds }: SessionFilter): ChangeScope {
  const { enterpriseId, all, ids } = organizationsWith(viewer, permissionFor.viewSession);
  if (only !== null) return { enterpriseId, ids: all || ids.includes(only) ? [only] : [] };
  if (organizationIds === undefined) return { enterpriseId, ids: all ? null : ids };
  return { enterpriseId, ids: organizationIds.filter((id) => all || ids.includes(id)) };
}

const isWithout = ({ viewer }: Context): boolean => {
  const { all, ids } = organizationsWith(viewer, permissionFor.viewSession);
  return !all && ids.length === 0;
};

async function startPlace(
  { store }: Context,
  watches: ChangeWatches,
  scope: ChangeScope,
  after: string | null,
): Promise<ChangePlace> {
  if (after === null) return watches.placeNow(scope);
  const place = readChangeCursor(after);
  if (place === null || !(await isPlaceReached(store, place))) throw badCursor('after', after);
  return place;
}

/** Listens for one subscriber, to other organizations once its viewer may see others. */
function createFollowing(watches: ChangeWatches, first: ChangeScope) {
  let scope = first;
  let ring: (() => void) | null = null;
  let stop: () => void = () => undefined;
  return {
    listen(listener: () => void) {
      ring = listener;
      stop = watches.listen(scope, listener);
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
      stop = watches.listen(scope, ring);
      // For what changed there between the read and now.
      ring();
      return true;
    },
  };
}

function createJudge(context: Context, filter: SessionFilter, known: KnownSessions) {
  const checked = checkFilter(context.viewer, filter);
  const [isMatch, couldMatch] = [matcherOf(checked), matcherOf(lastingConditions(checked))];
  return ({ session, cursor }: ChangedSession): SessionChange[] => {
    const type = known.judge(session, isMatch(session), couldMatch(session));
    return type === null ? [] : [{ type, cursor, sessionId: session.id, session }];
  };
}

/** The conditions of a filter that a session meets always or never. */
function lastingConditions(filter: CheckedFilter): CheckedFilter {
  const { sessionIds, organizationIds, playbookId, automationIds, parentId, hasParent, createdBy } = filter;
  const { createdAfter, createdBefore, origins, isUnlisted, unlisted } = filter;
  return {
    ...{ sessionIds, organizationIds, playbookId, automationIds, parentId, hasParent, createdBy },
    ...{ createdAfter, createdBefore, origins, isUnlisted },
    ...(unlisted && { unlisted }),
  };
}
