import type { Context } from '../../context.ts';
import type { Bind } from '../../nested-pages.ts';
import type { OffsetPage } from '../../offset-pages.ts';
import type { PageLimits } from '../../pages.ts';
import { textKey } from '../../sort-keys.ts';
import { type UserRecord, userColumns } from '../people/find-people.ts';
import { type DirectoryRequest, listResources, type ResourceOrder } from './list-resources.ts';
import { type FilterColumns, filterCondition, type ResourceFilter } from './resource-filter.ts';

const columns = {
  id: 'u.id',
  email: 'u.email',
  name: 'u.name',
  externalId: 'u.external_id',
  givenName: 'u.given_name',
  familyName: 'u.family_name',
  deactivatedAt: 'u.deactivated_at',
  createdAt: 'u.created_at',
} as const;

/** A condition of a directory on users. Texts are compared without regard to case, except external ids. */
export type UserFilter = ResourceFilter<keyof typeof columns>;

const source: FilterColumns<keyof typeof columns> = { columns, exact: new Set(['externalId'] as const) };

// Each is the expression of an index.
const sortColumns = {
  id: columns.id,
  email: textKey('User', 'email').column('u'),
  externalId: columns.externalId,
  createdAt: columns.createdAt,
} as const;

/** An order of a list of users. */
export type UserOrder = ResourceOrder<keyof typeof sortColumns>;

/** Lists the users of the enterprise for a directory, as {@link listResources} does. */
export function listProvisionedUsers(
  context: Context,
  { filter, order, ...request }: DirectoryRequest<UserFilter, UserOrder>,
  limits: PageLimits,
): Promise<OffsetPage<UserRecord>> {
  const rows = {
    table: 'user_account',
    row: 'u',
    columns: userColumns,
    where: (bind: Bind) => [
      'u.deleted_at is null',
      ...(filter === null ? [] : [filterCondition(filter, source, bind)]),
    ],
    sortColumn: sortColumns[order.by],
    isDescending: order.isDescending,
  } as const;
  return listResources(context, rows, request, limits);
}
