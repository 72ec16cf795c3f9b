import { rolesOfUser } from '../../../auth/group-roles.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { fieldsOf, type Row, selectFields } from '../../../store/tables.ts';
import type { Context } from '../../context.ts';
import { inOrderOf, inOrderOfKeys, type WithKeyPosition } from '../../find-by-ids.ts';

/** A human of the enterprise. `deletedAt` set: it is only the author of its objects. */
export type UserRecord = Row<'User'>;

/** A principal that is not a human. `organizationId` null: enterprise-scoped. `deletedAt`: as of a user. */
export type ServiceUserRecord = Row<'ServiceUser'>;

/** The columns of a {@link UserRecord} of a `user_account` aliased `u`. */
export const userColumns = selectFields('User', 'u', fieldsOf('User'));

/** The columns of a {@link ServiceUserRecord} of a `service_user` aliased `s`. */
export const serviceUserColumns = selectFields('ServiceUser', 's', fieldsOf('ServiceUser'));

// A user is visible to viewers that share an organization with it, and to viewers that may see all users of the
// enterprise. As an author, a deleted user is visible to every viewer who can read its object, because its memberships
// are no longer known. The parameters are those of `visibilityValues`.
const userIsVisible = ([enterpriseId, all, self, organizations, asAuthors, sharesAll]: readonly string[]) => `
  u.enterprise_id = ${enterpriseId}
     and case when u.deleted_at is not null then ${asAuthors}::boolean else ${all}::boolean or u.id = ${self} or exists (
       select 1 from (${rolesOfUser('u.id')}) a
        where (a.organization_id = any(${organizations}::text[]) or (${sharesAll}::boolean and a.organization_id is not null))) end`;

const visibleUsers = `select ${userColumns} from user_account u
  where u.id = any($1::text[]) and ${userIsVisible(['$2', '$3', '$4', '$5', '$6', '$7'])}`;

// A service user is visible to viewers in its organization or in one where it has a role. As an author, one of no organization is
// visible to every viewer who can read its object: it acts for the enterprise, and is no member of another organization.
const visibleServiceUsers = `
  select ${serviceUserColumns} from service_user s left join organization o on o.id = s.organization_id
   where s.id = any($1::text[]) and s.enterprise_id = $2
     and case when s.deleted_at is not null or o.deleted_at is not null then $6::boolean
         else $3::boolean or s.id = $4 or s.organization_id = any($5::text[]) or ($6::boolean and s.organization_id is null)
           or ($7::boolean and s.organization_id is not null) or exists (
             select 1 from role_assignment a where a.service_user_id = s.id
               and (a.organization_id = any($5::text[]) or ($7::boolean and a.organization_id is not null))) end`;

const seesUsers = ({ viewer }: Context) => viewer.enterprisePermissions.has(permissionFor.viewEnterpriseMembers);
const seesServiceUsers = (context: Context) =>
  seesUsers(context) || context.viewer.enterprisePermissions.has(permissionFor.viewEnterpriseServiceUsers);

/** Returns the viewer's visibility as parameters of the statements above; `all`: it may see all of its enterprise. */
function visibilityValues({ viewer }: Context, all: boolean, asAuthors: boolean): unknown[] {
  const organizations = [...viewer.organizations.keys()];
  // A viewer with a permission in every organization shares each of them.
  const sharesAll = viewer.everywhere.size > 0;
  return [viewer.enterpriseId, all, viewer.principal.id, organizations, asAuthors, sharesAll];
}

async function findVisible<T extends { id: string }>(
  context: Context,
  sql: string,
  ids: readonly string[],
  asAuthors: boolean,
): Promise<(T | null)[]> {
  const isOfUsers = sql === visibleUsers;
  const values = [
    ids,
    ...visibilityValues(context, isOfUsers ? seesUsers(context) : seesServiceUsers(context), asAuthors),
  ];
  const rows = await context.store.query<T>(sql, values);
  return inOrderOf(ids, rows);
}

/**
 * Returns the live users of these unprefixed ids that the viewer may see, in the ids' order; null for each other id.
 * One statement.
 */
export function findUsers(context: Context, ids: readonly string[]): Promise<(UserRecord | null)[]> {
  return findVisible<UserRecord>(context, visibleUsers, ids, false);
}

/**
 * Returns the live users with these emails, case-insensitive, that the viewer may see, in the emails' order; null for
 * each other one. One statement.
 */
export async function findUsersByEmail(context: Context, emails: readonly string[]): Promise<(UserRecord | null)[]> {
  const rows = await context.store.query<WithKeyPosition<UserRecord>>(
    `select k.position::int as "keyPosition", ${userColumns} from unnest($1::text[]) with ordinality k (email, position)
       join user_account u on u.enterprise_id = $2 and lower(u.email) = lower(k.email) and u.deleted_at is null
      where ${userIsVisible(['$2', '$3', '$4', '$5', '$6', '$7'])}`,
    [emails, ...visibilityValues(context, seesUsers(context), false)],
  );
  return inOrderOfKeys(emails.length, rows);
}

/**
 * Returns the service users of these unprefixed ids that the viewer may see, in the ids' order; null for each other id,
 * including deleted ones and those of a deleted organization. One statement.
 */
export function findServiceUsers(context: Context, ids: readonly string[]): Promise<(ServiceUserRecord | null)[]> {
  return findVisible<ServiceUserRecord>(context, visibleServiceUsers, ids, false);
}

/**
 * {@link findUsers}, with deleted users. Only for ids on an object that the viewer can read: a session, a message, an
 * entry of the audit log.
 */
export function findUserAuthors(context: Context, ids: readonly string[]): Promise<(UserRecord | null)[]> {
  return findVisible<UserRecord>(context, visibleUsers, ids, true);
}

/**
 * Returns a statement for a list that shows emails beside its rows: one JSON object, by id, of the emails of {@link
 * findUserAuthors}. `ids`: a statement that returns the ids, of which some may be null.
 */
export function emailsOfAuthors(context: Context, ids: string, bind: (value: unknown) => string): string {
  const visibility = visibilityValues(context, seesUsers(context), true).map(bind);
  return `select json_object_agg(u.id, u.email) from user_account u where u.id in (${ids}) and ${userIsVisible(visibility)}`;
}

/** {@link findUserAuthors} for service users, with those of no organization. */
export function findServiceUserAuthors(
  context: Context,
  ids: readonly string[],
): Promise<(ServiceUserRecord | null)[]> {
  return findVisible<ServiceUserRecord>(context, visibleServiceUsers, ids, true);
}

/**
 * Returns the authors of messages or sessions, by unprefixed id, for lists that show a name or an email beside each
 * row. Includes deleted ones.
 */
export async function findNames(
  context: Context,
  actors: readonly { userId: string | null; serviceUserId: string | null }[],
): Promise<ReadonlyMap<string, { name: string; email: string | null }>> {
  const userIds = [...new Set(actors.flatMap(({ userId }) => (userId ? [userId] : [])))];
  const serviceUserIds = [...new Set(actors.flatMap(({ serviceUserId }) => (serviceUserId ? [serviceUserId] : [])))];
  const names = new Map<string, { name: string; email: string | null }>();
  const users = userIds.length > 0 ? await findUserAuthors(context, userIds) : [];
  for (const user of users) if (user) names.set(user.id, { name: user.name ?? user.email, email: user.email });
  const serviceUsers = serviceUserIds.length > 0 ? await findServiceUserAuthors(context, serviceUserIds) : [];
  for (const user of serviceUsers) if (user) names.set(user.id, { name: user.name, email: null });
  return names;
}
