import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/** PostgreSQL before this lacks what the migrations and the audit order use. */
const oldestVersion = 15;

/** How a start waits for a server that is not there yet. */
interface Patience {
  readonly ms: number;
  /** Told once, in a sentence without the password, that it is being waited for. */
  readonly onWait: (sentence: string) => void;
}

const usualPatience: Patience = { ms: 10_000, onWait: () => undefined };
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
export async function waitForServer(pool: pg.Pool, server: string, given: Partial<Patience> = {}): Promise<void> {
  const version = await firstAnswer(pool, server, { ...usualPatience, ...given });
  if (version >= oldestVersion * 10_000) return;
  throw new Error(
    `PostgreSQL ${oldestVersion} or newer is needed, but the server at ${server} is version ${Math.floor(version / 10_000)}.`,
  );
}

async function firstAnswer(pool: pg.Pool, server: string, { ms, onWait }: Patience): Promise<number> {
  const deadline = performance.now() + ms;
  for (let isFirst = true; ; isFirst = false) {
    try {
      const { rows } = await pool.query<{ version: string }>(`select current_setting('server_version_num') as version`);
      return Number(rows[0]?.version);
    } catch (error) {
      const { code, message } = error as { code?: string; message?: string };
      if (!notYet.has(code ?? '') || performance.now() > deadline) {
        const reason = message || code || 'no reason was given';
        throw new Error(`PostgreSQL at ${server} cannot be used: ${reason}.`, { cause: error });
      }
      if (isFirst)
        onWait(`PostgreSQL at ${server} does not answer yet (${code}): waiting ${ms / 1_000} seconds for it.`);
      await delay(connectRetryMs);
    }
  }
}
