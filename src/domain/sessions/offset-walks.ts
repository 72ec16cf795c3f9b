import type { Transaction } from '../../store/store.ts';
import type { Context } from '../context.ts';
import type { Bind, RowSource } from '../nested-pages.ts';

/** How long a walk lasts: whoever still asks for pages after that begins another. */
const lifeMs = 10 * 60_000;
/** How long a walk that began in its middle waits for its first page: until then that page may be the one of a parallel walk. */
const firstPageMs = 10_000;
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
  readonly hasBegun: boolean;
  readonly startedAt: Date;
}

/** A list and who walks through it. `conditions` are on a `session` aliased `s`. */
export interface WalkedList {
  readonly key: string;
  readonly organizationId: string;
  readonly conditions: (bind: Bind) => string[];
  /** The same sessions, where another table leads to them in their order. */
  readonly through?: ((bind: Bind) => RowSource) | undefined;
}

const find = `
  select settled_at as "settledAt", settled_id as "settledId", head_count as "headCount", has_begun as "hasBegun",
         started_at as "startedAt" from offset_walk where key = $1`;

/**
 * The walk that a page at this offset is of. The page at 0 begins a new one, unless one is there that still lacks it: ten
 * pages that are asked for at once come in any order. Kept in the database, so that it does not matter which process is asked.
 */
export async function findOrBeginWalk(context: Context, list: WalkedList, offset: number): Promise<OffsetWalk> {
  const [known] = await context.store.query<OffsetWalk>(find, [list.key]);
  if (known && offset > 0 && isOf(context, known, offset)) return known;
  return context.store.transact(async (tx) => {
    // Whoever comes at the same time waits here, and finds what the first one began.
    await tx.query(
      `insert into offset_walk (key, organization_id, head_count, has_begun, started_at) values ($1, $2, 0, false, 'epoch')
       on conflict do nothing`,
      [list.key, list.organizationId],
    );
    const [current] = await tx.query<OffsetWalk>(`${find} for update`, [list.key]);
    if (current && isOf(context, current, offset)) {
      if (offset === 0) await tx.query('update offset_walk set has_begun = true where key = $1', [list.key]);
      return current;
    }
    const walk = await begin(context, tx, list, offset);
    await tx.query(
      `update offset_walk set settled_at = $2::timestamptz, settled_id = $3, head_count = $4::int, has_begun = $5::boolean,
              started_at = $6::timestamptz where key = $1`,
      [list.key, walk.settledAt, walk.settledId, walk.headCount, walk.hasBegun, walk.startedAt],
    );
    return walk;
  });
}

function isOf(context: Context, walk: OffsetWalk, offset: number): boolean {
  const ageMs = context.now().getTime() - walk.startedAt.getTime();
  if (offset === 0) return !walk.hasBegun && ageMs <= firstPageMs;
  return ageMs <= lifeMs;
}

async function begin(context: Context, tx: Transaction, list: WalkedList, offset: number): Promise<OffsetWalk> {
  const startedAt = context.now();
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const where = list.conditions(bind).join(' and ');
  const settledBefore = bind(new Date(startedAt.getTime() - settlingMs));
  const [row] = await tx.query<Pick<OffsetWalk, 'settledAt' | 'settledId' | 'headCount'>>(
    `with settled as (
       select s.created_at, s.id from session s where ${where} and s.created_at < ${settledBefore}::timestamptz
        order by s.created_at desc, s.id desc limit 1)
     select (select created_at from settled) as "settledAt", (select id from settled) as "settledId",
            (select count(*)::int from session s where ${where} and s.created_at >= ${settledBefore}::timestamptz) as "headCount"`,
    values,
  );
  return { settledAt: null, settledId: null, headCount: 0, ...row, hasBegun: offset === 0, startedAt };
}

/** Forgets walks that are past their time. */
export async function forgetOffsetWalks({ store, now }: Pick<Context, 'store' | 'now'>): Promise<void> {
  await store.execute('delete from offset_walk where started_at < $1::timestamptz', [
    new Date(now().getTime() - lifeMs),
  ]);
}
