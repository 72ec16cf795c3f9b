import type pg from 'pg';
import type { ConnectionLimits } from '../connection-settings.ts';
import { readServerIdentity } from '../database-identity.ts';
import type { Driver } from '../driver.ts';
import { refuseTransactionPooler } from '../pooler.ts';
import { describeServer, onProbe, openProbe } from '../postgres-server.ts';
import { isUnavailable } from '../unavailable.ts';
import { openReplica } from './replica.ts';
import { type Replicas, startReplicas } from './replicas.ts';

/** The addresses of the replicas of a database, and how they are used. */
export interface ReplicaSettings {
  /** Physical standbys. Empty: no replicas. */
  readonly urls: readonly string[];
  /** The time that a list waits for a replica that is behind. */
  readonly maxLagMs: number;
}

/** The database whose replicas are opened. */
interface Primary {
  /** The address in DATABASE_URL. */
  readonly url: string;
  readonly driver: Pick<Driver, 'urgentQuery' | 'readIdentity'>;
}

/**
 * Opens the replicas of a primary. Throws a sentence, without passwords, if an address leads to another database. A replica that does not
 * answer, or was promoted, is used when it is a standby that answers.
 */
export async function openReplicas(
  { urls, maxLagMs }: ReplicaSettings,
  primary: Primary,
  {
    limits,
    log,
  }: { readonly limits: ConnectionLimits; readonly log: Record<'warn', (fields: object, message: string) => void> },
): Promise<Replicas> {
  const identity = await primary.driver.readIdentity();
  if (identity === null) {
    throw new Error(
      `DATABASE_REPLICA_URLS cannot be used: PostgreSQL at ${describeServer(primary.url)} does not let its user call pg_control_system(), by which replicas are recognized.`,
    );
  }
  await Promise.all(
    urls.map((url) =>
      requireReplica(url, { url: primary.url, identity }).catch((error: Error) => {
        // The first check of the replica reports it.
        if (!isUnavailable(error) && !(error instanceof NoStandbyError)) throw error;
      }),
    ),
  );
  const replicas = urls.map((url) => openReplica(url, { server: serverOf(url), identity, limits, maxLagMs, log }));
  return startReplicas(replicas, primary.driver);
}

/** The refusal of the database itself, or of a promoted standby: only an operator can know which of them takes writes. */
class NoStandbyError extends Error {}

/**
 * Throws a sentence, without passwords, if an address does not lead to a physical standby of the database with this identity, or a
 * pooler in transaction mode is in front of it.
 */
export async function requireReplica(
  url: string,
  primary: { readonly url: string; readonly identity: string },
): Promise<void> {
  const server = describeServer(url);
  const found = await onProbe(url, { ms: 0 }, (client) => readStandby(client, url)).catch((error: Error) => {
    throw new Error(`DATABASE_REPLICA_URLS: ${error.message}`, { cause: error });
  });
  if (!found.isStandby) {
    const message = `DATABASE_REPLICA_URLS: PostgreSQL at ${server} is not a standby. Only physical standbys of DATABASE_URL can be read replicas.`;
    throw found.identity === primary.identity ? new NoStandbyError(message) : new Error(message);
  }
  if (found.identity === primary.identity) return;
  const isSameCluster = clusterOf(found.identity) === clusterOf(primary.identity);
  const other = isSameCluster ? 'is another database' : 'is a standby of another cluster';
  throw new Error(
    `DATABASE_REPLICA_URLS: PostgreSQL at ${server} ${other} than DATABASE_URL (${describeServer(primary.url)}).`,
  );
}

async function readStandby(client: pg.Client, url: string) {
  const { rows } = await client.query<{ isStandby: boolean; pid: number }>(
    'select pg_is_in_recovery() as "isStandby", pg_backend_pid() as pid',
  );
  const advice = 'name the address of PostgreSQL itself';
  await refuseTransactionPooler(client, rows[0]?.pid ?? 0, () => openProbe(url), advice);
  const identity = await readServerIdentity(async (sql) => (await client.query<{ identity: string | null }>(sql)).rows);
  return { isStandby: rows[0]?.isStandby === true, identity };
}

const clusterOf = (identity: string | null) => identity?.slice(0, identity.lastIndexOf(':'));

/** Returns the host and port of an address. */
export const serverOf = (url: string) => describeServer(url).split(',', 1)[0] as string;
