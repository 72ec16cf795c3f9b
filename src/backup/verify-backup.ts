import { BackupError } from './backup-error.ts';
import { checkFile, readLines, readSmall } from './lines.ts';
import type { Location } from './location.ts';
import {
  copyName,
  keyName,
  type Manifest,
  manifestName,
  maxManifestBytes,
  parseManifest,
  tableName,
} from './manifest.ts';
import { parseLine } from './row-lines.ts';
import { forEachFile } from './stored-files.ts';

/** Reads the manifest. Throws BackupError if there is none: the backup is not complete, or there is none at this location. */
export async function readManifest(location: Location): Promise<Manifest> {
  const source = await location.read(manifestName);
  if (source === null) {
    throw new BackupError(`There is no complete backup in ${location.label}: ${manifestName} is missing.`);
  }
  source.destroy();
  return parseManifest((await readSmall(location, manifestName, maxManifestBytes)).toString('utf8'));
}

/** Reads every file of a backup and compares sizes, hashes and numbers of rows. Throws BackupError that names the first wrong file. */
export async function verifyBackup(
  location: Location,
  manifest: Manifest,
  report: (text: string) => void,
): Promise<void> {
  for (const table of manifest.tables) {
    let rows = 0;
    const name = tableName(table.name);
    for await (const lines of readLines(location, name, table)) {
      for (const line of lines) parseLine(line, table, ++rows);
    }
    if (rows !== table.rows) throw new BackupError(`${name} of the backup has ${rows} rows instead of ${table.rows}.`);
  }
  report(`${manifest.tables.length} tables are as they were written.`);
  await forEachFile(location, manifest, (entry) => checkFile(location, copyName(entry.key), entry));
  report(`${manifest.files.count} files are as they were written.`);
  if (manifest.key !== null) await checkFile(location, keyName, manifest.key.file);
}
