import type pg from 'pg';

/** Number of comparisons of two connections: a pooler may use several server connections in turn. */
const comparisons = 5;

/**
 * Throws a sentence if a pooler in transaction mode (PgBouncer's `pool_mode = transaction`, or `statement`) is in front
 * of the server. There each transaction may use another server connection: settings, prepared statements, LISTEN and
 * locks of a session would be lost, or belong to another client.
 *
 * `backendPid` is the server process that has answered `client`. Without a pooler it is the one that the handshake
 * named, and no further check is needed. A pooler in session mode gives two open connections two processes, for as long
 * as they are open. `advice` is part of the sentence.
 */
export async function refuseTransactionPooler(
  client: pg.Client,
  backendPid: number,
  open: () => pg.Client,
  advice: string,
): Promise<void> {
  const { processID } = client as unknown as { processID: number | null };
  if (processID === backendPid) return;
  const other = open();
  await other.connect();
  try {
    for (let n = 0; n < comparisons; n++) {
      const pids = [await readPid(client), await readPid(other)];
      if (pids[0] === backendPid && pids[0] !== pids[1]) continue;
      throw new Error(
        `a connection pooler in transaction mode is in front of it: ${advice}, or set pool_mode to session`,
      );
    }
  } finally {
    other.end().catch(() => undefined);
  }
}

async function readPid(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}
