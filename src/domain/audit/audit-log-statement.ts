import { type PageWindow, readCursor, readTimeCursor, writeCursor } from '../pages.ts';
import { type AuditEntryRecord, entryActors, entryColumns } from './audit-entry.ts';

/** Conditions on the log; all of them must hold. Ids are unprefixed, times are bounds (after: >=, before: <). */
export interface AuditLogFilter {
  /** Entries with any of these actions; actions of the enumeration that are not recorded here match nothing. */
  readonly actions?: readonly string[] | undefined;
  /** A user, a service user or a key. */
  readonly actorId?: string | undefined;
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
}

/** An order of the log, and the form of its cursors. */
export interface EntryOrder<C> {
  readonly isAscending: boolean;
  readonly readCursor: (text: string) => C | null;
  readonly cursorOf: (entry: AuditEntryRecord) => string;
  /** The condition on the entry that a cursor refers to; null: a cursor is valid without its entry. */
  readonly isOf: ((cursor: C, bind: Bind) => string) | null;
  /**
   * An expression on the row `n` of the enterprise: true if the entry of a cursor is the last that was deleted when its retention ended, false
   * if later ones were deleted as well, and null otherwise.
   */
  readonly isLastForgotten: ((cursor: C, bind: Bind) => string) | null;
  /** The condition on entries beyond a cursor, in the direction of the operator. */
  readonly beyond: (operator: '<' | '>', cursor: C, bind: Bind) => string;
  readonly by: (direction: 'asc' | 'desc') => string;
  readonly conditions: (filter: AuditLogFilter, bind: Bind) => readonly string[];
}

type Bind = (value: unknown) => string;

/** A position in {@link byCommit}: the transaction that wrote an entry, and its id. */
export interface CommitPosition {
  readonly xid: string;
  readonly id: string;
}

/** By time: for pages from the newest entry backwards. */
export const byTime: EntryOrder<{ readonly at: Date; readonly id: string }> = {
  isAscending: false,
  readCursor: (text) => readTimeCursor('audit.desc', text),
  cursorOf: ({ createdAt, id }) => writeCursor('audit.desc', createdAt.getTime(), id),
  isOf: null,
  isLastForgotten: null,
  beyond: (operator, { at, id }, bind) =>
    `(e.created_at, e.id) ${operator} (${bind(at)}::timestamptz, ${bind(id)}::text)`,
  by: (direction) => `e.created_at ${direction}, e.id ${direction}`,
  conditions: () => [],
};

/**
 * The order of the transactions that wrote the entries (docs/wire/audit-log.md#following-it). An entry is shown once no
 * older transaction is open: from then on nothing can appear before it.
 */
export const byCommit = {
  isAscending: true,
  readCursor: readCommitCursor,
  cursorOf: ({ xid, id }: CommitPosition) => writeCursor('audit.asc', xid, id),
  // A database that was restored may lack the entry, and those before it.
  isOf: ({ xid, id }, bind) => `e.id = ${bind(id)} and e.xid = ${bind(xid)}::text::xid8`,
  isLastForgotten: ({ xid, id }, bind) =>
    `case when (n.forgotten_audit_xid, n.forgotten_audit_id) >= (${bind(xid)}::text::xid8, ${bind(id)}::text)
          then n.forgotten_audit_id = ${bind(id)} end`,
  beyond: (operator, { xid, id }, bind) => `(e.xid, e.id) ${operator} (${bind(xid)}::text::xid8, ${bind(id)}::text)`,
  by: (direction) => `e.xid ${direction}, e.id ${direction}`,
  conditions: (filter, bind) => ['e.xid < oldest_transaction()', ...xidBounds(filter, bind)],
} satisfies EntryOrder<CommitPosition>;

function readCommitCursor(text: string): CommitPosition | null {
  const parts = readCursor('audit.asc', 2, text);
  if (!parts) return null;
  const [xid, id] = parts as [string, string];
  // All numbers of eighteen digits are valid xid8 values, and no database has used more transactions.
  return /^\d{1,18}$/.test(xid) && /^[0-9a-z]{1,64}$/.test(id) ? { xid, id } : null;
}

