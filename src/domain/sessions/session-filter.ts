import { type Issue, invalidInput } from '../errors.ts';
import type { SessionOrigin } from './session.ts';
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
  /** Terminated or expired, or not. */
  readonly isOver?: boolean | undefined;
  /** Only these; unlisted ones among them are shown. */
  readonly sessionIds?: readonly string[] | undefined;
  /** The email of the user who started it (v1's newer clients). */
  readonly userEmail?: string | undefined;
}

/** INVALID_INPUT for what no statement can take: PostgreSQL has no NUL in text, and its own bounds of time. */
export function checkFilter(filter: SessionFilter): void {
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

/** The conditions of a filter on when a session was made, on the column that says so. */
export function createdBounds(
  { createdAfter, createdBefore }: Pick<SessionFilter, 'createdAfter' | 'createdBefore'>,
  column: string,
  bind: (value: unknown) => string,
): string[] {
  return [
    ...(createdAfter ? [`${column} >= ${bind(createdAfter)}::timestamptz`] : []),
    ...(createdBefore ? [`${column} < ${bind(createdBefore)}::timestamptz`] : []),
  ];
}

/** The conditions of a filter on when a session moved last, on the column that says so: of `session` or `session_change`. */
export function updatedBounds(
  { updatedAfter, updatedBefore }: Pick<SessionFilter, 'updatedAfter' | 'updatedBefore'>,
  column: string,
  bind: (value: unknown) => string,
): string[] {
  return [
    ...(updatedAfter ? [`${column} >= ${bind(updatedAfter)}::timestamptz`] : []),
    ...(updatedBefore ? [`${column} < ${bind(updatedBefore)}::timestamptz`] : []),
  ];
}

/** The conditions on a `session` aliased `s`, of sessions of this enterprise; `bind` gives a value's parameter. */
export function filterConditions(
  filter: SessionFilter,
  enterpriseId: string,
  bind: (value: unknown) => string,
): string[] {
  const where: string[] = [];
  const add = <T>(value: T | undefined, condition: (parameter: string) => string) => {
    if (value !== undefined) where.push(condition(bind(value)));
  };
  // One value by `=`: only so does an index give its rows in the list's order.
  const addOneOf = <T>(column: string, values: readonly T[] | undefined) => {
    if (values?.length === 1) where.push(`${column} = ${bind(values[0])}::text`);
    else add(values, (p) => `${column} = any(${p}::text[])`);
  };
  if (filter.sessionIds === undefined) where.push('not s.is_unlisted');
  addOneOf('s.id', filter.sessionIds);
  addOneOf('s.status', filter.status);
  add(filter.isArchived, (p) => `s.is_archived = ${p}::boolean`);
  add(filter.isOver, (p) => `coalesce(s.ended_by in ('terminated', 'expired'), false) = ${p}::boolean`);
  addOneOf('s.origin', filter.origins);
  add(filter.playbookId, (p) => `s.playbook_id = ${p}`);
  addOneOf('s.automation_id', filter.automationIds);
  add(filter.parentId, (p) => `s.parent_id = ${p}`);
  add(filter.createdByIds, (p) => `(s.user_id = any(${p}::text[]) or s.service_user_id = any(${p}::text[]))`);
  where.push(...createdBounds(filter, 's.created_at', bind));
  const moved = updatedBounds(filter, 'c.updated_at', bind);
  if (moved.length > 0) {
    // Of what has moved lately there is little, which the copy finds; of what has not there is much, and for what a list passes
    // over before it, the session's own column spares the look.
    where.push(...updatedBounds({ updatedBefore: filter.updatedBefore }, 's.updated_at', bind));
    where.push(`exists (select 1 from session_change c
      where ${['c.session_id = s.id', 'c.organization_id = s.organization_id', ...moved].join(' and ')})`);
  }
  add(filter.search, (p) => `strpos(lower(s.title), lower(${p}::text)) > 0`);
  add(
    filter.userEmail,
    (p) =>
      `s.user_id = any(array(select u.id from user_account u
         where u.enterprise_id = ${bind(enterpriseId)} and lower(u.email) = lower(${p}::text)))`,
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
