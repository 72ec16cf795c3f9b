import { type OrganizationPermission, permissionFor } from '../../auth/permissions.ts';
import { hasPermission, missingPermission, type Viewer } from '../../auth/viewer.ts';
import { DomainError, refuse } from '../../common/errors.ts';
import type { Context } from '../context.ts';
import { chooseOrganization } from '../identity/organizations/use-organization.ts';
import { parseId } from '../ids.ts';
import { listNested } from '../nested-pages.ts';
import { onPrimary } from '../on-primary.ts';
import type { PageLimits } from '../pages.ts';
import { undoing } from '../undoing.ts';
import { archiveSeen, unarchiveSeen } from './archive-session.ts';
import { findSessionsFor, missingSession } from './find-session.ts';
import { organizationList } from './list-sessions.ts';
import { ownCreators } from './own-sessions.ts';
import type { SessionRecord } from './session.ts';
import { type CheckedFilter, checkFilter, hasConditions, type SessionFilter, withCondition } from './session-filter.ts';
import { newestFirst } from './session-orders.ts';
import { parseTags, type TagMode, tagSeen } from './tags.ts';
import { terminateSeen } from './terminate-session.ts';

/** Maximum number of sessions of one bulk act. */
export const maxBatch = 100;

const batchLimits: PageLimits = { max: maxBatch, default: maxBatch };

/** The sessions of a bulk act: either ids in any form, or the sessions of an organization that match a filter. */
export interface BulkTarget {
  /** Either these or a filter. */
  readonly sessionIds?: readonly string[] | null | undefined;
  /** Only with a filter; in any form. If omitted: the organization that the viewer's key is bound to. */
  readonly organizationId?: string | null | undefined;
  readonly filter?: SessionFilter | null | undefined;
  /** Only with a filter: the maximum number of sessions and the cursor to start after; newest first. */
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  /** Reports what the act would do, without doing it. */
  readonly isDryRun?: boolean | null | undefined;
}

/** The result for one session: its new state, or the error why nothing was done. */
export interface BulkResult {
  /** Unprefixed, or as received if it is not an id. */
  readonly sessionId: string;
  /** The index in the input's ids, from 0; null: a filter found the session. */
  readonly index: number | null;
  readonly outcome: SessionRecord | DomainError;
}

/** The results of a bulk act, in the order of the ids or of the list. */
export interface BulkOutcome {
  readonly results: readonly BulkResult[];
  /** True if more sessions match the filter. */
  readonly hasMore: boolean;
  /** The cursor to continue after; null: nothing matched, or the input had no filter. */
  readonly endCursor: string | null;
}

/** An act on one session that a bulk act repeats. */
interface BulkAct {
  readonly permission: OrganizationPermission;
  /** Narrows the filter, so that sessions on which nothing is left to do don't use up the page. */
  readonly remaining: Pick<SessionFilter, 'isArchived' | 'isOver'>;
  readonly run: (context: Context, session: SessionRecord) => Promise<SessionRecord>;
}

/**
 * Runs `archiveSession` on many sessions, each in its own transaction, with the rules of the single act. A refused
 * session is reported and does not stop the others. Throws INVALID_INPUT, also for a filter without a condition, which
 * would match every session; BAD_CURSOR; with a filter FORBIDDEN, ORGANIZATION_NOT_USABLE, NOT_FOUND.
 */
export function archiveSessions(context: Context, target: BulkTarget): Promise<BulkOutcome> {
  const act = { permission: permissionFor.changeSession, remaining: { isArchived: false }, run: archiveSeen };
  return actOnMany(context, target, act);
}

/** Runs `unarchiveSession` on many sessions, as {@link archiveSessions} does. */
export function unarchiveSessions(context: Context, target: BulkTarget): Promise<BulkOutcome> {
  const act = { permission: permissionFor.changeSession, remaining: { isArchived: true }, run: unarchiveSeen };
  return actOnMany(context, target, act);
}

/** Runs `terminateSession` on many sessions, as {@link archiveSessions} does. */
export function terminateSessions(context: Context, target: BulkTarget, isToArchive: boolean): Promise<BulkOutcome> {
  return actOnMany(context, target, {
    permission: permissionFor.terminateSession,
    // A session that is over can still be archived.
    remaining: isToArchive ? {} : { isOver: false },
    run: async (inside, session) => (await terminateSeen(inside, session, isToArchive)).session,
  });
}

