import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { beginWithSettings, type ConnectionLimits, defaultConnectionLimits } from './connection-settings.ts';
import { readServerIdentity } from './database-identity.ts';
import type { Driver } from './driver.ts';
import { createPool } from './postgres-pool.ts';
import { requireConnection, waitForServer } from './postgres-server.ts';
import { openSession } from './postgres-session.ts';
import { RetryingPool } from './retrying-pool.ts';
import { requireSameDatabase } from './same-database.ts';
import { createStatementNames } from './statement-names.ts';
import { type Adapter, type Begun, createTransactionScopes, scopedAdapter } from './transaction-scope.ts';
import { isUnavailable } from './unavailable.ts';
import { toParameter } from './values.ts';

/**
 * Connections for heartbeats, one of them for pings. They stay open, so that a server without free connections keeps
 * them.
 */
const urgentLimits = { poolSize: 2, maxConnectMs: 5_000, maxStatementMs: 10_000 } as const;
const pingMs = 3_000;

/** Limits of the connections, and callbacks for events of the pool. */
export interface PostgresOptions {
  /** A pooler in transaction mode in front of the same database, for all statements but heartbeats and sessions; null: none. */
  readonly poolerUrl?: string | null;
  readonly limits?: ConnectionLimits;
  /** Called when an idle connection ended. */
  readonly onError: (error: Error) => void;
  /** Called once with a sentence when the server does not answer yet. */
  readonly onWait: (sentence: string) => void;
}

/**
 * Opens a pool on a PostgreSQL server. If the server does not answer, the error contains host and port, never the
 * password.
 */
export async function openPostgres(
  databaseUrl: string,
  { poolerUrl = null, onError, onWait, limits }: PostgresOptions,
): Promise<Driver> {
  const all = limits ?? defaultConnectionLimits;
  await waitForServer(databaseUrl, { onWait });
  if (poolerUrl !== null) await requireSameDatabase(poolerUrl, databaseUrl, { onWait });
  const pool = createPool(poolerUrl ?? databaseUrl, all);
  const urgent = createPool(databaseUrl, {
    ...all,
    poolSize: urgentLimits.poolSize,
    connectMs: Math.min(all.connectMs, urgentLimits.maxConnectMs),
    statementMs: Math.min(all.statementMs, urgentLimits.maxStatementMs),
    idleMs: 0,
  });
  for (const each of [pool, urgent]) each.on('error', onError);
  const names = createStatementNames();
  const sendPrepared = async (client: Queries, config: pg.QueryConfig): Promise<pg.QueryResult> => {
    // Behind a pooler in transaction mode, the next statement may run on a connection that has not prepared it.
    const name = poolerUrl === null || client === urgent ? names.nameOf(config.text) : undefined;
    try {
      return await client.query(name === undefined ? config : { ...config, name });
    } catch (error) {
      // On the pool the statement is its own transaction; inside another, transact() repeats the whole transaction.
      if (!names.isOutdated(config.text, error) || !(client instanceof RetryingPool)) throw error;
      return client.query(config);
    }
  };
  const queryOn = async <Row>(client: Queries, text: string, values: readonly unknown[]): Promise<Row[]> =>
    (await sendPrepared(client, { text, values: values.map(toParameter) })).rows as Row[];
  const prismaPg = new PrismaPg(pool);
  let connected: Promise<Adapter> | null = null;
  const prismaOn = async (client: Queries): Promise<Adapter> => {
    connected ??= prismaPg.connect();
    return onConnection(await connected, { query: (config) => sendPrepared(client, config) });
  };
  const { provider, adapterName } = prismaPg;
  const beginning = poolerUrl === null ? 'begin' : beginWithSettings(all);
  const begin = async (): Promise<Begun> => {
    const client = await pool.connect();
    let isBroken = false;
    const watched: Queries = {
      async query(config) {
        try {
          return await client.query(config);
        } catch (error) {
          isBroken ||= isUnavailable(error);
          throw error;
        }
      },
    };
    const send = async (sql: 'begin' | 'commit' | 'rollback') => {
      // A statement without a response still occupies the connection: ROLLBACK would wait for it.
      if (isBroken && sql === 'rollback') return client.release(true);
      let isSent = false;
      try {
        await client.query(sql === 'begin' ? beginning : sql);
        isSent = true;
      } finally {
        if (!isSent || sql !== 'begin') client.release(!isSent);
      }
    };
    await send('begin');
    return {
      query: (sql, values) => queryOn(watched, sql, values),
      prismaSide: () => prismaOn(watched),
      commit: () => send('commit'),
      rollback: () => send('rollback'),
    };
  };
  const scopes = createTransactionScopes();
  return {
    dialect: 'postgres',
    scopes,
    adapter: scopedAdapter({ provider, adapterName, connect: () => prismaOn(pool) }, scopes, begin),
    begin,
    query: (sql, values) => queryOn(pool, sql, values),
    urgentQuery: (sql, values) => queryOn(urgent, sql, values),
    connections: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    async ping() {
      await urgent.query({ text: 'select 1', 'query_timeout': pingMs } as pg.QueryConfig);
      // A pooler accepts a connection also while all of its own are in use.
      if (poolerUrl !== null) await requireConnection(poolerUrl, pingMs);
    },
    readIdentity: () => readServerIdentity((sql, values) => queryOn(pool, sql, values)),
    session: (work) => openSession(databaseUrl, work),
    close: once(async () => {
      await Promise.all([pool.end(), urgent.end()]);
    }),
  };
}

interface Queries {
  query(config: pg.QueryConfig): Promise<pg.QueryResult>;
}

/**
 * Returns an adapter like this one that sends its statements to `client`: the adapter has its client in a private
 * property (a test fails if that is renamed).
 */
function onConnection(adapter: Adapter, client: Queries): Adapter {
  if (!Object.hasOwn(adapter, 'client')) throw new Error('@prisma/adapter-pg no longer keeps its pool in "client".');
  return Object.assign(Object.create(adapter), { client });
}

function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  return () => {
    running ??= run();
    return running;
  };
}
