import { permissionFor } from '../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../auth/viewer.ts';
import { fieldsOf, type Row, selectFields } from '../../store/tables.ts';
import type { Context } from '../context.ts';
import { inOrderOf } from '../find-by-ids.ts';
import { checkListFilter, type ListFilter, listFilterConditions } from '../list-filter.ts';
import type { NestedList } from '../nested-pages.ts';
import { inOrder, type ListOrder } from '../sorted-pages.ts';

/** The kinds of targets of a legal hold. */
export const legalHoldKinds = ['SESSION', 'ORGANIZATION', 'USER'] as const;
/** See {@link legalHoldKinds}. */
export type LegalHoldKind = (typeof legalHoldKinds)[number];

/** A legal hold: while it lasts, nothing of its target is deleted. */
export interface LegalHoldRecord extends Row<'LegalHold'> {
  readonly kind: LegalHoldKind;
}

/** The columns of a {@link LegalHoldRecord} of a `legal_hold` aliased `h`. */
export const legalHoldColumns = selectFields('LegalHold', 'h', fieldsOf('LegalHold'));

/** Returns the holds of these unprefixed ids that the viewer may see, in the ids' order; null for each other id. */
export async function findLegalHolds(
  { viewer, store }: Pick<Context, 'viewer' | 'store'>,
  ids: readonly string[],
): Promise<(LegalHoldRecord | null)[]> {
  if (!viewer.enterprisePermissions.has(permissionFor.manageLegalHolds)) return ids.map(() => null);
  const rows = await store.query<LegalHoldRecord>(
    `select ${legalHoldColumns} from legal_hold h where h.id = any($1::text[]) and h.enterprise_id = $2`,
    [ids, viewer.enterpriseId],
  );
  return inOrderOf(ids, rows);
}

/** Conditions of a list of holds. `search`: in the reason. */
export interface LegalHoldFilter extends ListFilter {
  readonly isReleased?: boolean | undefined;
}

/** Returns the holds of the viewer's enterprise as a nested list. Throws FORBIDDEN, INVALID_INPUT. */
export function legalHoldsOf(
  { viewer }: Context,
  filter: LegalHoldFilter = {},
  order?: ListOrder<'createdAt'> | null,
): NestedList<LegalHoldRecord> {
  requireEnterprisePermission(viewer, permissionFor.manageLegalHolds);
  checkListFilter(filter);
  const { isReleased } = filter;
  return {
    ...inOrder('legalHolds', order, {}),
    key: `legal holds ${JSON.stringify([filter, order])}`,
    ownerId: viewer.enterpriseId,
    row: 'h',
    table: 'legal_hold',
    columns: legalHoldColumns,
    owners: () => '',
    where: (bind) => [
      'h.enterprise_id = owner.id',
      ...(isReleased === undefined ? [] : [`(h.released_at is not null) = ${bind(isReleased)}::boolean`]),
      ...listFilterConditions('h', filter, ['reason'], bind),
    ],
  };
}
