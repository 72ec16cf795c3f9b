import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import { type OffsetPage, type OffsetRequest, offsetWindow } from '../../offset-pages.ts';
import type { PageLimits } from '../../pages.ts';

type Bind = (value: unknown) => string;

/** The rows of a list for a directory. */
interface ListedRows {
  readonly table: 'user_account' | 'idp_group';
  /** The alias of the table. */
  readonly row: 'u' | 'g';
  readonly columns: string;
  readonly where: (bind: Bind) => readonly string[];
}

/**
 * Lists rows of the enterprise for a directory, the oldest first, for a viewer that may see the members of the enterprise. `first` 0:
 * only their number. Throws FORBIDDEN, INVALID_INPUT.
 */
export async function listResources<T>(
  { viewer, store }: Context,
  { table, row, columns, where }: ListedRows,
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
  const order = `order by ${row}.created_at, ${row}.id limit ${limit} offset ${bind(offset)}`;
  const items = isCount ? [] : await store.query<T>(`select ${columns} from ${from} ${order}`, values);
  return { items, total: counted?.total ?? 0, offset, limit };
}
