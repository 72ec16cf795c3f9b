import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import type { Bind } from '../../nested-pages.ts';
import { type OffsetPage, type OffsetRequest, offsetWindow } from '../../offset-pages.ts';
import type { PageLimits } from '../../pages.ts';

/** An order of a list for a directory, by a member; resources without a value come last, or first if it is descending. */
export interface ResourceOrder<Member extends string> {
  readonly by: Member;
  readonly isDescending: boolean;
}

/** A list of a directory. `filter`: null for all. */
export interface DirectoryRequest<Filter, Order> extends OffsetRequest {
  readonly filter: Filter | null;
  readonly order: Order;
}

/** The rows of a list for a directory. */
interface ListedRows {
  readonly table: 'user_account' | 'idp_group';
  /** The alias of the table. */
  readonly row: 'u' | 'g';
  readonly columns: string;
  readonly where: (bind: Bind) => readonly string[];
  /** The SQL expression by which the rows are ordered before their ids. */
  readonly sortColumn: string;
  readonly isDescending: boolean;
}

/**
 * Lists rows of the enterprise for a directory, for a viewer that may see the members of the enterprise. `first` 0: only their number.
 * Throws FORBIDDEN, INVALID_INPUT.
 */
export async function listResources<T>(
  { viewer, store }: Context,
  { table, row, columns, where, sortColumn, isDescending }: ListedRows,
  request: OffsetRequest,
  limits: PageLimits,
): Promise<OffsetPage<T>> {
  requireEnterprisePermission(viewer, permissionFor.viewEnterpriseMembers);
  const isCount = request.first === 0;
  const { limit, offset } = offsetWindow(isCount ? { offset: request.offset } : request, limits);
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = [`${row}.enterprise_id = ${bind(viewer.enterpriseId)}`, ...where(bind)];
  const from = `${table} ${row} where ${conditions.join(' and ')}`;
  const [counted] = await store.query<{ total: number }>(`select count(*)::int as total from ${from}`, values);
  const direction = isDescending ? 'desc' : 'asc';
  const order = `order by ${sortColumn} ${direction}, ${row}.id ${direction} limit ${limit} offset ${bind(offset)}`;
  const items = isCount ? [] : await store.query<T>(`select ${columns} from ${from} ${order}`, values);
  return { items, total: counted?.total ?? 0, offset, limit };
}
