import { readdir, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseLocation } from './database-session.ts';
import type { Session } from './driver.ts';
import { openPglite } from './pglite.ts';
import { waitForServer } from './postgres-server.ts';
import { openSession } from './postgres-session.ts';

/** The lock of migrations: a service that starts meanwhile waits. */
const lockMigrations = 'select pg_advisory_lock(72707369)';

/**
 * Runs `work` on an empty database: that of a server, whose emptiness `work` checks, or a new embedded one, which gets its name in the
 * locked data directory only when `work` has succeeded.
 */
export async function fillNewDatabase(
  { dataDir, databaseUrl }: DatabaseLocation,
  work: (session: Session) => Promise<void>,
): Promise<void> {
  if (databaseUrl !== null) {
    await waitForServer(databaseUrl, { ms: 0 });
    return openSession(databaseUrl, async (session) => {
      await session.query(lockMigrations);
      await work(session);
    });
  }
  const directory = join(dataDir, 'pglite');
  const draft = `${directory}.restored`;
  const remove = () => rm(draft, { recursive: true, force: true });
  await remove();
  try {
    // Without the template of the build, which has this version's migrations.
    const driver = await openPglite({ directory: draft, templatesDir: join(draft, 'none') });
    try {
      await driver.session(work);
    } finally {
      await driver.close();
    }
    // Fails unless it is empty.
    await rmdir(directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    await rename(draft, directory);
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Tells if a data directory has an embedded database. */
export const hasEmbeddedDatabase = async (dataDir: string): Promise<boolean> =>
  (await readdir(join(dataDir, 'pglite')).catch(() => [])).length > 0;
