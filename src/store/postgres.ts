import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { connectionSettings } from './connection-settings.ts';
import type { Driver, Session } from './driver.ts';
import { describeServer, waitForServer } from './postgres-server.ts';
import { type Adapter, type Begun, createScopes, scopedAdapter } from './scope.ts';
import { createStatementNames } from './statement-names.ts';
import { toParameter, valueParsers } from './values.ts';

/** Connections of one process, beside the bell's own; PostgreSQL allows 100 unless told otherwise. */
const poolSize = 10;

const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    (format === 'binary' ? undefined : valueParsers[oid]) ??
    pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

/** What an opened pool tells of itself. */
interface Hearers {
  /** An idle connection ended. */
  readonly onError: (error: Error) => void;
  /** The server does not answer yet, and is waited for. */
  readonly onWait: (sentence: string) => void;
}

/** Opens a pool on a PostgreSQL server. The error of one that does not answer names host and port, never the password. */
export async function openPostgres(databaseUrl: string, { onError, onWait }: Hearers): Promise<Driver> {
  const server = describeServer(databaseUrl);
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: poolSize,
    types,
    keepAlive: true,
    'application_name': 'switchyard',
    'idle_in_transaction_session_timeout': 60_000,
    onConnect: (client) => client.query(connectionSettings) as unknown as undefined,
  });
  // Without a listener an idle connection's end would end the process.
  pool.on('error', onError);
  try {
    await waitForServer(pool, server, { onWait });
  } catch (error) {
    await pool.end();
    throw error;
  }
  const names = createStatementNames();
  const queryOn = async <Row>(client: Queries, text: string, given: readonly unknown[]): Promise<Row[]> => {
    const values = given.map(toParameter);
    const name = names.nameOf(text);
    try {
      return (await client.query(name === undefined ? { text, values } : { name, text, values })).rows as Row[];
    } catch (error) {
      // On the pool the statement is a transaction of its own; inside another, transact() runs it all again.
      if (!names.isOutdated(text, error) || client !== pool) throw error;
      return (await client.query({ text, values })).rows as Row[];
    }
  };
  const prisma = new PrismaPg(pool);
  let connected: Promise<Adapter> | null = null;
  const begin = async (): Promise<Begun> => {
    const client = await pool.connect();
    // Without a listener the end of a connection would end the process; the statement that fails tells of it.
    client.on('error', ignore);
    const send = async (sql: 'begin' | 'commit' | 'rollback') => {
      let isBroken = true;
      try {
        await client.query(sql);
        isBroken = false;
      } finally {
        if (isBroken || sql !== 'begin') {
          client.off('error', ignore);
          client.release(isBroken);
        }
      }
    };
    await send('begin');
    return {
      query: (sql, values) => queryOn(client, sql, values),
      async prismaSide() {
        connected ??= prisma.connect();
        return onConnection(await connected, client);
      },
      commit: () => send('commit'),
      rollback: () => send('rollback'),
    };
  };
  const scopes = createScopes();
  return {
    dialect: 'postgres',
    scopes,
    adapter: scopedAdapter(prisma, scopes, begin),
    begin,
    query: (sql, values) => queryOn(pool, sql, values),
    async session(work) {
      const client = await pool.connect();
      const session: Session = {
        query: async <Row>(text: string, values: readonly unknown[] = []) =>
          (await client.query({ text, values: values.map(toParameter) })).rows as Row[],
        script: async (text) => {
          await client.query(text);
        },
      };
      try {
        const result = await work(session);
        client.release();
        return result;
      } catch (error) {
        // Not back into the pool: it may still be in a transaction, or hold a lock.
        client.release(true);
        throw error;
      }
    },
    close: once(() => pool.end()),
  };
}

interface Queries {
  query(config: pg.QueryConfig): Promise<pg.QueryResult>;
}

/** An adapter like this one, but on one connection: it keeps what it queries to itself (a test fails should it be renamed). */
function onConnection(adapter: Adapter, client: Queries): Adapter {
  if (!Object.hasOwn(adapter, 'client')) throw new Error('@prisma/adapter-pg no longer keeps its pool in "client".');
  return Object.assign(Object.create(adapter), { client });
}

const ignore = () => undefined;

function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  return () => {
    running ??= run();
    return running;
  };
}
