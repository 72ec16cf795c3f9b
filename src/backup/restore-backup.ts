import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Session } from '../store/driver.ts';
import type { FileStorage } from '../store/file-storage.ts';
import { BackupError } from './backup-error.ts';
import { fingerprintOf, maxKeyFileBytes, readKeyFile } from './key-file.ts';
import { readSmall } from './lines.ts';
import { keyName } from './manifest.ts';
import { type DatabaseLoad, loadDatabase } from './restore-database.ts';
import { copyToStorage, forEachFile } from './stored-files.ts';

/** The options of a restore. */
export interface RestoreOptions extends DatabaseLoad {
  readonly storage: FileStorage;
  readonly dataDir: string;
  /** The key of the environment or of DATA_DIR; null: there is none. */
  readonly secretKey: string | null;
  readonly passphrase: string | null;
}

/**
 * Restores a verified backup into an empty database and an empty file storage. After a failure both are as empty as before.
 * `onDatabase` runs a function on the empty database, and undoes what that needed if the function fails.
 */
export async function restoreBackup(
  options: RestoreOptions,
  onDatabase: (work: (session: Session) => Promise<void>) => Promise<void>,
): Promise<void> {
  const { location, manifest, storage, report } = options;
  const newKey = await findKey(options);
  await requireEmptyStorage(storage);
  const keyPath = join(options.dataDir, 'secret.key');
  const begun: string[] = [];
  try {
    await forEachFile(location, manifest, (entry) => {
      begun.push(entry.key);
      return copyToStorage(storage, location, entry);
    });
    report(`${manifest.files.count} files were copied.`);
    if (newKey !== null) await writeKey(options.dataDir, keyPath, newKey);
    await onDatabase((session) => loadDatabase(session, options));
  } catch (error) {
    if (newKey !== null) await rm(keyPath, { force: true });
    await removeFiles(storage, begun).catch((failure: Error) =>
      report(`The copied files could not be removed (${failure.message}): delete them before you try again.`),
    );
    throw error;
  }
}

/** Returns the key of the backup if there is no other; null if there is. Throws BackupError for a wrong key, or without one. */
async function findKey({ location, manifest, secretKey, passphrase }: RestoreOptions): Promise<string | null> {
  const { keyFingerprint, key } = manifest;
  if (secretKey !== null) {
    if (fingerprintOf(secretKey) === keyFingerprint) return null;
    throw new BackupError(
      'SECRET_KEY, or DATA_DIR/secret.key, is not the key of this backup: its tokens and secrets could not be read. Set the key of the original service.',
    );
  }
  if (key === null) {
    throw new BackupError(
      'The backup does not have the key, and there is none here. Set SECRET_KEY to the key of the original service, or copy its DATA_DIR/secret.key.',
    );
  }
  const text = (await readSmall(location, keyName, maxKeyFileBytes)).toString('utf8');
  const found = await readKeyFile(text, keyFingerprint, passphrase);
  if (fingerprintOf(found) !== keyFingerprint)
    throw new BackupError('The key in the backup is not that of its database.');
  return found;
}

async function writeKey(dataDir: string, path: string, secretKey: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(`${secretKey}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The folders in which the service stores files. */
const ownFolder = /^(?:checkpoints|[0-9a-f]{2})$/;

async function listFolders({ disk }: FileStorage): Promise<string[]> {
  const folders: string[] = [];
  let paginationToken: string | undefined;
  do {
    const options = paginationToken === undefined ? {} : { paginationToken };
    const page = await disk.listAll('/', { recursive: false, ...options });
    for (const { name } of page.objects) if (ownFolder.test(name)) folders.push(name);
    paginationToken = page.paginationToken;
  } while (paginationToken !== undefined);
  return folders;
}

/** Throws BackupError if the storage has files of a service. Other files in the same bucket or directory do not matter. */
async function requireEmptyStorage(storage: FileStorage): Promise<void> {
  const [folder] = await listFolders(storage);
  if (folder === undefined) return;
  throw new BackupError(
    `The file storage is not empty: it has the folder "${folder}" of a service. Choose an empty ATTACHMENTS_DIR or S3_BUCKET. If an earlier restore was killed, delete what it has left there.`,
  );
}

// One by one: the removal of a folder would match longer names in a bucket too.
async function removeFiles({ disk }: FileStorage, keys: readonly string[]): Promise<void> {
  for (const key of keys) await disk.delete(key);
}
