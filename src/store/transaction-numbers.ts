/**
 * Numbers that are left out when a database continues in another cluster. The original may have used them since the copy was made,
 * and clients may have them in cursors. More than a cluster uses in years; a cursor has room for a hundred million copies.
 */
const skipped = 2n ** 32n;

/**
 * Makes the numbers of transactions continue after `largest`, the largest one of the original: cursors stay valid, and what is
 * written from now on comes after each of them. Changes nothing if the cluster has larger numbers by itself.
 */
export async function continueTransactionNumbers(
  query: (sql: string) => Promise<unknown>,
  largest: bigint,
): Promise<void> {
  const rows = await query('select pg_snapshot_xmin(pg_current_snapshot())::text as xmin');
  const [{ xmin }] = rows as [{ readonly xmin: string }];
  const difference = largest + skipped - BigInt(xmin);
  const offset = difference > 0n ? difference : 0n;
  // The body of a function has no parameters. Its statements are planned again once it is replaced.
  await query(
    `create or replace function transaction_offset() returns bigint language sql stable parallel safe return ${offset}::bigint`,
  );
}
