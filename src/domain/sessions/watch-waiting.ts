import { permissionFor } from '../../auth/permissions.ts';
import type { ChangeScope, ChangeStore } from '../changes/change-source.ts';
import { followOrganizations } from '../changes/follow-organizations.ts';
import { type ChangeWatches, type EntityChange, type EntityFilter, watchEntities } from '../changes/watch-entities.ts';
import type { Context } from '../context.ts';
import type { SessionRecord } from './session.ts';
import { matcherOf } from './session-conditions.ts';
import { checkFilter, type SessionFilter } from './session-filter.ts';
import { waitingFor } from './waiting-for.ts';
import { sessionChanges } from './watch-changes.ts';

/** Sessions that waited when a subscription began; with more than these, LEFT comes of any session that does not wait. */
const maxWaiting = 1_000;

/**
 * The changes of the sessions that wait for the viewer, in all its organizations: a session matches as long as it is on the list
 * `waiting` of `listSessionsAcross`. The cursors are those of `watchChanges`. LEFT is reported only of sessions that waited when
 * the subscription began, were reported since, or changed between `after` and the beginning. FORBIDDEN, BAD_CURSOR before the
 * first one.
 */
export async function watchWaiting(
  context: Context,
  watches: ChangeWatches,
  after: string | null,
): Promise<AsyncIterableIterator<EntityChange<SessionRecord>>> {
  const followed = await followOrganizations(context, { organizationId: null, anyOf: [permissionFor.viewSession] });
  const couldWait = await readWaiting(context.store, followed.scopeNow());
  const filterNow = (): EntityFilter<SessionRecord> => {
    const { viewer } = context;
    const { statusDetail, startedBy, organizations } = waitingFor(viewer);
    const ownerFilter: SessionFilter = {
      or: [
        ...(startedBy === null ? [] : [{ createdBy: startedBy }]),
        organizations.all ? {} : { organizationIds: organizations.ids },
      ],
    };
    const isTheirs = matcherOf(checkFilter(viewer, ownerFilter));
    return {
      isMatch: matcherOf(checkFilter(viewer, { ...ownerFilter, statusDetail })),
      couldMatch: (session, xid) => isTheirs(session) && couldWait(session, xid),
    };
  };
  return watchEntities(context, watches, { source: sessionChanges, ...followed, filterNow, after });
}

/**
 * Reads which sessions of a scope wait now. Returns whether a session, which does not wait by now and was changed by a transaction,
 * may have waited when a client read its list: it waits now, or was changed before, or is in an organization of which was not read.
 */
async function readWaiting(
  store: ChangeStore,
  { enterpriseId, ids }: ChangeScope,
): Promise<(session: SessionRecord, xid: bigint) => boolean> {
  // One snapshot: what has changed before it, and what waits in it, are all that waited earlier.
  const rows = await store.query<{ xmax: string; organizationId: string | null; id: string | null }>(
    `select next_transaction()::text as xmax, o.id as "organizationId", c.session_id as id
       from (values (1)) one left join organization o
         on o.enterprise_id = $1 and o.deleted_at is null and ($2::text[] is null or o.id = any($2::text[]))
       left join lateral (select c.session_id from session_change c
         where c.organization_id = o.id and c.idleness = 'waiting' order by c.created_at desc, c.session_id desc limit $3) c on true`,
    [enterpriseId, ids, maxWaiting],
  );
  const xmax = BigInt(rows[0]?.xmax ?? 0);
  const organizations = new Set(rows.map(({ organizationId }) => organizationId));
  const waiting = new Set(rows.map(({ id }) => id));
  if (waiting.size > maxWaiting) return () => true;
  return ({ id, organizationId }, xid) => xid < xmax || waiting.has(id) || !organizations.has(organizationId);
}
