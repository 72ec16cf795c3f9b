import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it as always, beforeEach, expect, onTestFinished, vi } from 'vitest';
import { type ConnectionLimits, defaultConnectionLimits } from '../../src/store/connection-settings.ts';
import type { Reader } from '../../src/store/reader.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { onDatabase } from '../support/postgres-copies.ts';
import { startCluster } from '../support/read-replicas.ts';
import { testDatabase } from '../support/test-store.ts';

const it = always.skipIf(testDatabase !== 'postgres');

const patience = { timeout: 60_000 };
let lines: { reason?: string; message: string }[];
const note = (fields: object, message: string) => void lines.push({ ...fields, message });

beforeEach(() => {
  lines = [];
});

async function open(
  databaseUrl: string,
  urls: readonly string[],
  changed: Partial<ConnectionLimits> = {},
): Promise<Store> {
  const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-replicas-'));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const log = { warn: note, error: note };
  const limits = { ...defaultConnectionLimits, ...changed };
  const store = await openStore({ dataDir, databaseUrl, log, limits, replicas: { urls, maxLagMs: 10_000 } });
  onTestFinished(() => store.close());
  return store;
}

const replicaOf = (store: Store) => {
  const [replica] = store.replicas()?.replicas ?? [];
  if (!replica) throw new Error('The store has no replica.');
  return replica;
};

const waitUntilUsable = (store: Store) => vi.waitUntil(() => replicaOf(store).isUsable, patience);

const targetOf = async (reader: Reader) => {
  await reader.query('select 1');
  return reader.target;
};

it('refuses addresses that lead to no standby of the database, in a sentence', async () => {
  const primary = await startCluster();
  const standby = await startCluster({ standbyOf: primary.url });
  const other = await startCluster();
  const standbyOfOther = await startCluster({ standbyOf: other.url });
  await onDatabase(primary.url, 'create database another');
  const at = (url: string, database = 'postgres') => `127.0.0.1:${new URL(url).port}, database "${database}"`;
  const refusal = (url: string) => open(primary.url, [standby.url, url]).then(String, (error: Error) => error.message);
  expect(await refusal(other.url)).toBe(
    `DATABASE_REPLICA_URLS: PostgreSQL at ${at(other.url)} is not a standby. Only physical standbys of DATABASE_URL can be read replicas.`,
  );
  expect(await refusal(standbyOfOther.url)).toBe(
    `DATABASE_REPLICA_URLS: PostgreSQL at ${at(standbyOfOther.url)} is a standby of another cluster than DATABASE_URL (${at(primary.url)}).`,
  );
  const another = Object.assign(new URL(standby.url), { pathname: '/another' }).href;
  await vi.waitFor(async () => expect(await onDatabase(another, 'select 1')).toHaveLength(1), patience);
  expect(await refusal(another)).toBe(
    `DATABASE_REPLICA_URLS: PostgreSQL at ${at(standby.url, 'another')} is another database than DATABASE_URL (${at(primary.url)}).`,
  );
  const stranger = Object.assign(new URL(standby.url), { username: 'nobody', password: 'hunter2' }).href;
  expect(await refusal(stranger)).toBe(
    `DATABASE_REPLICA_URLS: PostgreSQL at ${at(standby.url)} cannot be used: role "nobody" does not exist.`,
  );
});

it('starts without a replica that does not answer, uses it when it does, and leaves no connection behind', async () => {
  const primary = await startCluster();
  const standby = await startCluster({ standbyOf: primary.url });
  const proxy = await startFaultProxy(standby.url);
  onTestFinished(() => proxy.close());
  proxy.refuse();
  const store = await open(primary.url, [proxy.databaseUrl]);
  expect(await store.readList(targetOf)).toBe('primary');
  expect(lines).toEqual([expect.objectContaining({ message: expect.stringContaining('cannot be used') })]);
  expect(replicaOf(store)).toMatchObject({ server: `127.0.0.1:${proxy.port}`, isUsable: false, lagMs: null, reads: 0 });
  proxy.accept();
  await waitUntilUsable(store);
  expect(await store.readList(targetOf)).toBe('replica');
  expect(lines.slice(1)).toEqual([expect.objectContaining({ message: 'A read replica is used again.' })]);
  await store.close();
  await vi.waitFor(() => expect(proxy.count()).toBe(0), patience);
});

