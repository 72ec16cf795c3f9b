import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { parseUrl } from '../common/parse-url.ts';
import { refuseTransactionPooler } from './pooler.ts';
import { isUnavailable, readOnlyState } from './unavailable.ts';

/** Older versions of PostgreSQL lack features that the migrations and the audit order use. */
const oldestVersion = 15;

/** Options for waiting for a server at the start. */
export interface WaitOptions {
  readonly ms: number;
  /** Called once, with a sentence without the password, when the wait begins. */
  readonly onWait: (sentence: string) => void;
}

const defaultWaitOptions: WaitOptions = { ms: 10_000, onWait: () => undefined };
const connectRetryMs = 250;
/** Timeout for a server that accepts a connection and then sends nothing. */
const answerMs = 10_000;

/**
 * Returns `host:port, database "name"` of a URL, without user and password. Throws, without the URL, if it is invalid.
 */
export function describeServer(databaseUrl: string): string {
  if (parseUrl(databaseUrl) === null) {
    throw new Error('DATABASE_URL is not an address of the form postgresql://user:password@host:port/database.');
  }
  const { host, port, database } = new pg.Client({ connectionString: databaseUrl });
  return `${host}:${port}, database "${database ?? ''}"`;
}

/**
 * Waits a few seconds for a server that answers and accepts writes, and checks its version and that no pooler in
 * transaction mode is in front of it. Throws a sentence that contains no password.
 */
export async function waitForServer(databaseUrl: string, options: Partial<WaitOptions> = {}): Promise<void> {
  const server = describeServer(databaseUrl);
  const version = await onProbe(databaseUrl, options, (client) => readVersion(client, databaseUrl));
  if (version >= oldestVersion * 10_000) return;
  throw new Error(
    `PostgreSQL ${oldestVersion} or newer is needed, but the server at ${server} is version ${Math.floor(version / 10_000)}.`,
  );
}

async function readVersion(client: pg.Client, databaseUrl: string): Promise<number> {
  const { rows } = await client.query<{ version: string; pid: number; isStandby: boolean }>(
    `select current_setting('server_version_num') as version, pg_backend_pid() as pid, pg_is_in_recovery() as "isStandby"`,
  );
  if (rows[0]?.isStandby) throw standby();
  const advice = 'set DATABASE_DIRECT_URL to the address of PostgreSQL itself';
  await refuseTransactionPooler(client, rows[0]?.pid ?? 0, () => openProbe(databaseUrl), advice);
  return Number(rows[0]?.version);
}

/** Runs `read` on a connection that it opens, again while the server cannot be used. Throws a sentence without the password. */
export async function onProbe<T>(
  databaseUrl: string,
  options: Partial<WaitOptions>,
  read: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const server = describeServer(databaseUrl);
  const { ms, onWait } = { ...defaultWaitOptions, ...options };
  const deadline = performance.now() + ms;
  for (let isFirst = true; ; isFirst = false) {
    const client = openProbe(databaseUrl);
    try {
      await client.connect();
      return await read(client);
    } catch (error) {
      const { code, message } = error as { code?: string; message?: string };
      if (!isUnavailable(error) || performance.now() > deadline) {
        const reason = message || code || 'no reason was given';
        throw new Error(`PostgreSQL at ${server} cannot be used: ${reason.replace(/\.$/, '')}.`, { cause: error });
      }
      if (isFirst) {
        const why = code ?? message ?? 'no reason was given';
        onWait(`PostgreSQL at ${server} does not answer yet (${why}): waiting ${ms / 1_000} seconds for it.`);
      }
      await delay(connectRetryMs);
    } finally {
      client.end().catch(() => undefined);
    }
  }
}

// Worth a retry: in a failover it is promoted soon.
function standby(): Error {
  const message = 'it is a standby, which takes no writes: promote it, or set DATABASE_URL to the primary';
  return Object.assign(new Error(message), { code: readOnlyState });
}

/** Resolves when a server or pooler has accepted a connection, which is closed again. */
export async function requireConnection(databaseUrl: string, ms: number): Promise<void> {
  const client = openProbe(databaseUrl, ms);
  try {
    await client.connect();
  } finally {
    client.end().catch(() => undefined);
  }
}

/** Creates a client for a few statements, whose errors its statements report. */
export function openProbe(databaseUrl: string, ms = answerMs): pg.Client {
  const client = new pg.Client({
    connectionString: databaseUrl,
    'connectionTimeoutMillis': ms,
    'query_timeout': ms,
    'application_name': 'switchyard probe',
  });
  client.on('error', () => undefined);
  return client;
}
