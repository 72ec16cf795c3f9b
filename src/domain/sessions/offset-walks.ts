import type { Context } from '../context.ts';
import type { Bind, RowSource } from '../nested-pages.ts';
import { isLiveOrganization } from '../organizations/read-within.ts';

/** How long a walk lasts: whoever still asks for pages after that begins another. */
const lifeMs = 10 * 60_000;
/** How long a walk that began in its middle waits for its first page: until then that page may be the one of a parallel walk. */
const firstPageMs = 10_000;
/** So old a walk may be that is not written again by a page at 0 where it would be the same: who looks at a list again and again writes little. */
const freshMs = 30_000;
/** After so long no session can come that was made before: a transaction ends within 30 seconds, and clocks differ a little. */
const settlingMs = 60_000;

/**
 * Where a walk through a list by offset began. The list grows at its head, so that "the 300th" is another one a moment
 * later: offsets count from here instead. `settledAt` and `settledId` are of the newest session that nothing can come before
 * any more, null when there is none; `headCount` sessions were newer.
 */
export interface OffsetWalk {
  readonly settledAt: Date | null;
  readonly settledId: string | null;
  readonly headCount: number;
}

/** A list and who walks through it. `conditions` are on a `session` aliased `s`. */
export interface WalkedList {
  readonly key: string;
  readonly organizationId: string;
  readonly enterpriseId: string;
  readonly conditions: (bind: Bind) => string[];
  /** The same sessions, where another table leads to them in their order. */
  readonly through?: ((bind: Bind) => RowSource) | undefined;
}

/** The columns of an {@link OffsetWalk} of what is aliased `w`. */
const walkColumns = 'w.settled_at as "settledAt", w.settled_id as "settledId", w.head_count as "headCount"';

const find = `select ${walkColumns} from offset_walk w where w.key = $1 and w.started_at >= $2::timestamptz`;

/** A walk where there is nothing. */
const nowhere: OffsetWalk = { settledAt: null, settledId: null, headCount: 0 };

/**
 * The walk that a page at this offset, which is not 0, is of: the one that is known, or one that begins now. Kept in the
 * database, so that it does not matter which process is asked.
 */
export async function findOrBeginWalk(context: Context, list: WalkedList): Promise<OffsetWalk> {
  const [known] = await context.store.query<OffsetWalk>(find, [list.key, past(context, lifeMs)]);
  if (known) return known;
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const unlessGone = isLiveOrganization(bind(list.organizationId), bind(list.enterpriseId));
  const ctes = beginning(context, list, bind, { isFirstPage: false, condition: unlessGone });
  const [walk] = await context.store.execute<OffsetWalk>(`with ${ctes} select ${walkColumns} from kept w`, values);
  return walk ?? nowhere;
}

/**
 * What a statement that reads the page at 0, as `page` with one row more than `limit`, begins a walk with. That page begins a new
 * one, unless one is there that still lacks it: ten pages that are asked for at once come in any order. A list of one page
 * needs none. `columns` are of the walk that the page is of, where that is another than began here: an {@link OffsetWalk},
 * or null in all.
 */
export function beginningWithPage(context: Context, list: WalkedList, bind: Bind, limit: string) {
  const ctes = beginning(context, list, bind, {
    isFirstPage: true,
    condition: `(select count(*) from page) > ${limit} and not exists (
      select from offset_walk w where w.key = ${bind(list.key)} and w.has_begun
         and w.started_at >= ${bind(past(context, freshMs))}::timestamptz and ${isSame})`,
  });
  return { ctes, other: `select ${walkColumns} from kept w, walk where not (${isSame})` };
}

const isSame = '(w.settled_id, w.head_count) is not distinct from (walk.settled_id, walk.head_count)';

/**
 * `walk`, which would begin now, and `kept`, which is there after it: no row unless the condition holds. One statement, which
 * waits for others that begin the same one at the same time, and finds what the first of them began.
 */
function beginning(
  context: Context,
  list: WalkedList,
  bind: Bind,
  { isFirstPage, condition }: { isFirstPage: boolean; condition: string },
): string {
  const where = list.conditions(bind).join(' and ');
  const settledBefore = `${bind(past(context, settlingMs))}::timestamptz`;
  const keptFrom = `${bind(past(context, isFirstPage ? firstPageMs : lifeMs))}::timestamptz`;
  const isOf = `w.started_at >= ${keptFrom} and not (w.has_begun and excluded.has_begun)`;
  const kept = ['settled_at', 'settled_id', 'head_count', 'started_at'].map(
    (column) => `${column} = case when ${isOf} then w.${column} else excluded.${column} end`,
  );
  return `
    settled as (
      select s.created_at, s.id from session s where ${where} and s.created_at < ${settledBefore}
       order by s.created_at desc, s.id desc limit 1),
    walk as (
      select (select created_at from settled) as settled_at, (select id from settled) as settled_id,
             (select count(*)::int from session s where ${where} and s.created_at >= ${settledBefore}) as head_count),
    kept as (
      insert into offset_walk as w (key, organization_id, settled_at, settled_id, head_count, has_begun, started_at)
      select ${bind(list.key)}::text, ${bind(list.organizationId)}::text, settled_at, settled_id, head_count, ${isFirstPage},
             ${bind(context.now())}::timestamptz
        from walk where ${condition}
      on conflict (key) do update set ${kept.join(', ')},
             has_begun = excluded.has_begun or (w.has_begun and ${isOf})
      returning w.*)`;
}

function past({ now }: Pick<Context, 'now'>, ms: number): Date {
  return new Date(now().getTime() - ms);
}

/** Forgets walks that are past their time. */
export async function forgetOffsetWalks(context: Pick<Context, 'store' | 'now'>): Promise<void> {
  await context.store.execute('delete from offset_walk where started_at < $1::timestamptz', [past(context, lifeMs)]);
}
