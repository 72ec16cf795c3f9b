import type { Reader } from '../../store/reader.ts';
import { type Row, selectFields } from '../../store/tables.ts';
import type { Context } from '../context.ts';
import type { Bind, RowSource } from '../nested-pages.ts';

/** Lifetime of a paging snapshot. */
const lifeMs = 10 * 60_000;
/** A snapshot younger than this is not replaced by an equal one, so that a client that polls writes little. */
const freshMs = 30_000;
/**
 * No session can be committed later than this after its creation time: transactions end after 30 seconds, and clocks
 * differ a little.
 */
const settlingMs = 60_000;

const snapshotFields = ['settledAt', 'settledId', 'headCount'] as const;

/**
 * Paging snapshot of a list by offset: the start of the list when its page at offset 0 was read. The list grows at its
 * head, so that the 300th session is another one a moment later; offsets count from the snapshot instead. `settledAt`
 * and `settledId` belong to the newest session before which none can be inserted any more, null if there is none.
 * `headCount` sessions were newer.
 */
export type PagingSnapshot = Pick<Row<'PagingSnapshot'>, (typeof snapshotFields)[number]>;

/** A list, and the key and filter that its paging snapshot belongs to. `conditions` are on a `session` aliased `s`. */
export interface OffsetList {
  readonly key: string;
  readonly organizationId: string;
  readonly enterpriseId: string;
  readonly conditions: (bind: Bind) => string[];
  /** The same sessions, where another table leads to them in their order. */
  readonly through?: ((bind: Bind) => RowSource) | undefined;
}

/** The columns of a {@link PagingSnapshot} of a row aliased `w`. */
const snapshotColumns = selectFields('PagingSnapshot', 'w', snapshotFields);

const find = `select ${snapshotColumns} from paging_snapshot w where w.key = $1 and w.started_at >= $2::timestamptz`;

/**
 * Returns the paging snapshot that an offset above 0 counts from; null: there is none, and the offset counts from the
 * current list. It is stored in the database, so that any process can answer.
 */
export async function findPagingSnapshot(
  context: Pick<Context, 'now'> & { readonly store: Pick<Reader, 'query'> },
  { key }: Pick<OffsetList, 'key'>,
): Promise<PagingSnapshot | null> {
  const [snapshot] = await context.store.query<PagingSnapshot>(find, [key, past(context, lifeMs)]);
  return snapshot ?? null;
}

/**
 * Returns the CTEs that replace the paging snapshot, for the statement that reads the page at offset 0: page and
 * snapshot are of the same moment.
 */
export function replaceSnapshotSql(context: Context, list: OffsetList, bind: Bind): string {
  const where = list.conditions(bind).join(' and ');
  const key = `${bind(list.key)}::text`;
  const settledBefore = `${bind(past(context, settlingMs))}::timestamptz`;
  const columns = 'settled_at, settled_id, head_count, started_at';
  return `
    settled as (
      select s.created_at, s.id from session s where ${where} and s.created_at < ${settledBefore}
       order by s.created_at desc, s.id desc limit 1),
    replacement as (
      select (select created_at from settled) as settled_at, (select id from settled) as settled_id,
             (select count(*)::int from session s where ${where} and s.created_at >= ${settledBefore}) as head_count),
    kept as (
      insert into paging_snapshot (key, organization_id, ${columns})
      select ${key}, ${bind(list.organizationId)}::text, settled_at, settled_id, head_count,
             ${bind(context.now())}::timestamptz
        from replacement where not exists (
          select from paging_snapshot w where w.key = ${key} and w.started_at >= ${bind(past(context, freshMs))}::timestamptz
             and (w.settled_id, w.head_count) is not distinct from (replacement.settled_id, replacement.head_count))
      on conflict (key) do update set (${columns}) = (${columns.replaceAll(/\w+/g, 'excluded.$&')}))`;
}

function past({ now }: Pick<Context, 'now'>, ms: number): Date {
  return new Date(now().getTime() - ms);
}

/** Deletes expired paging snapshots. */
export async function deleteOldPagingSnapshots(context: Pick<Context, 'store' | 'now'>): Promise<void> {
  await context.store.execute('delete from paging_snapshot where started_at < $1::timestamptz', [
    past(context, lifeMs),
  ]);
}
