import { join } from 'node:path';
import { lockDataDir } from './data-dir-lock.ts';
import type { Session } from './driver.ts';
import { openPglite } from './pglite.ts';
import { waitForServer } from './postgres-server.ts';
import { openSession } from './postgres-session.ts';

/** The location of a database. */
export interface DatabaseLocation {
  readonly dataDir: string;
  /** Null: the embedded database. */
  readonly databaseUrl: string | null;
}

/**
 * Runs `work` on a connection to a database, and applies no migration. Locks the data directory for the embedded database. Rejects
 * with a sentence without a password if the database cannot be used, or another process has the embedded one.
 */
export async function withDatabaseSession<T>(
  { dataDir, databaseUrl }: DatabaseLocation,
  lockedMessage: string,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  if (databaseUrl !== null) {
    await waitForServer(databaseUrl, { ms: 0 });
    return openSession(databaseUrl, work);
  }
  const lock = await lockDataDir(dataDir, { lockedMessage });
  try {
    const driver = await openPglite({ directory: join(dataDir, 'pglite') });
    try {
      return await driver.session(work);
    } finally {
      await driver.close();
    }
  } finally {
    await lock.release();
  }
}
