import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../support/test-store.ts';

let test: TestStore;
beforeAll(async () => {
  test = await openTestStore();
});
afterAll(() => test.close());

const attachment = `
  insert into attachment (id, organization_id, name, content_type, size_bytes, storage_key, source, created_at)
  values ($1, $2, 'a', 'text/plain', $3, $1, 'user', now())`;
const segments = `
  insert into checkpoint_segment (id, session_id, organization_id, bytes, state, created_at)
  select $1 || n, 's', case when n % 2 = 0 then 'a' else 'b' end, 3000000000, 'STORED', now() from generate_series(1, 10) n`;
const sums = () =>
  test.store.query<{ id: string; bytes: number }>(
    'select organization_id as id, bytes::float8 as bytes from organization_storage order by 1',
  );

it('counts what concurrent transactions write and delete, for each organization', async () => {
  const writes = Array.from({ length: 40 }, (_, n) =>
    test.store.transact(async (tx) => {
      await tx.query(attachment, [`file-${n}`, n % 2 === 0 ? 'a' : 'b', 100 + n]);
      // The earlier lock of the row of the sum must not lead to a deadlock with those that wait for it.
      if (n % 3 === 0) await tx.query(segments, [`segment-${n}-`]);
      if (n % 5 === 0) throw new Error('Rolled back.');
    }),
  );
  const written = (await Promise.allSettled(writes)).flatMap(({ status }, n) => (status === 'fulfilled' ? [n] : []));
  expect(written).toHaveLength(32);
  const expected = (of: number) => {
    const files = written.filter((n) => n % 2 === of).reduce((sum, n) => sum + 100 + n, 0);
    return files + written.filter((n) => n % 3 === 0).length * 5 * 3_000_000_000;
  };
  expect(await sums()).toEqual([
    { id: 'a', bytes: expected(0) },
    { id: 'b', bytes: expected(1) },
  ]);
  await test.store.execute('delete from checkpoint_segment');
  await test.store.execute('delete from attachment');
  expect(await sums()).toEqual([
    { id: 'a', bytes: 0 },
    { id: 'b', bytes: 0 },
  ]);
});
