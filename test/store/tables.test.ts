import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { writeCursor } from '../../src/domain/pages.ts';
import { columnKey } from '../../src/domain/sort-keys.ts';
import { prismaPage, sortedPage } from '../../src/domain/sorted-pages.ts';
import { guardDriver } from '../../src/store/guarded-driver.ts';
import { storeOn } from '../../src/store/store.ts';
import { fieldsOf, insertStatement, selectFields, toData, updateStatement } from '../../src/store/tables.ts';
import { StoreUnavailableError } from '../../src/store/unavailable.ts';
import { observeDriver } from '../support/observed-driver.ts';
import { openEmptyDriver, openTestStore, type TestStore } from '../support/test-store.ts';

let test: TestStore;
const enterpriseId = newId();
beforeAll(async () => {
  test = await openTestStore();
  await test.store.transact((tx) =>
    tx.prisma.enterprise.create({ data: { id: enterpriseId, name: 'Acme', createdAt: new Date() } }),
  );
});
afterAll(() => test.close());

const createdAt = new Date('2026-01-02T03:04:05.678Z');
const playbook = {
  id: newId(),
  enterpriseId,
  organizationId: null,
  title: 'Release',
  body: 'Run it',
  macro: null,
  structuredOutputSchema: { type: 'object', $type: 'Raw', list: [1, null, 'ключ'] },
  userId: newId(),
  serviceUserId: null,
  serviceKeyId: null,
  updatedByUserId: null,
  updatedByServiceUserId: null,
  updatedByServiceKeyId: null,
  version: 3,
  createdAt,
  updatedAt: createdAt,
  deletedAt: null,
};
const select = `select ${selectFields('Playbook', 'p', fieldsOf('Playbook'))} from playbook p where p.id = $1`;

it('reads the same row by derived statements and by the Prisma client, whichever wrote it', async () => {
  const { store } = test;
  const { text, values } = insertStatement('Playbook', playbook);
  await store.execute(text, values);
  const other = { ...playbook, id: newId() };
  await store.transact((tx) => tx.prisma.playbook.create({ data: toData('Playbook', other) }));
  for (const row of [playbook, other]) {
    expect(await store.query(select, [row.id])).toEqual([row]);
    expect(await store.prisma.playbook.findUnique({ where: { id: row.id } })).toEqual(row);
  }
  const change = { structuredOutputSchema: null, title: 'Other', deletedAt: createdAt };
  const update = updateStatement('Playbook', playbook.id, change);
  await store.execute(update.text, update.values);
  await store.transact((tx) =>
    tx.prisma.playbook.update({ where: { id: other.id }, data: toData('Playbook', change) }),
  );
  for (const row of [playbook, other]) {
    // SQL's null, not JSON's, so that "is null" finds it.
    const found = await store.query(`${select} and p.structured_output_schema is null`, [row.id]);
    expect(found).toEqual([{ ...row, ...change }]);
  }
});

it('refuses a member that is not a field of the model', () => {
  expect(() => toData('Playbook', { titel: 'Release' } as object)).toThrow('Playbook has no field "titel".');
});

