import { permissionFor } from '../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../auth/viewer.ts';
import { DomainError, type Issue, invalidInput, notFound } from '../../common/errors.ts';
import type { Reader } from '../../store/reader.ts';
import type { Context } from '../context.ts';
import { inOrderOf } from '../find-by-ids.ts';
import { parseId } from '../ids.ts';
import { oneOfConditions } from '../list-filter.ts';
import type { CountedList } from '../nested-pages.ts';
import { badCursor, type Page, type PageLimits, type PageRequest, pageWindow, toPage } from '../pages.ts';
import { isAuditAction } from './audit-actions.ts';
import { type AuditEntryRecord, entryActors, entryColumns } from './audit-entry.ts';
import {
  type AuditLogFilter,
  auditLogStatement,
  byCommit,
  byTime,
  type EntryOrder,
  filterConditions,
} from './audit-log-statement.ts';

/** A part of the log, newest first by default. */
export interface AuditLogRequest extends PageRequest {
  readonly filter?: AuditLogFilter | undefined;
  /**
   * `desc`: by time. `asc`: in the order in which the entries became final, roughly that of time. A reader that continues
   * from its last cursor misses nothing, not even what was committed late (docs/wire/audit-log.md#following-it).
   */
  readonly order?: 'asc' | 'desc' | undefined;
}

/**
 * Lists a page of the enterprise's audit log, or of one organization's, by its id in any form. Throws FORBIDDEN;
 * NOT_FOUND for an organization of another enterprise; INVALID_INPUT; and the errors of {@link pageWindow}. An
 * ascending reader gets BAD_CURSOR for the cursor of an entry that a restored database lacks, and of one after which entries were deleted.
 */
export async function listAuditLog(
  context: Context,
  request: AuditLogRequest & { readonly organizationId?: string | undefined },
  limits: PageLimits,
): Promise<Page<AuditEntryRecord>> {
  requireEnterprisePermission(context.viewer, permissionFor.viewAuditLog);
  const ids =
    request.organizationId === undefined ? null : [await getOwnOrganizationId(context, request.organizationId)];
  const [page] = await readPages(context, ids, request, limits);
  return page as Page<AuditEntryRecord>;
}

/**
 * Lists a page for each of these organizations, by unprefixed ids, in one statement. An organization of another
 * enterprise has no entries.
 */
export async function listAuditLogs(
  context: Context,
  organizationIds: readonly string[],
  request: AuditLogRequest,
  limits: PageLimits,
): Promise<Page<AuditEntryRecord>[]> {
  requireEnterprisePermission(context.viewer, permissionFor.viewAuditLog);
  return readPages(context, organizationIds, request, limits);
}

/**
 * Returns the enterprise's audit log, or an organization's by its unprefixed id, as a list to count. Throws FORBIDDEN,
 * INVALID_INPUT.
 */
export function auditLogOf(
  { viewer }: Context,
  organizationId: string | null,
  filter: AuditLogFilter = {},
): CountedList {
  requireEnterprisePermission(viewer, permissionFor.viewAuditLog);
  checkFilter(filter);
  const actions = filter.actions && [...new Set(filter.actions)];
  return {
    key: `audit log ${JSON.stringify([organizationId === null, filter])}`,
    ownerId: organizationId ?? viewer.enterpriseId,
    row: 'e',
    table: 'audit_entry',
    owners: () => '',
    where: (bind) => [
      `e.enterprise_id = ${bind(viewer.enterpriseId)}`,
      ...(organizationId === null ? [] : ['e.organization_id = owner.id']),
      ...oneOfConditions('e.action', actions, bind),
      ...filterConditions(filter, bind),
    ],
  };
}

/** Returns the entries of these unprefixed ids, in the ids' order; null for each that the viewer may not see. */
export async function findAuditEntries(context: Context, ids: readonly string[]): Promise<(AuditEntryRecord | null)[]> {
  const { viewer } = context;
  if (!viewer.enterprisePermissions.has(permissionFor.viewAuditLog)) return ids.map(() => null);
  const rows = await context.store.query<AuditEntryRecord>(
    `select ${entryColumns} from audit_entry e ${entryActors} where e.id = any($1::text[]) and e.enterprise_id = $2`,
    [ids, viewer.enterpriseId],
  );
  return inOrderOf(ids, rows);
}

