import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import type { FaultProxy } from '../fault-proxy.ts';
import type { PostgresCluster } from '../postgres-cluster.ts';
import type { Random } from './scenarios.ts';

/** The kinds of faults of the database and of the connection to it. */
export const faults = ['terminate', 'blackHole', 'refuse', 'restart', 'exhaust'] as const;
/** See {@link faults}. */
export type Fault = (typeof faults)[number];

/** Causes one fault, and resolves when it is over. Black holes and refusals last for some seconds. */
export async function causeFault(
  fault: Fault,
  { cluster, proxy, random }: { cluster: PostgresCluster; proxy: FaultProxy; random: Random },
): Promise<void> {
  const lastingMs = 1_000 + random.below(5_000);
  if (fault === 'terminate') return withAdmin(cluster, terminateAll);
  if (fault === 'restart') return cluster.restart();
  if (fault === 'blackHole') {
    proxy.hold();
    await wait(lastingMs);
    proxy.heal();
    return;
  }
  if (fault === 'refuse') {
    proxy.refuse();
    await wait(lastingMs);
    proxy.accept();
    return;
  }
  const taken = await takeAllConnections(cluster);
  // The service must reconnect, and no connection is free.
  await withAdmin(cluster, terminateOf('switchyard%')).catch(() => undefined);
  await wait(lastingMs);
  await Promise.all(taken.map((client) => client.end().catch(() => undefined)));
}

const terminateAll = terminateOf('%');

function terminateOf(name: string) {
  return async (admin: pg.Client): Promise<void> => {
    await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where pid <> pg_backend_pid() and application_name like $1 and backend_type = 'client backend'`,
      [name],
    );
  };
}

async function takeAllConnections(cluster: PostgresCluster): Promise<pg.Client[]> {
  const taken: pg.Client[] = [];
  for (;;) {
    const client = new pg.Client({ connectionString: cluster.url, 'application_name': 'taker' });
    client.on('error', () => undefined);
    const isTaken = await client.connect().then(
      () => true,
      () => false,
    );
    if (!isTaken) return taken;
    taken.push(client);
  }
}

async function withAdmin(cluster: PostgresCluster, work: (admin: pg.Client) => Promise<void>): Promise<void> {
  const admin = new pg.Client({ connectionString: cluster.url });
  admin.on('error', () => undefined);
  await admin.connect();
  await work(admin).finally(() => admin.end().catch(() => undefined));
}