/** Runs `addTags`, `removeTags` or `replaceTags` on many sessions, as {@link archiveSessions} does. */
export async function tagSessions(
  context: Context,
  target: BulkTarget,
  tags: readonly string[],
  mode: TagMode,
): Promise<BulkOutcome> {
  const parsedTags = parseTags(tags);
  return actOnMany(context, target, {
    permission: permissionFor.changeSession,
    remaining: {},
    run: (inside, session) => tagSeen(inside, session, parsedTags, mode),
  });
}

async function actOnMany(context: Context, target: BulkTarget, act: BulkAct): Promise<BulkOutcome> {
  const { sessionIds, isDryRun } = target;
  const found = sessionIds == null ? await findByFilter(context, target, act) : await findByIds(context, target, act);
  const results: BulkResult[] = [];
  // One after another: each has its own transaction, and a batch must not take all connections.
  for (const { outcome: seen, ...which } of found.results) {
    const outcome = seen instanceof DomainError ? seen : await tryOne(context, act, seen, isDryRun ?? false);
    results.push({ ...which, outcome });
  }
  return { ...found, results };
}

// A dry run executes the act and rolls it back: only this finds every reason for a refusal.
async function tryOne(
  context: Context,
  act: BulkAct,
  session: SessionRecord,
  isDryRun: boolean,
): Promise<SessionRecord | DomainError> {
  try {
    if (!isDryRun) return await act.run(context, session);
    await act.run({ ...context, store: undoing(context.store) }, session);
    return session;
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
}

async function findByIds(
  context: Context,
  { sessionIds, organizationId, first, after }: BulkTarget,
  act: BulkAct,
): Promise<BulkOutcome> {
  for (const [name, value] of Object.entries({ organizationId, first, after })) {
    if (value != null) throw refuse([name], `"${name}" requires "filter". Omit it with "sessionIds".`);
  }
  const requestedIds = sessionIds ?? [];
  if (requestedIds.length < 1 || requestedIds.length > maxBatch) {
    throw refuse(['sessionIds'], `"sessionIds" must have 1 to ${maxBatch} items, but has ${requestedIds.length}.`);
  }
  // Each session once, in whatever forms its id is given.
  const parsed = new Map(requestedIds.map((text) => [parseId('session', text) ?? text, parseId('session', text)]));
  const ids = [...parsed.values()].filter((id) => id !== null);
  const found = await findSessionsFor(context, act.permission, ids);
  const outcomes = new Map(ids.map((id, n) => [id, found[n]]));
  const indexes = new Map(requestedIds.map((text, n) => [parseId('session', text) ?? text, n] as const).reverse());
  const results = [...parsed.keys()].map((sessionId) => ({
    sessionId,
    index: indexes.get(sessionId) ?? null,
    outcome: outcomes.get(sessionId) ?? missingSession(context, act.permission),
  }));
  return { results, hasMore: false, endCursor: null };
}

async function findByFilter(context: Context, target: BulkTarget, act: BulkAct): Promise<BulkOutcome> {
  const { viewer } = context;
  if (!target.filter || !hasConditions(target.filter)) {
    const message = '"filter" must have a condition. Without one, it would match every session.';
    throw refuse(['filter'], message);
  }
  const { id } = await chooseOrganization(context, target.organizationId, permissionFor.viewSession);
  const filter = narrowed(viewer, id, checkFilter(viewer, target.filter), act);
  if (!filter) return { results: [], hasMore: false, endCursor: null };
  const request = { first: target.first, after: target.after };
  const list = organizationList(viewer.enterpriseId, id, filter, newestFirst);
  const [page] = await listNested(onPrimary(context), [list], request, batchLimits);
  const items = page?.items ?? [];
  const last = items.at(-1);
  return {
    results: items.map((session) => ({ sessionId: session.id, index: null, outcome: session })),
    hasMore: page?.hasNextPage ?? false,
    endCursor: last && page ? page.cursorOf(last) : null,
  };
}

/**
 * Adds the act's conditions to the filter, and limits it to the viewer's own sessions if the viewer may act on no
 * others. Null: nothing can match.
 */
function narrowed(
  viewer: Viewer,
  organizationId: string,
  baseFilter: CheckedFilter,
  { permission, remaining }: BulkAct,
): CheckedFilter | null {
  if (remaining.isArchived !== undefined && baseFilter.isArchived === !remaining.isArchived) return null;
  const filter = { ...baseFilter, ...remaining };
  if (hasPermission(viewer, permission, organizationId)) return filter;
  const own = ownCreators(viewer);
  if (own === null || !hasPermission(viewer, permission, organizationId, true)) throw missingPermission(permission);
  return withCondition(filter, { createdBy: own });
}
