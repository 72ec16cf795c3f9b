import type { Context } from '../context.ts';

/** A human of the enterprise. */
export interface UserRecord {
  readonly id: string;
  readonly enterpriseId: string;
  readonly email: string;
  readonly name: string | null;
  readonly createdAt: Date;
}

/** A principal that is no human. `organizationId` null: enterprise-scoped. */
export interface ServiceUserRecord {
  readonly id: string;
  readonly enterpriseId: string;
  readonly organizationId: string | null;
  readonly name: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
}

// Whoever shares an organization with the viewer, or all of the enterprise for whoever may see its members.
const visibleUsers = `
  select u.id, u.enterprise_id as "enterpriseId", u.email, u.name, u.created_at as "createdAt" from user_account u
   where u.id = any($1::text[]) and u.enterprise_id = $2 and ($3::boolean or u.id = $4 or exists (
     select 1 from role_assignment a where a.user_id = u.id and a.organization_id = any($5::text[])))`;

const visibleServiceUsers = `
  select s.id, s.enterprise_id as "enterpriseId", s.organization_id as "organizationId", s.name, s.created_at as "createdAt",
         s.expires_at as "expiresAt" from service_user s
   where s.id = any($1::text[]) and s.enterprise_id = $2 and ($3::boolean or s.id = $4 or s.organization_id = any($5::text[]))`;

function visibility(context: Context): unknown[] {
  const { viewer } = context;
  const all = viewer.enterprisePermissions.has('ViewAccountMembership');
  return [viewer.enterpriseId, all, viewer.principal.id, [...viewer.organizations.keys()]];
}

async function findVisible<T extends { id: string }>(
  context: Context,
  sql: string,
  ids: readonly string[],
): Promise<(T | null)[]> {
  const rows = await context.store.query<T>(sql, [ids, ...visibility(context)]);
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => found.get(id) ?? null);
}

/** The users of these bare ids whom the viewer may see, in the ids' order; null for each other. One statement. */
export function findUsers(context: Context, ids: readonly string[]): Promise<(UserRecord | null)[]> {
  return findVisible<UserRecord>(context, visibleUsers, ids);
}

/** The service users of these bare ids whom the viewer may see, in the ids' order; null for each other. One statement. */
export function findServiceUsers(context: Context, ids: readonly string[]): Promise<(ServiceUserRecord | null)[]> {
  return findVisible<ServiceUserRecord>(context, visibleServiceUsers, ids);
}

/** Who wrote messages or started sessions, by bare id: for lists that show a name or an address beside each row. */
export async function findNames(
  context: Context,
  actors: readonly { userId: string | null; serviceUserId: string | null }[],
): Promise<ReadonlyMap<string, { name: string; email: string | null }>> {
  const userIds = [...new Set(actors.flatMap(({ userId }) => (userId ? [userId] : [])))];
  const serviceUserIds = [...new Set(actors.flatMap(({ serviceUserId }) => (serviceUserId ? [serviceUserId] : [])))];
  const names = new Map<string, { name: string; email: string | null }>();
  const users = userIds.length > 0 ? await findUsers(context, userIds) : [];
  for (const user of users) if (user) names.set(user.id, { name: user.name ?? user.email, email: user.email });
  const serviceUsers = serviceUserIds.length > 0 ? await findServiceUsers(context, serviceUserIds) : [];
  for (const user of serviceUsers) if (user) names.set(user.id, { name: user.name, email: null });
  return names;
}
