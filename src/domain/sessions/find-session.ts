import {
  manageOwnSessions,
  type OrganizationPermission,
  permissionFor,
  type RolePermission,
} from '../../auth/permissions.ts';
import { hasPermission, missingPermission, organizationsWith, ownerOf } from '../../auth/viewer.ts';
import type { Context } from '../context.ts';
import { DomainError, notFound } from '../errors.ts';
import { inOrderOf } from '../find-by-ids.ts';
import { isLiveOrganization, readWithin } from '../identity/organizations/read-within.ts';
import { parseId } from '../ids.ts';
import { childIdsColumn, type SessionWithChildren } from './children.ts';
import { readSessions } from './read-sessions.ts';
import { type SessionRecord, sessionColumns } from './session.ts';

const byIds = `
  select ${sessionColumns} from session s join organization o on o.id = s.organization_id
   where s.id = any($1::text[]) and o.enterprise_id = $2 and o.deleted_at is null and ($3::boolean or s.organization_id = any($4::text[]))`;

/** The sessions of these bare ids that the viewer may see, in the ids' order; null for each other. One statement. */
export function findSessions(context: Context, ids: readonly string[]): Promise<(SessionRecord | null)[]> {
  return readWith(context, ids, [permissionFor.viewSession]);
}

async function readWith(
  context: Context,
  ids: readonly string[],
  anyOf: readonly RolePermission[],
): Promise<(SessionRecord | null)[]> {
  const visible = organizationsWith(context.viewer, ...anyOf);
  const rows = await readSessions(context, byIds, [ids, visible.enterpriseId, visible.all, visible.ids]);
  return inOrderOf(ids, rows);
}

/** The session of an id in any form, or null: missing and forbidden are the same. `organizationId`: it must be that one's. */
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
 * A session of an organization, both by ids in any form, and what it started. The errors of `useOrganization`; NOT_FOUND. One
 * statement where it is found.
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

/** Like {@link findSession}, but FORBIDDEN where the viewer may see no session at all, and NOT_FOUND otherwise. */
export async function getSession(context: Context, id: string, organizationId?: string): Promise<SessionRecord> {
  const session = await findSession(context, id, organizationId);
  if (!session) throw missingSession(context, permissionFor.viewSession, organizationId);
  return session;
}

/**
 * The refusal for a session that the viewer cannot be told about: FORBIDDEN, naming the permission, unless the viewer holds it
 * in the organization, or in any one where none is named; then NOT_FOUND. So a caller without the permission learns nothing
 * about the id.
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

/** A session that an act is about: its id in any form, and the organization that the path named, if any. */
export interface SessionTarget {
  readonly sessionId: string;
  readonly organizationId?: string | undefined;
}

/**
 * The session that an act is about, with the permission that the act needs. Permissions are given independently: who may
 * manage a session need not be one who may read it. FORBIDDEN, naming the permission, for a caller who lacks it, whether the
 * session exists or not; a caller who may act on its own sessions only gets it for every other id. NOT_FOUND for a caller who
 * has the permission.
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
 * Sessions that an act is about, by their bare ids, in the ids' order and in one statement: each one, or the refusal that
 * {@link getSessionFor} would give for it. `within`: the bare id of the organization that they must be in.
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

/** Reads a session that the caller has just made, whatever else it may read. For the domain's own use. */
export async function readOwnSession(context: Context, id: string): Promise<SessionRecord> {
  const [session] = await context.store.query<SessionRecord>(
    `select ${sessionColumns} from session s where s.id = $1`,
    [id],
  );
  if (!session) throw notFound('session');
  return session;
}

/** Whether the viewer itself started the session. */
export function isOwn(context: Context, session: Pick<SessionRecord, 'userId' | 'serviceUserId'>): boolean {
  const { userId, serviceUserId } = ownerOf(context.viewer);
  return (
    (userId !== null && userId === session.userId) ||
    (serviceUserId !== null && serviceUserId === session.serviceUserId)
  );
}
