import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { fileListName, type Manifest, manifestName, tableName } from '../../src/backup/manifest.ts';
import { runCommand } from './server.ts';
import { makeDirectory } from './server-env.ts';

/** The key of the apps of tests. */
export const appSecretKey = 'a secret key that is only for the tests';

/** A database and its files. */
export interface Installed {
  readonly dataDir: string;
  readonly databaseUrl: string | null;
}

/** Returns the variables of a service for a command. */
export const variablesOf = ({ dataDir, databaseUrl }: Installed): Record<string, string> => ({
  DATA_DIR: dataDir,
  SECRET_KEY: appSecretKey,
  ...(databaseUrl !== null && { DATABASE_URL: databaseUrl }),
});

/** Writes a backup with the command, which must succeed. Returns its directory. */
export async function backUp(installed: Installed, ...args: string[]): Promise<string> {
  const target = join(makeDirectory(), 'backup');
  const { code, stderr } = await runCommand('backup', variablesOf(installed), target, ...args);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  return target;
}

/** Restores a backup with the command, which must succeed. */
export async function restore(source: string, installed: Installed): Promise<void> {
  const { code, stdout, stderr } = await runCommand('restore', variablesOf(installed), source);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  expect(stdout).toContain('The service starts in maintenance mode');
}

/** Reads the manifest of a backup. */
export const manifestOf = (backup: string): Manifest => JSON.parse(readFileSync(join(backup, manifestName), 'utf8'));

/** Writes a manifest with changes. */
export function changeManifest(backup: string, change: (manifest: any) => void): void {
  const manifest = manifestOf(backup);
  change(manifest);
  writeFileSync(join(backup, manifestName), JSON.stringify(manifest));
}

const storedFile = (content: Buffer) => ({
  bytes: content.byteLength,
  sha256: createHash('sha256').update(content).digest('hex'),
});

/** Replaces the lines of a table, or of the list of files, with hashes and numbers that fit: as an attacker would. */
export function forgeLines(backup: string, table: string | null, lines: readonly string[]): void {
  const content = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  const packed = gzipSync(content);
  writeFileSync(join(backup, table === null ? fileListName : tableName(table)), packed);
  changeManifest(backup, (manifest) => {
    const hashes = { content: storedFile(content), file: storedFile(packed) };
    if (table === null) {
      const bytes = lines.reduce((sum, line) => sum + Number(/"bytes":(\d+)/.exec(line)?.[1] ?? 0), 0);
      Object.assign(manifest.files, hashes, { count: lines.length, bytes });
    } else {
      const entry = manifest.tables.find((each: { name: string }) => each.name === table);
      Object.assign(entry, hashes, { rows: lines.length });
    }
  });
}

/** Reads the lines of a table, or of the list of files. */
export const linesOf = (backup: string, table: string | null): string[] =>
  gunzipSync(readFileSync(join(backup, table === null ? fileListName : tableName(table))))
    .toString('utf8')
    .split('\n')
    .slice(0, -1);

/** Tables that a restore changes: it begins maintenance mode, and forgets the processes of the original. */
const changedByRestore = ['installation', 'lease', 'worker', 'agent_program'];

/** Returns rows and hashes of the tables of a backup, and of its files. */
export function contentOf(backup: string) {
  const { tables, files } = manifestOf(backup);
  const kept = tables.filter(({ name }) => !changedByRestore.includes(name));
  return {
    tables: Object.fromEntries(kept.map(({ name, rows, content }) => [name, [rows, content.sha256]])),
    files: [files.count, files.bytes, files.content.sha256],
  };
}
