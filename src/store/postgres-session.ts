import pg from 'pg';
import type { Session } from './driver.ts';
import { toParameter } from './values.ts';

/** Time limit for the server to accept the connection. */
const connectMs = 10_000;
/** The kernel's probes detect a dead connection: a migration may run for as long as it needs. */
const keepAliveMs = 10_000;

/** Runs `work` on its own connection, which has no statement timeouts, and closes it. */
export async function openSession<T>(databaseUrl: string, work: (session: Session) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    'application_name': 'switchyard migrations',
  });
  // The statement that fails reports the error.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(
      `set time zone 'UTC'; set statement_timeout = 0; set idle_in_transaction_session_timeout = 60000`,
    );
    return await work({
      query: async <Row>(text: string, values: readonly unknown[] = []) =>
        (await client.query({ text, values: values.map(toParameter) })).rows as Row[],
      script: async (text) => {
        await client.query(text);
      },
    });
  } finally {
    // Closed in any case: it may still be in a transaction, or have a lock.
    await client.end().catch(() => undefined);
  }
}
