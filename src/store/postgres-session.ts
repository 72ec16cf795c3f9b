import pg from 'pg';
import type { Session } from './driver.ts';
import { toParameter } from './values.ts';

/** How long the server may take to accept the connection. */
const connectMs = 10_000;
/** A dead connection is found by the kernel's probes: a migration may run for as long as it takes. */
const keepAliveMs = 10_000;

/** Runs `work` on a connection of its own, which has no timeouts for statements, and closes it. */
export async function openSession<T>(databaseUrl: string, work: (session: Session) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    'application_name': 'switchyard migrations',
  });
  // The statement that fails tells of it.
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
    // Closed in any case: it may still be in a transaction, or hold a lock.
    await client.end().catch(() => undefined);
  }
}
