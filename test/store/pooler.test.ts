import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it as always, describe, expect, onTestFinished, vi } from 'vitest';
import { openSession } from '../../src/store/postgres-session.ts';
import { requireSameDatabase } from '../../src/store/same-database.ts';
import { openStore } from '../../src/store/store.ts';
import { pgbouncer, startPooler } from '../support/pooler.ts';
import { createDatabase, testDatabase } from '../support/test-store.ts';

if (testDatabase === 'postgres' && !pgbouncer)
  process.stderr.write(
    'Skipping the tests of poolers: PgBouncer is not installed (Debian: apt-get install pgbouncer).\n',
  );
const it = always.skipIf(testDatabase !== 'postgres' || !pgbouncer);

const log = { warn: () => undefined, error: () => undefined };

async function open(databaseUrl: string, poolerUrl: string | null = null) {
  const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-pooled-'));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  return openStore({ dataDir, databaseUrl, poolerUrl, log });
}

for (const mode of ['transaction', 'statement'] as const)
  it(`refuses a pooler in the mode ${mode} without a direct address`, async () => {
    await expect(open(await startPooler(mode))).rejects.toThrow(
      /^PostgreSQL at 127\.0\.0\.1:\d+, database "\w+" cannot be used: a connection pooler in transaction mode is in front of it: set DATABASE_DIRECT_URL .*pool_mode to session\.$/,
    );
  });

it('works through a pooler in session mode', async () => {
  const store = await open(await startPooler('session'));
  expect(await store.transact((tx) => tx.query('select 1 as n'))).toEqual([{ n: 1 }]);
  await store.ping();
  await store.close();
});

describe('a pooler in transaction mode, with a direct address', () => {
  /** Three connections of the pooler, to a database whose own settings are others, serve the ten of the store. */
  async function openPooled() {
    const databaseUrl = await createDatabase();
    const { pathname } = new URL(databaseUrl);
    await openSession(databaseUrl, (session) =>
      session.script(`alter database "${pathname.slice(1)}" set timezone = 'Asia/Tokyo'`),
    );
    const poolerUrl = await startPooler('transaction', { databaseUrl, maxServers: 3 });
    const store = await open(databaseUrl, poolerUrl);
    onTestFinished(() => store.close());
    return { store, databaseUrl, poolerUrl };
  }

  it('keeps the time zone and the time limits of all statements', async () => {
    const { store } = await openPooled();
    const readZone = `select current_setting('TimeZone') as zone, pg_backend_pid() as pid`;
    const readLimits = `select current_setting('statement_timeout') as statement, current_setting('random_page_cost') as page,
                               current_setting('idle_in_transaction_session_timeout') as idle, pg_backend_pid() as pid`;
    let opened = 0;
    const limits = Array.from({ length: 3 }, () =>
      store.transact(async (tx) => {
        const rows = await tx.query<Record<string, unknown>>(readLimits);
        // All three are open at once, so each has a connection of the pooler for itself.
        opened++;
        await vi.waitUntil(() => opened === 3, { timeout: 60_000 });
        return rows;
      }),
    );
    const rows = (await Promise.all(limits)).flat();
    expect(new Set(rows.map(({ pid }) => pid)).size).toBe(3);
    for (const { pid: _, ...row } of rows) expect(row).toEqual({ statement: '30s', page: '1.1', idle: '1min' });
    const zones = await Promise.all(
      Array.from({ length: 60 }, () => store.query<{ zone: string; pid: number }>(readZone)),
    );
    const pids = rows.map(({ pid }) => pid);
    for (const { zone, pid } of zones.flat()) expect([zone, pids.includes(pid)]).toEqual(['UTC', true]);
  });

  it('writes and reads times in UTC, by SQL and by the Prisma client', async () => {
    const { store } = await openPooled();
    const at = new Date('2026-03-04T05:06:07.089Z');
    const ids = Array.from({ length: 20 }, (_, n) => `${n}`.padStart(32, '0'));
    await Promise.all(
      ids.map((id) =>
        store.transact(async (tx) => {
          await tx.prisma.enterprise.create({ data: { id, name: id, createdAt: at } });
        }),
      ),
    );
    const byPrisma = await Promise.all(ids.map((id) => store.prisma.enterprise.findUniqueOrThrow({ where: { id } })));
    const bySql = await Promise.all(
      ids.map((id) => store.query<{ at: Date }>('select created_at as at from enterprise where id = $1', [id])),
    );
    for (const time of [...byPrisma.map(({ createdAt }) => createdAt), ...bySql.map(([row]) => row?.at)])
      expect(time).toEqual(at);
  });

  it('keeps a connection of its own for heartbeats while the pooler has none left', async () => {
    const { store } = await openPooled();
    const ends: (() => void)[] = [];
    const held = Array.from({ length: 3 }, () =>
      store.transact(async (tx) => {
        await tx.query('select 1');
        await new Promise<void>((resolve) => ends.push(resolve));
      }),
    );
    await expect.poll(() => ends.length).toBe(3);
    await store.ping();
    expect(await store.executeUrgent('select 2 as n')).toEqual([{ n: 2 }]);
    const waiting = store.query('select 3 as n');
    for (const end of ends) end();
    await Promise.all(held);
    expect(await waiting).toEqual([{ n: 3 }]);
  });

  it('refuses a pooler in the mode statement', async () => {
    const databaseUrl = await createDatabase();
    const poolerUrl = await startPooler('statement', { databaseUrl });
    await expect(requireSameDatabase(poolerUrl, databaseUrl, { ms: 0 })).rejects.toThrow(/ statement pooling mode\.$/);
  });

  it('refuses two addresses of different databases', async () => {
    const poolerUrl = await startPooler('transaction');
    await expect(open(await createDatabase(), poolerUrl)).rejects.toThrow(
      /^DATABASE_URL \(127\.0\.0\.1:\d+, database "\w+"\) and DATABASE_DIRECT_URL \([^)]+\) lead to different databases\.$/,
    );
  });
});
