import type pg from 'pg';
import { describeServer, onProbe, type WaitOptions } from './postgres-server.ts';

/**
 * Throws a sentence, without passwords, if a pooler does not lead to the database that another address leads to, or takes no
 * transactions: the service would write to one, and listen on and migrate the other. Waits a few seconds for the pooler.
 */
export async function requireSameDatabase(
  poolerUrl: string,
  directUrl: string,
  options: Partial<WaitOptions>,
): Promise<void> {
  const [pooled, direct] = [
    await onProbe(poolerUrl, options, readDatabase),
    await onProbe(directUrl, options, readDatabase),
  ];
  if (pooled === direct) return;
  throw new Error(
    `DATABASE_URL (${describeServer(poolerUrl)}) and DATABASE_DIRECT_URL (${describeServer(directUrl)}) lead to different databases.`,
  );
}

// The start of the server tells it from its copies, which have the same identifiers. Every user may read it.
async function readDatabase(client: pg.Client): Promise<string> {
  // A pooler in statement mode refuses transactions.
  await client.query('begin');
  const { rows } = await client.query<{ name: string }>(
    `select pg_postmaster_start_time() || ' ' || oid as name from pg_database where datname = current_database()`,
  );
  await client.query('commit');
  return rows[0]?.name ?? '';
}
