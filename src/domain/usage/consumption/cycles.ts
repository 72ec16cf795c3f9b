import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { type Issue, invalidInput } from '../../../common/errors.ts';
import type { Context } from '../../context.ts';
import {
  type Page,
  type PageLimits,
  type PageRequest,
  pageWindow,
  readCursor,
  toPage,
  writeCursor,
} from '../../pages.ts';

/** A period: from `startsAt` on, before `endsAt`. */
export interface Period {
  readonly startsAt: Date;
  readonly endsAt: Date;
}

const dayMs = 24 * 60 * 60 * 1_000;
/** Maximum length of the period of one request. */
export const maxDays = 400;

/** The cycle of a time: the calendar month in UTC. `offset` months later, or earlier if negative. */
export function cycleOf(at: Date, offset: number = 0): Period {
  const month = (add: number) => {
    const start = new Date(0);
    // Not Date.UTC, which maps the years 0 to 99 to 1900 to 1999.
    start.setUTCFullYear(at.getUTCFullYear(), at.getUTCMonth() + add, 1);
    return start;
  };
  return { startsAt: month(offset), endsAt: month(offset + 1) };
}

/** Bounds in a request: at or after, before. If both are omitted: the current cycle. */
export interface PeriodInput {
  readonly timeAfter?: Date | undefined;
  readonly timeBefore?: Date | undefined;
}

/**
 * Returns the period of a request. With one bound: to the end of the current cycle, or from the beginning of the cycle
 * that `timeBefore` ends in. Throws INVALID_INPUT if it ends before it begins, or is longer than 400 days.
 */
export function periodOf(context: Pick<Context, 'now'>, { timeAfter, timeBefore }: PeriodInput): Period {
  const issues: Issue[] = [];
  for (const [name, at] of Object.entries({ timeAfter, timeBefore })) {
    const year = at?.getUTCFullYear() ?? 2000;
    if (!(year >= 1970 && year <= 9999)) {
      issues.push({ path: [name], message: `"${name}" must be a time of the years 1970 to 9999.` });
    }
  }
  if (issues.length > 0) throw invalidInput(issues);
  const current = cycleOf(context.now());
  const beforeEnd = timeBefore && new Date(timeBefore.getTime() - 1);
  const startsAt = timeAfter ?? (beforeEnd ? cycleOf(beforeEnd).startsAt : current.startsAt);
  const endsAt = timeBefore ?? new Date(Math.max(current.endsAt.getTime(), startsAt.getTime()));
  const refused = (message: string) => invalidInput([{ path: ['timeBefore'], message }]);
  if (endsAt < startsAt) throw refused('"timeBefore" must not be before the period begins.');
  if (endsAt.getTime() - startsAt.getTime() > maxDays * dayMs) {
    throw refused(`"timeBefore" must be at most ${maxDays} days after the period begins.`);
  }
  return { startsAt, endsAt };
}

const list = 'cycles';

function readCycleCursor(text: string): Period | null {
  const [month] = readCursor(list, 1, text) ?? [];
  return month !== undefined && /^\d{4}-(?:0[1-9]|1[0-2])$/.test(month) ? cycleOf(new Date(`${month}-01`)) : null;
}

/**
 * Lists the enterprise's cycles, newest first: from the current one back to the enterprise's creation, or to the first
 * use if that is earlier. Throws FORBIDDEN without ViewAccountConsumption, and the errors of {@link pageWindow}.
 */
export async function listCycles(context: Context, request: PageRequest, limits: PageLimits): Promise<Page<Period>> {
  requireEnterprisePermission(context.viewer, permissionFor.viewEnterpriseConsumption);
  const window = pageWindow(request, limits, readCycleCursor);
  const [row] = await context.store.query<{ began: Date }>(
    `select least(e.created_at, (select u.used_at from usage u where u.enterprise_id = e.id order by u.used_at limit 1)) as began
       from enterprise e where e.id = $1`,
    [context.viewer.enterpriseId],
  );
  const newest = cycleOf(context.now());
  const oldest = cycleOf(row?.began ?? context.now());
  const isIn = (cycle: Period) =>
    cycle.startsAt >= oldest.startsAt &&
    cycle.startsAt <= newest.startsAt &&
    (window.before === null || cycle.startsAt > window.before.startsAt) &&
    (window.after === null || cycle.startsAt < window.after.startsAt);
  // From the requested end: within the cursors, and within the existing cycles.
  const step = window.backward ? 1 : -1;
  const earlierOf = (one: Period, other: Period) => (one.startsAt < other.startsAt ? one : other);
  const laterOf = (one: Period, other: Period) => (one.startsAt > other.startsAt ? one : other);
  let cycle = window.backward
    ? laterOf(oldest, window.before ? cycleOf(window.before.startsAt, 1) : oldest)
    : earlierOf(newest, window.after ? cycleOf(window.after.startsAt, -1) : newest);
  const cycles: Period[] = [];
  while (cycles.length <= window.limit && isIn(cycle)) {
    cycles.push(cycle);
    cycle = cycleOf(cycle.startsAt, step);
  }
  return toPage(cycles, window, ({ startsAt }) => writeCursor(list, startsAt.toISOString().slice(0, 7)));
}
