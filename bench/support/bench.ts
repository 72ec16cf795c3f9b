import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { ensureBuilt } from '../../test/support/built.ts';
import { findPostgresBinaries, startPostgresCluster } from '../../test/support/postgres-cluster.ts';
import type { Options } from './options.ts';
import { type Running, type Script, start, startScript } from './processes.ts';

/** A separate database, and a connection to it. */
export interface Database {
  readonly url: string;
  readonly client: pg.Client;
}

/** A Switchyard service on a new installation, started like in production. */
export interface Server extends Running {
  readonly url: string;
  /** The administrator's token, for GraphQL and v3. */
  readonly token: string;
  readonly v1Key: string;
  /** Unprefixed. */
  readonly organizationId: string;
  readonly dataDir: string;
  /** The time from its start until it was ready. */
  readonly readyMs: number;
}

/** The tools of a measurement. Everything that it starts is stopped at its end. */
export interface Bench {
  readonly options: Options;
  /** Prints progress on stderr. */
  progress(text: string): void;
  createDatabase(): Promise<Database>;
  /**
   * `database` null: the embedded one. `env` is added to the environment of every server, and `execArgv` precedes its
   * arguments.
   */
  startServer(database: Database | null, more?: { env?: Record<string, string>; execArgv?: string[] }): Promise<Server>;
  startScript(name: string, args?: readonly string[]): Script;
  /** Imports a module of the measured build, by its path in `src/`. */
  importBuilt<T>(path: string): Promise<T>;
  /** A new temporary folder. */
  createFolder(): Promise<string>;
  /** Registers a function to run at the end of the measurement, in reverse order. */
  defer(end: () => Promise<unknown> | unknown): void;
}

/** The start of links in responses: the baselines write the same. */
export const baseUrl = 'http://switchyard.example';

/** The SECRET_KEY of all processes. */
export const secretKey = 'the same secret key in every process';

const serverEnv = {
  SECRET_KEY: secretKey,
  PORT: '0',
  BASE_URL: baseUrl,
  LOG_LEVEL: 'warn',
  // High enough that every request is counted and none refused.
  RATE_LIMIT_REST: '100000000',
  RATE_LIMIT_GRAPHQL: '100000000',
  MAX_SOCKETS: '100000',
  MAX_CONNECTIONS: '100000',
  MAX_CONNECTIONS_PER_ADDRESS: '100000',
} as const;

/**
 * Durability has PostgreSQL's defaults. The other settings provide resources, so that the service is measured and not a
 * checkpoint.
 */
const clusterSettings = [
  'fsync=on',
  'synchronous_commit=on',
  'full_page_writes=on',
  'shared_buffers=512MB',
  'max_wal_size=8GB',
  'checkpoint_timeout=30min',
  'maintenance_work_mem=256MB',
];

/** The PostgreSQL of this run: DATABASE_URL, or a private cluster. */
export async function openCluster(): Promise<{ url: string; stop(): Promise<void> }> {
  const databaseUrl = process.env.DATABASE_URL;
  if (databaseUrl) return { url: databaseUrl, stop: async () => undefined };
  const binaries = findPostgresBinaries();
  if (!binaries) throw new Error('There is no PostgreSQL here: install one, or set DATABASE_URL.');
  return startPostgresCluster(binaries, { settings: clusterSettings });
}

let databases = 0;

/** The tools of one measurement, and the function that stops what it started. */
export function createBench(clusterUrl: string, options: Options): { bench: Bench; end(): Promise<void> } {
  const ends: (() => Promise<unknown> | unknown)[] = [];
  const dist = async () => {
    if (options.dist === null) await ensureBuilt();
    return resolve(options.dist ?? 'dist');
  };
  const bench: Bench = {
    options,
    progress: (text) => void process.stderr.write(`${text}\n`),
    defer: (end) => void ends.push(end),
    async createFolder() {
      const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
      bench.defer(() => rm(folder, { recursive: true, force: true }));
      return folder;
    },
    async createDatabase() {
      databases += 1;
      const name = `bench_${process.pid}_${databases}`;
      const admin = new pg.Client(clusterUrl);
      await admin.connect();
      await admin.query(`create database ${name}`);
      bench.defer(async () => {
        await admin.query(`drop database ${name} with (force)`);
        await admin.end();
      });
      const url = Object.assign(new URL(clusterUrl), { pathname: `/${name}` }).href;
      const client = new pg.Client(url);
      await client.connect();
      bench.defer(() => client.end());
      return { url, client };
    },
    async startServer(database, { env = {}, execArgv = [] } = {}) {
      const dataDir = env.DATA_DIR ?? (await bench.createFolder());
      const main = join(await dist(), 'main.js');
      const startedAt = performance.now();
      const running = start(process.execPath, [...execArgv, main], {
        env: {
          PATH: process.env.PATH ?? '',
          ...serverEnv,
          DATA_DIR: dataDir,
          ...(database ? { DATABASE_URL: database.url } : {}),
          ...env,
        },
      });
      bench.defer(running.stop);
      const [, url = ''] = await running.waitForOutput(/Switchyard is at (http:\S+?)\.\s/);
      const readyMs = performance.now() - startedAt;
      const printed = (label: string) => new RegExp(`${label} +(\\S+)`).exec(running.output())?.[1] ?? '';
      return {
        ...running,
        url,
        dataDir,
        readyMs,
        token: printed("Administrator's token"),
        v1Key: printed('v1 key'),
        organizationId: printed('Organization').replace('org-', ''),
      };
    },
    async importBuilt<T>(path: string) {
      return (await import(join(await dist(), path.replace(/\.ts$/, '.js')))) as T;
    },
    startScript(name, args) {
      const script = startScript(name, args);
      bench.defer(script.stop);
      return script;
    },
  };
  return {
    bench,
    async end() {
      for (const each of ends.splice(0).reverse()) await each();
    },
  };
}
