import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, it as always, beforeEach, expect, onTestFinished, vi } from 'vitest';
import { defaultConnectionLimits } from '../../src/store/connection-settings.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { StoreUnavailableError } from '../../src/store/unavailable.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { findPostgresBinaries, startPostgresCluster } from '../support/postgres-cluster.ts';
import { createDatabase, testDatabase } from '../support/test-store.ts';

const it = always.skipIf(testDatabase !== 'postgres');

const log = { warn: () => undefined, error: () => undefined };

let dataDir: string;
let proxy: FaultProxy;
beforeEach(async () => {
  if (testDatabase !== 'postgres') return;
  dataDir = await mkdtemp(join(tmpdir(), 'switchyard-connections-'));
  proxy = await startFaultProxy(await createDatabase());
});
afterEach(async () => {
  if (testDatabase !== 'postgres') return;
  await proxy.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function open(limits: Partial<typeof defaultConnectionLimits>, databaseUrl = proxy.databaseUrl): Promise<Store> {
  const store = await openStore({ dataDir, databaseUrl, log, limits: { ...defaultConnectionLimits, ...limits } });
  onTestFinished(() => store.close());
  return store;
}

it('answers pings and heartbeats while the pool is exhausted, and refuses callers after their maximum wait', async () => {
  const store = await open({ poolSize: 2, connectMs: 300 });
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const begun: Promise<unknown>[] = [];
  const lasting = Array.from({ length: 2 }, () => {
    const { promise, resolve } = withResolvers();
    begun.push(promise);
    return store.transact(async (tx) => {
      await tx.query('select 1');
      resolve();
      await released;
    });
  });
  await Promise.all(begun);
  await store.ping();
  expect(await store.executeUrgent('select 1 as n')).toEqual([{ n: 1 }]);
  await expect(store.query('select 1')).rejects.toBeInstanceOf(StoreUnavailableError);
  await expect(store.transact((tx) => tx.query('select 1'))).rejects.toBeInstanceOf(StoreUnavailableError);
  await expect(store.prisma.enterprise.count()).rejects.toBeInstanceOf(StoreUnavailableError);
  release();
  await Promise.all(lasting);
  await store.query('select 1');
});

it('cancels a statement that takes too long, and keeps the connection', async () => {
  const store = await open({ poolSize: 1, statementMs: 200 });
  const [{ pid } = { pid: 0 }] = await store.query<{ pid: number }>('select pg_backend_pid() as pid');
  await expect(store.query('select pg_sleep(60)')).rejects.toMatchObject({ service: 'database', isFull: false });
  await expect(store.transact((tx) => tx.query('select pg_sleep(60)'))).rejects.toBeInstanceOf(StoreUnavailableError);
  await expect(store.transact((tx) => tx.prisma.enterprise.count())).resolves.toBe(0);
  expect(pid).toBeGreaterThan(0);
});

it('closes connections that do not respond, and opens new ones when the network recovers', async () => {
  const store = await open({ poolSize: 2, connectMs: 500, statementMs: 300 });
  await store.query('select 1');
  const before = proxy.accepted();
  proxy.hold();
  const lost = await Promise.allSettled([
    store.query('select 1'),
    store.transact((tx) => tx.query('select 1')),
    store.prisma.enterprise.count(),
    store.transact((tx) => tx.prisma.enterprise.count()),
    store.ping(),
  ]);
  for (const each of lost) expect(each).toMatchObject({ reason: expect.any(StoreUnavailableError) });
  proxy.heal();
  await vi.waitFor(() => store.query('select 1'), { timeout: 60_000 });
  await vi.waitFor(() => store.ping(), { timeout: 60_000 });
  expect(proxy.accepted()).toBeGreaterThan(before);
});

it('waits for a server that refuses connections, as long as callers wait for one', async () => {
  const store = await open({ connectMs: 20_000 });
  proxy.refuse();
  const before = proxy.accepted();
  const waiting = [store.query('select 1'), store.transact((tx) => tx.query('select 1'))];
  // Both have been refused more than once.
  await vi.waitFor(() => expect(proxy.accepted()).toBeGreaterThan(before + 4), { timeout: 60_000 });
  proxy.accept();
  await Promise.all(waiting);
});

it('works with the few connections that a full server leaves it', async () => {
  const binaries = findPostgresBinaries();
  if (binaries === null)
    return void process.stderr.write('Skipping: a server of its own is needed, and PostgreSQL is not installed.\n');
  const cluster = await startPostgresCluster(binaries, { settings: ['max_connections=12'] });
  onTestFinished(() => cluster.stop());
  const store = await open({ poolSize: 10, connectMs: 20_000 }, cluster.url);
  await store.ping();
  // Other connections take all but one, including the superusers' reserve.
  const others: pg.Client[] = [];
  onTestFinished(async () => {
    await Promise.all(others.map((each) => each.end().catch(() => undefined)));
  });
  for (;;) {
    const client = new pg.Client({ connectionString: cluster.url });
    client.on('error', () => undefined);
    const isTaken = await client.connect().then(
      () => true,
      () => false,
    );
    if (!isTaken) break;
    others.push(client);
  }
  await others.pop()?.end();
  const work = Array.from({ length: 200 }, (_, n) =>
    n % 2 ? store.query('select pg_sleep(0.002)') : store.transact((tx) => tx.query('select pg_sleep(0.002)')),
  );
  const results = await Promise.allSettled(work);
  expect(results.filter(({ status }) => status === 'rejected')).toEqual([]);
});

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
