import { expect, it } from 'vitest';
import { continueTransactionNumbers } from '../../../src/store/transaction-numbers.ts';

/** Returns the statement that replaces the offset of a cluster with this oldest transaction. */
async function replacementIn(xmin: string, largest: bigint): Promise<string | undefined> {
  const statements: string[] = [];
  await continueTransactionNumbers(async (sql) => {
    statements.push(sql);
    return [{ xmin }];
  }, largest);
  return statements[1];
}

it('continues after all numbers that the original may have used', async () => {
  const gap = 2n ** 32n;
  expect(await replacementIn('700', 5_000n)).toMatch(`return ${5_000n + gap - 700n}::bigint`);
  // A copy of a copy.
  expect(await replacementIn('700', gap + 9_000n)).toMatch(`return ${2n * gap + 9_000n - 700n}::bigint`);
});

it('adds nothing in a cluster that is far ahead', async () => {
  expect(await replacementIn(String(2n ** 40n), 5_000n)).toMatch('return 0::bigint');
});
