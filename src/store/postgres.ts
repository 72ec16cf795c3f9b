import { createHash } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import type { Driver, Session } from './driver.ts';

/** PostgreSQL before this lacks what the migrations and the audit order use. */
const oldestVersion = 15;
/** How long a start waits for a server that does not answer yet. */
const connectPatienceMs = 10_000;
const connectRetryMs = 500;

const int8 = 20;

// int8 is only ever a count here: a number, as PGlite gives it.
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === int8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

/** Opens a pool on a PostgreSQL server. The error of one that does not answer names host and port, never the password. */
export async function openPostgres(databaseUrl: string, onError: (error: Error) => void): Promise<Driver> {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 10,
    types,
    application_name: 'switchyard',
    idle_in_transaction_session_timeout: 60_000,
  });
  // Without a listener an idle connection's end would end the process.
  pool.on('error', onError);
  try {
    await checkServer(pool, databaseUrl);
  } catch (error) {
    await pool.end();
    throw error;
  }
  const names = new Map<string, string>();
  const query = async <Row>(text: string, values: readonly unknown[]): Promise<Row[]> => {
    const result = await pool.query({ name: statementName(names, text), text, values: [...values] });
    return result.rows as Row[];
  };
  return {
    dialect: 'postgres',
    adapter: new PrismaPg(pool),
    query,
    async session(work) {
      const client = await pool.connect();
      const session: Session = {
        query: async <Row>(text: string, values: readonly unknown[] = []) =>
          (await client.query({ text, values: [...values] })).rows as Row[],
        script: async (text) => {
          await client.query(text);
        },
      };
      try {
        return await work(session);
      } finally {
        client.release();
      }
    },
    close: () => pool.end(),
  };
}

/** Statements are prepared once a connection; the number of different texts is bounded by the code, but for filters. */
const mostNames = 500;

function statementName(names: Map<string, string>, text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = names.size < mostNames ? `q${createHash('sha256').update(text).digest('hex').slice(0, 24)}` : '';
  if (name !== '') names.set(text, name);
  return name;
}

async function checkServer(pool: pg.Pool, databaseUrl: string): Promise<void> {
  const version = await firstAnswer(pool, databaseUrl);
  if (version < oldestVersion * 10_000) {
    throw new Error(`PostgreSQL ${oldestVersion} or newer is needed, but DATABASE_URL is version ${Math.floor(version / 10_000)}.`);
  }
}

async function firstAnswer(pool: pg.Pool, databaseUrl: string): Promise<number> {
  const deadline = performance.now() + connectPatienceMs;
  for (;;) {
    try {
      const result = await pool.query<{ server_version_num: string }>('show server_version_num');
      return Number(result.rows[0]?.server_version_num);
    } catch (error) {
      const code = (error as { code?: string }).code ?? 'no code';
      const isComing = code === 'ECONNREFUSED' || code === '57P03' || code === 'ENOENT';
      if (!isComing || performance.now() > deadline) {
        const { hostname, port, pathname } = new URL(databaseUrl);
        const place = `${hostname || 'localhost'}:${port || 5_432}${pathname}`;
        throw new Error(`The PostgreSQL server of DATABASE_URL (${place}) cannot be used: ${(error as Error).message || code}.`);
      }
      await new Promise((resolve) => setTimeout(resolve, connectRetryMs));
    }
  }
}