/** Returns the unprefixed id of an organization of the viewer's enterprise. Throws NOT_FOUND. */
export async function getOwnOrganizationId(context: Context, id: string): Promise<string> {
  const [organization] = await context.store.query<{ id: string }>(
    'select o.id from organization o where o.id = $1 and o.enterprise_id = $2 and o.deleted_at is null',
    [parseId('organization', id), context.viewer.enterpriseId],
  );
  if (!organization) throw notFound('organization');
  return organization.id;
}

function readPages(
  context: Context,
  organizationIds: readonly string[] | null,
  request: AuditLogRequest,
  limits: PageLimits,
): Promise<Page<AuditEntryRecord>[]> {
  checkFilter(request.filter ?? {});
  return request.order === 'asc'
    ? readOrdered(context, organizationIds, request, limits, byCommit)
    : readOrdered(context, organizationIds, request, limits, byTime);
}

async function readOrdered<C>(
  context: Context,
  organizationIds: readonly string[] | null,
  request: AuditLogRequest,
  limits: PageLimits,
  order: EntryOrder<C>,
): Promise<Page<AuditEntryRecord>[]> {
  const window = pageWindow(request, limits, order.readCursor);
  const { enterpriseId } = context.viewer;
  const { sql, values } = auditLogStatement(
    order,
    { enterpriseId, organizationIds, filter: request.filter ?? {} },
    window,
  );
  const rows = await context.store.readList(async (store) => {
    for (const name of ['after', 'before'] as const) {
      await requireEntryOf({ store, enterpriseId }, order, { name, cursor: window[name], text: request[name] ?? '' });
    }
    return store.query<AuditEntryRecord & { position: number }>(sql, values);
  });
  return (organizationIds ?? [null]).map((_, index) => {
    const entries = rows.filter(({ position }) => position === index + 1);
    return toPage<C, AuditEntryRecord>(entries, window, order.cursorOf);
  });
}

/** A cursor in the argument `name`; null: there is none. */
interface ReadCursor<C> {
  readonly name: 'after' | 'before';
  readonly cursor: C | null;
  /** As received. */
  readonly text: string;
}

/**
 * Throws BAD_CURSOR for a cursor without an entry, in an order whose cursors need one. The cursor of the last entry that was deleted
 * when its retention ended is valid: nothing after it was deleted.
 */
export async function requireEntryOf<C>(
  { store, enterpriseId }: { readonly store: Pick<Reader, 'query'>; readonly enterpriseId: string },
  { isOf, isLastForgotten }: Pick<EntryOrder<C>, 'isOf' | 'isLastForgotten'>,
  { name, cursor, text }: ReadCursor<C>,
): Promise<void> {
  if (cursor === null || isOf === null || isLastForgotten === null) return;
  const values: unknown[] = [enterpriseId];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const [found] = await store.query<{ isThere: boolean; isLastForgotten: boolean | null }>(
    `select exists (select 1 from audit_entry e where e.enterprise_id = $1 and ${isOf(cursor, bind)}) as "isThere",
            ${isLastForgotten(cursor, bind)} as "isLastForgotten" from enterprise n where n.id = $1`,
    values,
  );
  if (found?.isThere === true || found?.isLastForgotten === true) return;
  if (found?.isLastForgotten !== false) throw badCursor(name, text);
  const message = `Entries after the cursor "${name}" were deleted when their retention ended. Begin again without a cursor.`;
  throw new DomainError('BAD_CURSOR', message, [{ path: [name], message }]);
}

// PostgreSQL has its own bounds of time: times beyond them are refused here, before the statement fails.
function checkFilter(filter: AuditLogFilter): void {
  const issues: Issue[] = [];
  for (const name of ['createdAfter', 'createdBefore'] as const) {
    const year = filter[name]?.getUTCFullYear() ?? 2000;
    if (!(year >= 1 && year <= 9999)) {
      issues.push({ path: ['filter', name], message: `"${name}" must be a time of the years 1 to 9999.` });
    }
  }
  for (const action of filter.actions ?? []) {
    if (isAuditAction(action)) continue;
    const shown = JSON.stringify(action.slice(0, 60));
    issues.push({ path: ['action'], message: `"action" must be an action of the audit log, but ${shown} is none.` });
  }
  if (issues.length > 0) throw invalidInput(issues);
}
