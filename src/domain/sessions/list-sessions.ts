import { permissionFor } from '../../auth/permissions.ts';
import type { Context } from '../context.ts';
import { type Issue, invalidInput } from '../errors.ts';
import { useOrganization } from '../organizations/use-organization.ts';
import {
  type Page,
  type PageLimits,
  type PageRequest,
  pageWindow,
  readTimeCursor,
  toPage,
  writeCursor,
} from '../pages.ts';
import { type SessionOrigin, type SessionRecord, sessionColumns } from './session.ts';
import type { SessionStatus } from './status.ts';

/** What narrows a list of sessions; every condition given must hold. Ids are bare, times are bounds (after: >=, before: <). */
export interface SessionFilter {
  readonly status?: readonly SessionStatus[] | undefined;
  /** Sessions with any of them. */
  readonly tags?: readonly string[] | undefined;
  readonly isArchived?: boolean | undefined;
  readonly origins?: readonly SessionOrigin[] | undefined;
  readonly playbookId?: string | undefined;
  readonly automationIds?: readonly string[] | undefined;
  readonly parentId?: string | undefined;
  /** Sessions of any of these users or service users. */
  readonly createdByIds?: readonly string[] | undefined;
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
  readonly updatedAfter?: Date | undefined;
  readonly updatedBefore?: Date | undefined;
  /** Part of the title, upper and lower case alike. */
  readonly search?: string | undefined;
  /** Only these; unlisted ones among them are shown. */
  readonly sessionIds?: readonly string[] | undefined;
  /** The email of the user who started it (v1's newer clients). */
  readonly userEmail?: string | undefined;
}

/** Newest first by creation unless said otherwise. */
export interface SessionOrder {
  readonly field: 'createdAt' | 'updatedAt';
  readonly direction: 'asc' | 'desc';
}

/** A page of sessions of one organization, by cursor, or by `offset` for the wires that have no cursors. */
export interface SessionListRequest extends PageRequest {
  readonly organizationId: string;
  readonly filter?: SessionFilter | undefined;
  readonly order?: SessionOrder | undefined;
  readonly offset?: number | undefined;
}

const newestFirst: SessionOrder = { field: 'createdAt', direction: 'desc' };
const columns = { createdAt: 's.created_at', updatedAt: 's.updated_at' } as const;

/** Sessions of an organization. ORGANIZATION_NOT_USABLE, FORBIDDEN, and the errors of {@link pageWindow}. */
export async function listSessions(
  context: Context,
  request: SessionListRequest,
  limits: PageLimits,
): Promise<Page<SessionRecord>> {
  const { id: organizationId } = await useOrganization(context, request.organizationId, permissionFor.viewSession);
  const order = request.order ?? newestFirst;
  checkFilter(request.filter ?? {});
  const list = `sessions.${order.field}`;
  const window = pageWindow(request, limits, (text) => readTimeCursor(list, text));
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const descending = (order.direction === 'desc') !== window.backward;
  const column = columns[order.field];
  const where = [`s.organization_id = ${bind(organizationId)}`, ...filterConditions(request.filter ?? {}, bind)];
  if (window.after)
    where.push(beyond(column, order.direction === 'desc', bind(window.after.at), bind(window.after.id)));
  if (window.before)
    where.push(beyond(column, order.direction !== 'desc', bind(window.before.at), bind(window.before.id)));
  const direction = descending ? 'desc' : 'asc';
  const rows = await context.store.query<SessionRecord>(
    `select ${sessionColumns} from session s where ${where.join(' and ')}
      order by ${column} ${direction}, s.id ${direction} limit ${bind(window.limit + 1)} offset ${bind(request.offset ?? 0)}`,
    values,
  );
  return toPage(rows, window, (session) => writeCursor(list, session[order.field].getTime(), session.id));
}

function beyond(column: string, descending: boolean, at: string, id: string): string {
  return `(${column}, s.id) ${descending ? '<' : '>'} (${at}::timestamptz, ${id}::text)`;
}

// PostgreSQL has no NUL in text and its own bounds of time: what lies beyond is said here, not by a failing statement.
function checkFilter(filter: SessionFilter): void {
  const issues: Issue[] = [];
  for (const name of ['createdAfter', 'createdBefore', 'updatedAfter', 'updatedBefore'] as const) {
    const year = filter[name]?.getUTCFullYear() ?? 2000;
    if (!(year >= 1 && year <= 9999))
      issues.push({ path: ['filter', name], message: `"${name}" must be a time of the years 1 to 9999.` });
  }
  const texts = [
    ['search', filter.search === undefined ? [] : [filter.search]],
    ['tags', filter.tags ?? []],
    ['userEmail', filter.userEmail === undefined ? [] : [filter.userEmail]],
  ] as const;
  for (const [name, values] of texts) {
    if (values.some((value) => value.includes('\u0000') || !value.isWellFormed())) {
      issues.push({
        path: ['filter', name],
        message: `"${name}" must be Unicode text without NUL characters and lone surrogates.`,
      });
    }
  }
  if (issues.length > 0) throw invalidInput(issues);
}

function filterConditions(filter: SessionFilter, bind: (value: unknown) => string): string[] {
  const where: string[] = [];
  const add = <T>(value: T | undefined, condition: (parameter: string) => string) => {
    if (value !== undefined) where.push(condition(bind(value)));
  };
  if (filter.sessionIds === undefined) where.push('not s.is_unlisted');
  add(filter.sessionIds, (p) => `s.id = any(${p}::text[])`);
  add(filter.status, (p) => `s.status = any(${p}::text[])`);
  add(filter.isArchived, (p) => `s.is_archived = ${p}::boolean`);
  add(filter.origins, (p) => `s.origin = any(${p}::text[])`);
  add(filter.playbookId, (p) => `s.playbook_id = ${p}`);
  add(filter.automationIds, (p) => `s.automation_id = any(${p}::text[])`);
  add(filter.parentId, (p) => `s.parent_id = ${p}`);
  add(filter.createdByIds, (p) => `(s.user_id = any(${p}::text[]) or s.service_user_id = any(${p}::text[]))`);
  add(filter.createdAfter, (p) => `s.created_at >= ${p}::timestamptz`);
  add(filter.createdBefore, (p) => `s.created_at < ${p}::timestamptz`);
  add(filter.updatedAfter, (p) => `s.updated_at >= ${p}::timestamptz`);
  add(filter.updatedBefore, (p) => `s.updated_at < ${p}::timestamptz`);
  add(filter.search, (p) => `strpos(lower(s.title), lower(${p}::text)) > 0`);
  add(
    filter.userEmail,
    (p) => `s.user_id in (select u.id from user_account u where lower(u.email) = lower(${p}::text))`,
  );
  add(
    filter.tags,
    (
      p,
    ) => `exists (select 1 from session_tag t where t.organization_id = s.organization_id and t.tag = any(${p}::text[])
              and t.created_at = s.created_at and t.session_id = s.id)`,
  );
  return where;
}
