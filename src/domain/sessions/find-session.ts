import { permissionFor } from '../../auth/permissions.ts';
import { organizationsWith } from '../../auth/viewer.ts';
import type { Context } from '../context.ts';
import { notFound } from '../errors.ts';
import { parseId } from '../ids.ts';
import { type SessionRecord, sessionColumns } from './session.ts';

const byIds = `
  select ${sessionColumns} from session s join organization o on o.id = s.organization_id
   where s.id = any($1::text[]) and o.enterprise_id = $2 and o.deleted_at is null and ($3::boolean or s.organization_id = any($4::text[]))`;

/** The sessions of these bare ids that the viewer may see, in the ids' order; null for each other. One statement. */
export async function findSessions(context: Context, ids: readonly string[]): Promise<(SessionRecord | null)[]> {
  const visible = organizationsWith(context.viewer, permissionFor.viewSession);
  const rows = await context.store.query<SessionRecord>(byIds, [ids, visible.enterpriseId, visible.all, visible.ids]);
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => found.get(id) ?? null);
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

/** Like {@link findSession}, but NOT_FOUND. */
export async function getSession(context: Context, id: string, organizationId?: string): Promise<SessionRecord> {
  const session = await findSession(context, id, organizationId);
  if (!session) throw notFound('session');
  return session;
}
