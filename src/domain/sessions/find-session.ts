import {
  manageOwnSessions,
  type OrganizationPermission,
  permissionFor,
  type RolePermission,
} from '../../auth/permissions.ts';
import { hasPermission, missingPermission, organizationsWith, ownerOf } from '../../auth/viewer.ts';
import { DomainError, notFound } from '../../common/errors.ts';
import type { Context } from '../context.ts';
import { inOrderOf } from '../find-by-ids.ts';
import { isLiveOrganization, readWithin } from '../identity/organizations/read-within.ts';
import { parseId } from '../ids.ts';
import { childIdsColumn, type SessionWithChildren } from './children.ts';
import { readSessions } from './read-sessions.ts';
import { type SessionRecord, sessionColumns } from './session.ts';

const byIds = `
  select ${sessionColumns} from session s join organization o on o.id = s.organization_id
   where s.id = any($1::text[]) and o.enterprise_id = $2 and o.deleted_at is null and ($3::boolean or s.organization_id = any($4::text[]))`;

/**
 * Returns the sessions of these unprefixed ids that the viewer may see, in the ids' order, and null for each other id.
 * One statement.
 */
export function findSessions(context: Context, ids: readonly string[]): Promise<(SessionRecord | null)[]> {
  return readWith(context, ids, [permissionFor.viewSession]);
}

function readWith(
  context: Context,
  ids: readonly string[],
  anyOf: readonly RolePermission[],
): Promise<(SessionRecord | null)[]> {
  return findVisibleSessions(context, ids, organizationsWith(context.viewer, ...anyOf));
}

/** {@link findSessions} in the organizations whose sessions may be seen. */
export async function findVisibleSessions(
  services: Pick<Context, 'store'>,
  ids: readonly string[],
  { enterpriseId, all, ids: organizationIds }: ReturnType<typeof organizationsWith>,
): Promise<(SessionRecord | null)[]> {
  return inOrderOf(ids, await readSessions(services, byIds, [ids, enterpriseId, all, organizationIds]));
}

/**
 * Returns the session of an id in any form, or null if it is missing or forbidden. `organizationId`: the session must
 * belong to it.
 */
export async function findSession(
  context: Context,
  id: string,
  organizationId?: string,
): Promise<SessionRecord | null> {
  const bare = parseId('session', id);
  if (bare === null) return null;
  const [session] = await findSessions(context, [bare]);
  return session && (organizationId === undefined || session.organizationId === organizationId) ? session : null;
}

const inOrganization = `select ${sessionColumns}, ${childIdsColumn} from session s
  where s.id = $1 and s.organization_id = $2 and ${isLiveOrganization('$2', '$3')}`;

/**
 * Returns a session of an organization, both by ids in any form, with its child sessions. Throws the errors of
 * `useOrganization`, and NOT_FOUND. Sends one statement if the session is found.
 */
export async function getSessionWithin(
  context: Context,
  organizationId: string,
  sessionId: string,
): Promise<SessionWithChildren> {
  const bare = parseId('session', sessionId);
  const [session] = await readWithin<SessionWithChildren[]>(context, organizationId, permissionFor.viewSession, {
    isFound: (sessions) => sessions.length > 0,
    read: async (id) =>
      bare === null ? [] : readSessions(context, inOrganization, [bare, id, context.viewer.enterpriseId]),
  });
  if (!session) throw notFound('session');
  return session;
}

/** Like {@link findSession}, but throws FORBIDDEN if the viewer may see no sessions at all, and NOT_FOUND otherwise. */
export async function getSession(context: Context, id: string, organizationId?: string): Promise<SessionRecord> {
  const session = await findSession(context, id, organizationId);
  if (!session) throw missingSession(context, permissionFor.viewSession, organizationId);
  return session;
}

/**
 * Creates the error for a session that is not visible to the viewer: FORBIDDEN with the permission's name unless the
 * viewer has the permission in the organization (or in any organization if none is named), otherwise NOT_FOUND. A
 * caller without the permission thus learns nothing about the id.
 */
export function missingSession(
  context: Context,
  permission: OrganizationPermission,
  organizationId?: string,
): DomainError {
  const { viewer } = context;
  const { all, ids } = organizationsWith(viewer, permission);
  const isGranted =
    organizationId === undefined ? all || ids.length > 0 : hasPermission(viewer, permission, organizationId);
  return isGranted ? notFound('session') : missingPermission(permission);
}

/** The target session of an act: its id in any form, and the organization that the path named, if any. */
export interface SessionTarget {
  readonly sessionId: string;
  readonly organizationId?: string | undefined;
}

/**
 * Returns the target session of an act, with a check of the permission that the act needs. Permissions are independent:
 * a principal that may manage a session need not be able to read it. Throws FORBIDDEN with the permission's name for a
 * caller who lacks it, even if the session does not exist. A caller who may act only on its own sessions gets FORBIDDEN
 * for every other id. Throws NOT_FOUND for a caller who has the permission.
 */
export async function getSessionFor(
  context: Context,
  permission: OrganizationPermission,
  input: SessionTarget,
): Promise<SessionRecord> {
  const bare = parseId('session', input.sessionId);
  const [found] = bare === null ? [] : await findSessionsFor(context, permission, [bare], input.organizationId);
  if (found && !(found instanceof DomainError)) return found;
  throw found ?? missingSession(context, permission, input.organizationId);
}

/**
 * Returns the target sessions of an act by their unprefixed ids, in the ids' order and in one statement: each session,
 * or the error that {@link getSessionFor} would throw for it. `within`: the unprefixed id of the organization that they
 * must belong to.
 */
export async function findSessionsFor(
  context: Context,
  permission: OrganizationPermission,
  ids: readonly string[],
  within?: string,
): Promise<(SessionRecord | DomainError)[]> {
  const { viewer } = context;
  const sessions = await readWith(context, ids, [permissionFor.viewSession, permission, manageOwnSessions]);
  const missing = missingSession(context, permission, within);
  return sessions.map((session) => {
    if (!session || (within !== undefined && session.organizationId !== within)) return missing;
    const { organizationId } = session;
    if (hasPermission(viewer, permission, organizationId, isOwn(context, session))) return session;
    return hasPermission(viewer, permissionFor.viewSession, organizationId) ? missingPermission(permission) : missing;
  });
}

/** Reads a session that the caller has just created, even if it may read no sessions. For the domain's own use. */
export async function readOwnSession(context: Context, id: string): Promise<SessionRecord> {
  const [session] = await context.store.query<SessionRecord>(
    `select ${sessionColumns} from session s where s.id = $1`,
    [id],
  );
  if (!session) throw notFound('session');
  return session;
}

/** True if the viewer itself started the session. */
export function isOwn(context: Context, session: Pick<SessionRecord, 'userId' | 'serviceUserId'>): boolean {
  const { userId, serviceUserId } = ownerOf(context.viewer);
  return (
    (userId !== null && userId === session.userId) ||
    (serviceUserId !== null && serviceUserId === session.serviceUserId)
  );
}
