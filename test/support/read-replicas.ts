import { expect, onTestFinished, vi } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import type { Log } from '../../src/domain/context.ts';
import { call, startApp, type TestApp } from './app.ts';
import {
  type ClusterOptions,
  findPostgresBinaries,
  type PostgresCluster,
  startPostgresCluster,
} from './postgres-cluster.ts';
import { copyDatabase, onDatabase } from './postgres-copies.ts';

/** Commits are flushed before they are answered, as on servers of operators: replicas receive only what is flushed. */
const settings = ['synchronous_commit=on'];

/** Starts a cluster that ends with the test. */
export async function startCluster(options: ClusterOptions = {}): Promise<PostgresCluster> {
  const all = { ...options, settings: [...settings, ...(options.settings ?? [])] };
  const cluster = await startPostgresCluster(findPostgresBinaries() as string, all);
  onTestFinished(() => cluster.stop());
  return cluster;
}

/** Returns the address of a database on another server. */
export function onServer(databaseUrl: string, server: string): string {
  const { port } = new URL(server);
  return Object.assign(new URL(databaseUrl), { port }).href;
}

/** A service on a primary, with a physical standby of it. */
export interface Replicated {
  readonly primary: PostgresCluster;
  readonly standby: PostgresCluster;
  readonly databaseUrl: string;
  readonly replicaUrl: string;
  /** Starts an app without replicas. */
  startPlain(overrides?: Partial<Config>): Promise<TestApp>;
  /** Starts an app, like another process, that reads lists from the standby, and waits until it may. */
  start(overrides?: Partial<Config>, log?: Log): Promise<TestApp>;
}

/** Starts a primary with a copy of an app's database, and a standby. */
export async function startReplicated(original?: TestApp): Promise<Replicated> {
  const first = original ?? (await startApp());
  if (!original) onTestFinished(() => first.close());
  const primary = await startCluster();
  const databaseUrl = await copyDatabase(first.databaseUrl as string, primary.url);
  const standby = await startCluster({ standbyOf: primary.url });
  const replicaUrl = onServer(databaseUrl, standby.url);
  const start = async (overrides: Partial<Config> = {}, log?: Log) => {
    const test = await first.another({ databaseUrl, maintenance: false, ...overrides }, log && { log });
    onTestFinished(() => test.close());
    return test;
  };
  return {
    primary,
    standby,
    databaseUrl,
    replicaUrl,
    startPlain: (overrides = {}) => start(overrides),
    async start(overrides = {}, log) {
      const test = await start({ databaseReplicas: { urls: [replicaUrl], maxLagMs: 10_000 }, ...overrides }, log);
      await waitUntilUsable(test);
      return test;
    },
  };
}

/** Returns the numbers of lists that an app has read from each target, and the state of its replica. */
export function readsOf({ app }: TestApp) {
  const state = app.services.store.replicas();
  const [replica] = state?.replicas ?? [];
  if (!state || !replica) throw new Error('The app has no replica.');
  return { primary: state.primaryReads, replica: replica.reads, isUsable: replica.isUsable, lagMs: replica.lagMs };
}

/** Resolves when an app uses its replica. */
export const waitUntilUsable = (test: TestApp) => vi.waitUntil(() => readsOf(test).isUsable, { timeout: 60_000 });

/** Resolves when an app does not use its replica. */
export const waitUntilUnusable = (test: TestApp) => vi.waitUntil(() => !readsOf(test).isUsable, { timeout: 60_000 });

/** Stops the replay of a standby at the end of what it has replayed. */
export async function pauseReplay(standby: PostgresCluster): Promise<void> {
  await onDatabase(standby.url, 'select pg_wal_replay_pause()');
  const state = 'select pg_get_wal_replay_pause_state() as state';
  await vi.waitFor(async () => expect(await onDatabase(standby.url, state)).toEqual([{ state: 'paused' }]), {
    timeout: 60_000,
  });
}

/** Continues the replay of a standby. */
export async function resumeReplay(standby: PostgresCluster): Promise<void> {
  await onDatabase(standby.url, 'select pg_wal_replay_resume()');
}

/** Returns the ids of the newest sessions in the list of version 3. */
export async function listedIds(test: TestApp): Promise<string[]> {
  const { status, body } = await call(test, test.adminToken, 'GET', `${pathOf(test)}/sessions?first=100`);
  if (status !== 200) throw new Error(`The list was answered with ${status}: ${JSON.stringify(body)}`);
  return body.items.map(({ session_id }: { session_id: string }) => session_id);
}

/** Returns the path of an app's organization in version 3. */
export const pathOf = (test: TestApp): string => `/v3/organizations/org-${test.organizationId}`;