it('returns the same pages and cursors from the Prisma client as from SQL, from both ends', async () => {
  const { store } = test;
  // Several rows with the same time: only the ids differ.
  for (let n = 0; n < 12; n++) {
    const row = {
      ...playbook,
      id: newId(),
      title: 'paged',
      createdAt: new Date(createdAt.getTime() + Math.floor(n / 4)),
    };
    const { text, values } = insertStatement('Playbook', row);
    await store.execute(text, values);
  }
  const limits = { max: 20, default: 5 };
  const bySql = async (isOldestFirst: boolean, request: object) => {
    const values: unknown[] = [];
    const list = { name: 'playbooks', row: 'p', isOldestFirst };
    const page = sortedPage(list, request, limits, (value) => `$${values.push(value)}`);
    const where = [`p.title = 'paged'`, ...page.beyond].join(' and ');
    const sql = `select p.id, p.created_at as "createdAt" from playbook p where ${where} ${page.order} limit ${page.limit}`;
    return page.toPage(await store.query<{ id: string; createdAt: Date }>(sql, values));
  };
  const byPrisma = async (isOldestFirst: boolean, request: object) => {
    const page = prismaPage({ name: 'playbooks', isOldestFirst }, request, limits);
    const where = { title: 'paged', AND: page.beyond };
    const { orderBy, take } = page;
    return page.toPage(
      await store.prisma.playbook.findMany({ where, orderBy, take, select: { id: true, createdAt: true } }),
    );
  };
  const all = await bySql(false, { first: 20 });
  const cursors = all.items.map(all.cursorOf);
  const cursor = fc.option(fc.constantFrom(...cursors), { nil: undefined });
  const size = fc.integer({ min: 1, max: 14 });
  const request = fc.record({ end: fc.constantFrom('first', 'last'), size, after: cursor, before: cursor });
  await fc.assert(
    fc.asyncProperty(fc.boolean(), request, async (isOldestFirst, { end, size: length, after, before }) => {
      const pageRequest = { [end]: length, after, before };
      const [one, other] = [await bySql(isOldestFirst, pageRequest), await byPrisma(isOldestFirst, pageRequest)];
      expect(other.items).toEqual(one.items);
      expect(other.items.map(other.cursorOf)).toEqual(one.items.map(one.cursorOf));
      expect([other.hasNextPage, other.hasPreviousPage]).toEqual([one.hasNextPage, one.hasPreviousPage]);
    }),
    { numRuns: 60 },
  );
});

it('returns pages in the order of an integer, from both ends', async () => {
  const { store } = test;
  const versions = [-2_147_483_648, -1, 0, 0, 0, 7, 2_147_483_647];
  for (const version of versions) {
    const { text, values } = insertStatement('Playbook', { ...playbook, id: newId(), title: 'numbered', version });
    await store.execute(text, values);
  }
  const list = { name: 'playbooks.version', row: 'p', by: columnKey('Playbook', 'version') };
  const read = async (isOldestFirst: boolean, request: object) => {
    const values: unknown[] = [];
    const page = sortedPage(
      { ...list, isOldestFirst },
      request,
      { max: 20, default: 5 },
      (value) => `$${values.push(value)}`,
    );
    const where = [`p.title = 'numbered'`, ...page.beyond].join(' and ');
    const sql = `select p.id, p.version, p.created_at as "createdAt" from playbook p where ${where} ${page.order} limit ${page.limit}`;
    return page.toPage(await store.query<{ id: string; version: number; createdAt: Date }>(sql, values));
  };
  for (const isOldestFirst of [true, false]) {
    const found: number[] = [];
    let after: string | undefined;
    for (let hasMore = true; hasMore; ) {
      const page = await read(isOldestFirst, { first: 2, after });
      found.push(...page.items.map(({ version }) => version));
      after = page.items.map(page.cursorOf).at(-1);
      hasMore = page.hasNextPage;
    }
    expect(found).toEqual(isOldestFirst ? versions : versions.toReversed());
    const last = await read(isOldestFirst, { last: 2 });
    expect(last.items.map(({ version }) => version)).toEqual(found.slice(-2));
  }
  const foreign = writeCursor('playbooks.version', '2147483648', newId());
  await expect(read(true, { first: 2, after: foreign })).rejects.toMatchObject({ code: 'BAD_CURSOR' });
});

it('reports an unavailable database from the Prisma client as from SQL, in and outside of transactions', async () => {
  const { driver, close } = await openEmptyDriver();
  let isDown = false;
  const failing = observeDriver(driver, () => {
    if (isDown) throw Object.assign(new Error('Connection terminated unexpectedly'), { code: '57P01' });
  });
  const failures: StoreUnavailableError[] = [];
  const store = storeOn(guardDriver(failing, (error) => failures.push(error)));
  isDown = true;
  const where = { id: 'none' };
  const attempts = [
    () => store.prisma.playbook.findUnique({ where }),
    () => store.prisma.playbook.findMany({ where, take: 2 }),
    () => store.transact((tx) => tx.prisma.playbook.findUnique({ where })),
    () => store.transact((tx) => tx.prisma.playbook.update({ where, data: { title: 'x' } })),
  ];
  for (const attempt of attempts) await expect(attempt()).rejects.toThrow(StoreUnavailableError);
  expect(failures).toHaveLength(attempts.length);
  isDown = false;
  await close();
});
