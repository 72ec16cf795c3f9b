import { isSameFile } from './file-identity.ts';

// The cluster's number survives a restart, a failover to a standby and a point-in-time recovery; the database's number
// changes after a restore from a dump.
const ofServer = `
  select 'server:' || (select system_identifier from pg_control_system()) || ':' || oid as identity
    from pg_database where datname = current_database()`;

/** Reads the identity of a database on a server; null if the server does not let its users read it. */
export async function readServerIdentity(
  query: (sql: string, values: readonly unknown[]) => Promise<{ identity: string | null }[]>,
): Promise<string | null> {
  const rows = await query(ofServer, []).catch((error: { code?: string }) => {
    // insufficient_privilege, undefined_function: a managed service that does not provide it.
    if (error.code === '42501' || error.code === '42883') return [];
    throw error;
  });
  return rows[0]?.identity ?? null;
}

/** Returns true if two identities belong to one database: on a server, or by the files of an embedded one. */
export function isSameDatabase(one: string, other: string): boolean {
  if (one.startsWith('file:') && other.startsWith('file:')) return isSameFile(one, other);
  return one === other;
}
