import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/** PostgreSQL before this lacks what the migrations and the audit order use. */
const oldestVersion = 15;
/** How long a start waits for a server that is not there yet. */
const connectPatienceMs = 10_000;
const connectRetryMs = 250;

/** Nobody listens yet, the name is not known yet, or the server says that it is starting. */
const notYet = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN', 'ECONNRESET', '57P03']);

/** `host:port, database "name"` of an address, without user and password. Throws, without the address, when it is none. */
export function describeServer(databaseUrl: string): string {
  if (!URL.canParse(databaseUrl)) {
    throw new Error('DATABASE_URL is not an address of the form postgresql://user:password@host:port/database.');
  }
  const { host, port, database } = new pg.Client({ connectionString: databaseUrl });
  return `${host}:${port}, database "${database ?? ''}"`;
}

/** Waits a few seconds for a server to answer, and checks its version. Throws a sentence that holds no password. */
export async function waitForServer(
  pool: pg.Pool,
  server: string,
  patienceMs: number = connectPatienceMs,
): Promise<void> {
  const version = await firstAnswer(pool, server, performance.now() + patienceMs);
  if (version >= oldestVersion * 10_000) return;
  throw new Error(
    `PostgreSQL ${oldestVersion} or newer is needed, but the server at ${server} is version ${Math.floor(version / 10_000)}.`,
  );
}

async function firstAnswer(pool: pg.Pool, server: string, deadline: number): Promise<number> {
  for (;;) {
    try {
      const { rows } = await pool.query<{ version: string }>(`select current_setting('server_version_num') as version`);
      return Number(rows[0]?.version);
    } catch (error) {
      const { code, message } = error as { code?: string; message?: string };
      if (!notYet.has(code ?? '') || performance.now() > deadline) {
        const reason = message || code || 'no reason was given';
        throw new Error(`PostgreSQL at ${server} cannot be used: ${reason}.`, { cause: error });
      }
      await delay(connectRetryMs);
    }
  }
}
