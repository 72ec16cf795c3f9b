import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../support/test-store.ts';

let test: TestStore;
beforeAll(async () => {
  test = await openTestStore();
});
afterAll(() => test.close());

const enterprise = (id: string) => ({ id, name: 'Acme', createdAt: new Date('2026-01-02T03:04:05.678Z') });

it('gives rows of the same shape from a read, a transaction and a single write', async () => {
  await test.store.transact((tx) => tx.prisma.enterprise.create({ data: enterprise('shape') }));
  const sql = `select id, created_at as "createdAt", 3::int8 as big, '{"a":[1]}'::jsonb as json, array['x','y'] as list
                 from enterprise where id = $1`;
  const expected = [
    { id: 'shape', createdAt: new Date('2026-01-02T03:04:05.678Z'), big: 3, json: { a: [1] }, list: ['x', 'y'] },
  ];
  expect(await test.store.query(sql, ['shape'])).toEqual(expected);
  expect(await test.store.execute(sql, ['shape'])).toEqual(expected);
  expect(await test.store.transact((tx) => tx.query(sql, ['shape']))).toEqual(expected);
});

it('refuses anything but the transaction inside a transaction, instead of waiting for itself', async () => {
  const { store } = test;
  const said = /Inside transact\(\) only the transaction itself/;
  await expect(store.transact(() => store.query('select 1'))).rejects.toThrow(said);
  await expect(store.transact(() => store.execute('select 1'))).rejects.toThrow(said);
  await expect(store.transact(() => store.transact(() => Promise.resolve()))).rejects.toThrow(said);
  await expect(store.transact(async () => store.prisma.enterprise.count())).rejects.toThrow(said);
});

it('runs the hooks after the commit, and none after a failure', async () => {
  const seen: (number | string)[] = [];
  await test.store.transact(async (tx) => {
    tx.afterCommit(() => seen.push('committed'));
    await tx.prisma.enterprise.create({ data: enterprise('hooks') });
    seen.push('inside');
  });
  const failing = test.store.transact(async (tx) => {
    tx.afterCommit(() => seen.push('never'));
    await tx.prisma.enterprise.create({ data: enterprise('rolled back') });
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(seen).toEqual(['inside', 'committed']);
  expect(await test.store.prisma.enterprise.findUnique({ where: { id: 'rolled back' } })).toBeNull();
});

it('lets 100 transactions at once all succeed', async () => {
  const ids = Array.from({ length: 100 }, (_, n) => `parallel ${n}`);
  await Promise.all(
    ids.map((id) =>
      test.store.transact(async (tx) => {
        await tx.prisma.enterprise.create({ data: enterprise(id) });
        await tx.query('select 1');
      }),
    ),
  );
  expect(await test.store.prisma.enterprise.count({ where: { id: { in: ids } } })).toBe(100);
});
