import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cleanPassphrase } from '../backup/key-file.ts';
import type { Manifest } from '../backup/manifest.ts';
import type { Config } from '../config/config.ts';

/** Arguments that the command does not have; the message is the usage. */
export class UsageError extends Error {}

/** Writes the progress of a command to stderr. */
export const report = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

/** Returns the key of the environment, else that of DATA_DIR; null: there is none. Unlike a start, this generates none. */
export async function readOwnKey({ secretKey, dataDir }: Config): Promise<string | null> {
  if (secretKey !== null) return secretKey;
  const text = await readFile(join(dataDir, 'secret.key'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new Error(`DATA_DIR/secret.key cannot be read (${error.code}).`, { cause: error });
  });
  return text.trim() === '' ? null : text.trim();
}

/** Reads the file of a passphrase. Throws a sentence if it cannot be read, or is too short. */
export async function readPassphrase(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`The file of --key-passphrase-file cannot be read (${error.code}).`, { cause: error });
  });
  return cleanPassphrase(text);
}

/** Describes the content of a backup in some lines. */
export function describeBackup({ version, createdAt, tables, files, key, migrations }: Manifest): string {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const mib = (files.bytes / 1_048_576).toFixed(1);
  const missing = files.missing > 0 ? `, and ${files.missing} were missing` : '';
  const ofKey =
    key === null ? 'SECRET_KEY is not in it' : key.isSealed ? 'SECRET_KEY is sealed in it' : 'SECRET_KEY is in it';
  return [
    `Written by Switchyard ${version} at ${createdAt}, with ${migrations.length} migrations.`,
    `${tables.length} tables with ${rows} rows. ${files.count} files with ${mib} MiB${missing}. ${ofKey}.`,
  ].join('\n');
}