/**
 * Converts a range of times to a range of transactions, so that the log is not read from its first entry. A transaction
 * lasts 30 s at most; the day allows for inaccurate clocks. The times themselves are compared as well.
 */
function xidBounds({ createdAfter, createdBefore }: AuditLogFilter, bind: Bind): string[] {
  const bounds: string[] = [];
  if (createdAfter) {
    bounds.push(`e.xid >= coalesce((select b.xid from audit_entry b where b.enterprise_id = $1
      and b.created_at < ${bind(createdAfter)}::timestamptz - interval '1 day'
      order by b.created_at desc, b.id desc limit 1), '0'::xid8)`);
  }
  if (createdBefore) {
    bounds.push(`e.xid <= coalesce((select b.xid from audit_entry b where b.enterprise_id = $1
      and b.created_at >= ${bind(createdBefore)}::timestamptz + interval '1 day'
      order by b.created_at, b.id limit 1), '18446744073709551615'::xid8)`);
  }
  return bounds;
}

/** A part of the log: the whole enterprise, or each of some organizations. */
interface AuditLogPart {
  readonly enterpriseId: string;
  readonly organizationIds: readonly string[] | null;
  readonly filter: AuditLogFilter;
}

/**
 * Returns one statement for a page of each scope, with one extra entry in each. `scopeNumber` counts the organizations
 * from 1; the enterprise is number 1.
 */
export function auditLogStatement<C>(
  order: EntryOrder<C>,
  { enterpriseId, organizationIds, filter }: AuditLogPart,
  window: PageWindow<C>,
): { sql: string; values: unknown[] } {
  const { isAscending } = order;
  const values: unknown[] = [enterpriseId];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const where = ['e.enterprise_id = $1', ...order.conditions(filter, bind), ...filterConditions(filter, bind)];
  if (window.after !== null) where.push(order.beyond(isAscending ? '>' : '<', window.after, bind));
  if (window.before !== null) where.push(order.beyond(isAscending ? '<' : '>', window.before, bind));
  const by = order.by(isAscending === window.backward ? 'desc' : 'asc');
  const limit = bind(window.limit + 1);
  const read = (...more: string[]) =>
    `select e.* from audit_entry e where ${[...where, ...more].join(' and ')} order by ${by} limit ${limit}`;

  const actions = filter.actions && bind([...new Set(filter.actions)]);
  const ofAny = actions === undefined ? [] : [`e.action = any(${actions}::text[])`];
  const entries = () => {
    if (organizationIds) return read('e.organization_id = scopes.id', ...ofAny);
    if (actions === undefined || isAscending) return read(...ofAny);
    // Reads the newest of each action, then merges them: a condition "any of" would read all entries between them.
    return `select e.* from unnest(${actions}::text[]) wanted (action)
      cross join lateral (${read('e.action = wanted.action')}) e order by ${by} limit ${limit}`;
  };
  const scopes = `unnest(${bind(organizationIds ?? [null])}::text[]) with ordinality scopes (id, position)`;
  const sql = `select scopes.position, ${entryColumns} from ${scopes} cross join lateral (${entries()}) e
    ${entryActors} order by scopes.position, ${by}`;
  return { sql, values };
}

/** The conditions of a filter on an `audit_entry` aliased `e`, without those on its action. */
export function filterConditions(filter: AuditLogFilter, bind: Bind): string[] {
  const where: string[] = [];
  const add = (value: unknown, condition: (parameter: string) => string) => {
    if (value !== undefined) where.push(condition(bind(value)));
  };
  add(filter.actorId, (p) => `(e.user_id = ${p} or e.service_user_id = ${p} or e.api_key_id = ${p})`);
  add(filter.createdAfter, (p) => `e.created_at >= ${p}::timestamptz`);
  add(filter.createdBefore, (p) => `e.created_at < ${p}::timestamptz`);
  return where;
}
