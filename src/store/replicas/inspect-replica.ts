import { defaultConnectionLimits } from '../connection-settings.ts';
import { readServerIdentity } from '../database-identity.ts';
import { onProbe } from '../postgres-server.ts';
import { requireReplica, serverOf } from './open-replicas.ts';
import { openReplica } from './replica.ts';
import { readPosition } from './wal-position.ts';

/** The lag of a replica, or why it cannot be used. */
export type ReplicaFacts = { readonly lagMs: number } | { readonly problem: string };

/**
 * Compares a replica with its primary once. Throws a sentence, without passwords, unless the address leads to a reachable standby of the
 * primary.
 */
export async function inspectReplica(url: string, primaryUrl: string, maxLagMs: number): Promise<ReplicaFacts> {
  const at = performance.now();
  const { identity, position } = await onProbe(primaryUrl, { ms: 0 }, async (client) => {
    const query = async <Row>(sql: string) => (await client.query(sql)).rows as Row[];
    return { identity: (await readServerIdentity(query)) ?? '', position: await readPosition(query) };
  });
  await requireReplica(url, { url: primaryUrl, identity });
  let problem = '';
  const log = { warn: (fields: { readonly reason?: string }) => (problem = fields.reason ?? '') };
  const replica = openReplica(url, { server: serverOf(url), identity, limits: defaultConnectionLimits, maxLagMs, log });
  try {
    await replica.check(position, at);
    const { isUsable, lagMs } = replica.state();
    return isUsable && lagMs !== null ? { lagMs } : { problem };
  } finally {
    await replica.close();
  }
}