it('starts with a standby that was promoted, says so and does not use it', async () => {
  const primary = await startCluster();
  const promoted = await startCluster({ standbyOf: primary.url });
  await promoted.promote();
  const store = await open(primary.url, [promoted.url]);
  expect(await store.readList(targetOf)).toBe('primary');
  await vi.waitFor(() => expect(lines).toMatchObject([{ reason: 'it is no standby any more' }]), patience);
  expect(replicaOf(store)).toMatchObject({ isUsable: false, reads: 0 });
});

it('reads from the primary what a replica stops answering in the middle', async () => {
  const primary = await startCluster();
  const standby = await startCluster({ standbyOf: primary.url });
  const proxy = await startFaultProxy(standby.url);
  onTestFinished(() => proxy.close());
  const store = await open(primary.url, [proxy.databaseUrl]);
  await waitUntilUsable(store);
  const targets: string[] = [];
  const startedAt = performance.now();
  const found = await store.readList((reader) => {
    targets.push(reader.target);
    if (reader.target === 'replica') proxy.hold();
    return targetOf(reader);
  });
  expect(found).toBe('primary');
  expect(targets).toEqual(['replica', 'primary']);
  // The limit of a statement would be 33 seconds.
  expect(performance.now() - startedAt).toBeLessThan(20_000);
  expect(lines).toHaveLength(1);
  proxy.heal();
  await waitUntilUsable(store);
  expect(await store.readList(targetOf)).toBe('replica');
});

it('reads from the primary what the replay of the replica cancels', async () => {
  const primary = await startCluster();
  const standby = await startCluster({ standbyOf: primary.url, settings: ['max_standby_streaming_delay=0'] });
  const store = await open(primary.url, [standby.url]);
  await onDatabase(primary.url, 'create table things as select n from generate_series(1, 1000) n');
  await waitUntilUsable(store);
  const reading = store.readList((reader) =>
    reader.query(`select count(*)::int as n${reader.target === 'primary' ? '' : ', pg_sleep(600)'} from things`),
  );
  const running = `select 1 from pg_stat_activity where wait_event = 'PgSleep'`;
  await vi.waitFor(async () => expect(await onDatabase(standby.url, running)).toHaveLength(1), patience);
  await onDatabase(primary.url, 'delete from things where n > 10', 'vacuum things');
  expect(await reading).toEqual([{ n: 10 }]);
  expect(lines).toMatchObject([{ reason: expect.stringContaining('conflict with recovery') }]);
  await waitUntilUsable(store);
  expect(await store.readList(targetOf)).toBe('replica');
});

it('passes errors of a list on, and those of a statement after the primary has confirmed them', async () => {
  const primary = await startCluster();
  const standby = await startCluster({ standbyOf: primary.url });
  const store = await open(primary.url, [standby.url], { statementMs: 2_000 });
  await waitUntilUsable(store);
  const targets: string[] = [];
  const failing = (work: (reader: Reader) => Promise<unknown>) =>
    store.readList((reader) => {
      targets.push(reader.target);
      return work(reader);
    });
  await expect(failing(async () => Promise.reject(new Error('not a cursor')))).rejects.toThrow('not a cursor');
  expect(targets.splice(0)).toEqual(['replica']);
  await expect(failing((reader) => reader.query('select 1/0'))).rejects.toThrow('division by zero');
  expect(targets.splice(0)).toEqual(['replica', 'primary']);
  // A statement that is too slow says nothing about the replica.
  const slow = failing((reader) =>
    reader.query(reader.target === 'replica' ? 'select pg_sleep(600)' : 'select 1 as n'),
  );
  expect(await slow).toEqual([{ n: 1 }]);
  expect(targets).toEqual(['replica', 'primary']);
  expect(replicaOf(store).isUsable).toBe(true);
  await expect(store.transact(() => store.readList(targetOf))).rejects.toThrow('transaction');
  expect(lines).toEqual([]);
});
