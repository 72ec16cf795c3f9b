import { permissionFor } from '../../../auth/permissions.ts';
import { hasPermission, organizationsWith } from '../../../auth/viewer.ts';
import { fieldsOf, type Row, selectFields } from '../../../store/tables.ts';
import type { Context } from '../../context.ts';
import { inOrderOf } from '../../find-by-ids.ts';
import { requireUsable } from '../../identity/organizations/use-organization.ts';
import { isStorable } from '../../input.ts';
import { checkListFilter, type ListFilter, listFilterConditions } from '../../list-filter.ts';
import { type NestedList, organizationOwners } from '../../nested-pages.ts';
import {
  coversPath,
  findUsableIds,
  needsNoPermission,
  type OrganizationReference,
} from '../../repositories/resolve-repositories.ts';
import { textKey } from '../../sort-keys.ts';
import { inOrder, type ListOrder } from '../../sorted-pages.ts';

// The definition of its environment can be large: it is read where it is asked for.
const repositoryFields = fieldsOf('Repository', ['environment']);

/** A repository that was used or configured. */
export type RepositoryRecord = Pick<Row<'Repository'>, (typeof repositoryFields)[number]>;

/** The columns of a {@link RepositoryRecord} of a `repository` aliased `r`. */
export const repositoryColumns = selectFields('Repository', 'r', repositoryFields);

/** SQL query of the connection through which the organization of this alias may use the repository aliased `r`. */
export const connectionFor = (organization: string): string => `
  select con.id from git_connection con
   where con.enterprise_id = r.enterprise_id and con.host_key = r.host and con.deleted_at is null
     and (${needsNoPermission(organization, 'con')} or exists (
       select 1 from git_permission p where p.organization_id = ${organization}.id and p.git_connection_id = con.id
          and ${coversPath('p', 'r.path_key')}))
   order by con.id <> coalesce(r.git_connection_id, ''), con.created_at, con.id limit 1`;

/** SQL condition: the organization of this alias may use the repository aliased `r`, through any connection. */
const isUsableBy = (organization: string): string => `exists (${connectionFor(organization)})`;

/**
 * Returns the repositories of these unprefixed ids that some organization of the viewer may use, in the ids' order; null for
 * each other id.
 */
export async function findRepositories(
  { viewer, store }: Pick<Context, 'viewer' | 'store'>,
  ids: readonly string[],
): Promise<(RepositoryRecord | null)[]> {
  const { enterpriseId, all, ids: organizationIds } = organizationsWith(viewer, permissionFor.viewRepositories);
  const rows = await store.query<RepositoryRecord>(
    `select ${repositoryColumns} from repository r
      where r.id = any($1::text[]) and r.enterprise_id = $2 and exists (
        select 1 from organization o where o.enterprise_id = $2 and o.deleted_at is null
           and ($3::boolean or o.id = any($4::text[])) and ${isUsableBy('o')})`,
    [ids, enterpriseId, all, organizationIds],
  );
  return inOrderOf(ids, rows);
}

/**
 * Returns the repositories that organizations of the viewer name by these references; null for each other reference, and for a
 * repository without a row.
 */
export async function findRepositoriesByName(
  context: Context,
  references: readonly OrganizationReference[],
): Promise<(RepositoryRecord | null)[]> {
  const { viewer, store } = context;
  // PostgreSQL cannot store some texts, so nothing has these names.
  const isReadable = ({ organizationId, reference }: OrganizationReference) =>
    hasPermission(viewer, permissionFor.viewRepositories, organizationId) && isStorable(reference);
  const readable = references.filter(isReadable);
  const found = await findUsableIds(store, readable);
  const ids = new Map(readable.map((each, n) => [each, found[n] ?? null]));
  const records = await findRepositories(context, [...new Set(found.filter((id) => id !== null))]);
  const byId = new Map(records.flatMap((record) => (record ? [[record.id, record]] : [])));
  return references.map((each) => byId.get(ids.get(each) ?? '') ?? null);
}

/** Conditions of a list of repositories. `search`: in the path. */
export type RepositoryFilter = Omit<ListFilter, 'createdBy'>;

const sortKeys = { path: textKey('Repository', 'path') };

/** An order of a list of repositories. */
export type RepositoryOrder = ListOrder<'createdAt' | keyof typeof sortKeys>;

/**
 * SQL condition: the repository aliased `r` was cloned or configured. A row exists for each name that was accepted, also for one
 * that the forge does not have.
 */
export const isClonedOrConfigured =
  "(r.read_at is not null or r.branch_template is not null or r.settings <> '{}'::jsonb)";

/**
 * Returns the repositories that were cloned or configured and that an organization, by its unprefixed id, may use now, as a
 * nested list. Throws ORGANIZATION_NOT_USABLE, FORBIDDEN, INVALID_INPUT.
 */
export function repositoriesOf(
  context: Context,
  organizationId: string,
  filter: RepositoryFilter = {},
  order?: RepositoryOrder | null,
): NestedList<RepositoryRecord> {
  requireUsable(context, organizationId, permissionFor.viewRepositories);
  checkListFilter(filter);
  const { enterpriseId } = context.viewer;
  return {
    ...inOrder('repositories', order, sortKeys),
    key: `repositories ${JSON.stringify([filter, order])}`,
    ownerId: organizationId,
    row: 'r',
    table: 'repository',
    columns: repositoryColumns,
    owners: organizationOwners(enterpriseId),
    where: (bind) => [
      `r.enterprise_id = ${bind(enterpriseId)}`,
      isClonedOrConfigured,
      isUsableBy('o'),
      ...listFilterConditions('r', filter, ['path'], bind),
    ],
  };
}
