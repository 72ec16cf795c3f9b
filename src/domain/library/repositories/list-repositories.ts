import { z } from 'zod';
import { permissionFor } from '../../../auth/permissions.ts';
import type { Context } from '../../context.ts';
import { useOrganization } from '../../identity/organizations/use-organization.ts';
import { parseInput, text } from '../../input.ts';
import { listFilterConditions } from '../../list-filter.ts';
import type { Page, PageLimits, PageRequest } from '../../pages.ts';
import { sortedPage } from '../../sorted-pages.ts';
import { maxSearchLength } from '../../text-search.ts';
import { connectionFor, isClonedOrConfigured, type RepositoryRecord, repositoryColumns } from './repositories.ts';

/** Maximum number of paths in a condition of {@link listRepositories}. */
const maxPaths = 200;

const paths = (name: string) =>
  z.array(text(name, { max: 1_000 })).max(maxPaths, `"${name}" must have at most ${maxPaths} members.`);

const requestSchema = z.object({
  filterName: text('filterName', { max: maxSearchLength }).optional(),
  onlyRepoPaths: paths('onlyRepoPaths').optional(),
  excludeRepoPaths: paths('excludeRepoPaths').optional(),
});

/** A repository with the connection, by its unprefixed id, through which an organization may use it. */
export interface ConnectedRepository extends RepositoryRecord {
  readonly connectionId: string;
}

/** The conditions of {@link listRepositories}. `filterName`: part of the path. Case does not matter in any of them. */
export type RepositoryListRequest = PageRequest & { readonly organizationId: string } & z.input<typeof requestSchema>;

/**
 * Lists the repositories that were cloned or configured and that an organization may use now, newest first. Throws ORGANIZATION_NOT_USABLE,
 * NOT_FOUND, FORBIDDEN, INVALID_INPUT, and the errors of `pageWindow`.
 */
export async function listRepositories(
  context: Context,
  { organizationId, filterName, onlyRepoPaths, excludeRepoPaths, ...request }: RepositoryListRequest,
  limits: PageLimits,
): Promise<Page<ConnectedRepository>> {
  const { id } = await useOrganization(context, organizationId, permissionFor.viewRepositories);
  const filter = parseInput(requestSchema, { filterName, onlyRepoPaths, excludeRepoPaths });
  const values: unknown[] = [id, context.viewer.enterpriseId];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const keys = (list: readonly string[]) => `${bind(list.map((path) => path.toLowerCase()))}::text[]`;
  const page = sortedPage({ name: 'organizationRepositories', row: 'r' }, request, limits, bind);
  const where = [
    isClonedOrConfigured,
    ...(filter.onlyRepoPaths ? [`r.path_key = any(${keys(filter.onlyRepoPaths)})`] : []),
    ...(filter.excludeRepoPaths ? [`r.path_key <> all(${keys(filter.excludeRepoPaths)})`] : []),
    ...listFilterConditions('r', { search: filter.filterName }, ['path'], bind),
    ...page.beyond,
    'r.enterprise_id = $2',
  ].join(' and ');
  const rows = await context.store.query<ConnectedRepository>(
    `select ${repositoryColumns}, con.id as "connectionId" from repository r
       join organization o on o.id = $1 and o.deleted_at is null
       cross join lateral (${connectionFor('o')}) con
      where ${where} ${page.order} limit ${page.limit}`,
    values,
  );
  return page.toPage(rows);
}
