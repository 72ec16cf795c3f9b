import type { Session } from './driver.ts';

/**
 * The key of the advisory lock that a backup holds while it copies files. Statements that give up files for good take it shared, in their
 * own transactions, and do nothing if they do not get it.
 */
const backupLock = 7_309_454;

/** SQL condition: no backup copies files, and none begins before the end of the transaction. Use it in a materialized CTE, once. */
export const mayGiveUpFiles = `pg_try_advisory_xact_lock_shared(${backupLock})`;

/** Begins the time in which no file is given up, until the session ends. Throws a sentence if another backup has begun one. */
export async function lockFilesForBackup(session: Session): Promise<void> {
  // Waits for statements that give files up, which take milliseconds; a backup may take hours.
  const [row] = await session.query<{ isLocked: boolean }>(
    `with other as materialized (
       select exists (select 1 from pg_locks where locktype = 'advisory' and objid = ${backupLock} and objsubid = 1
         and database = (select oid from pg_database where datname = current_database()) and mode = 'ExclusiveLock' and granted
         and pid <> pg_backend_pid()) as is_running)
     select case when is_running then false else pg_advisory_lock(${backupLock}) is not null end as "isLocked" from other`,
  );
  if (row?.isLocked !== true) throw new Error('Another backup of this database is running. Wait for its end.');
}

const lostConnection = 'The database has ended the connection of the backup. Try again.';

/** Throws a sentence if the session has lost the lock of {@link lockFilesForBackup}, with its connection. */
export async function requireFileLock(session: Session): Promise<void> {
  const held = `select 1 from pg_locks where locktype = 'advisory' and objid = ${backupLock} and mode = 'ExclusiveLock'
    and granted and pid = pg_backend_pid()`;
  const rows = await session.query(held).catch((error: unknown) => {
    throw new Error(lostConnection, { cause: error });
  });
  if (rows.length === 0) throw new Error(lostConnection);
}
