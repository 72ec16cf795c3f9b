import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import { gunzip, gzip } from 'node:zlib';
import { readMigrations } from './migrations.ts';

// The same path from src/store and from dist/store.
const builtTemplates = fileURLToPath(new URL('../../dist/embedded', import.meta.url));

/**
 * The content of a directory, by path, folders before their content; null is a folder: PostgreSQL needs the empty ones
 * too.
 */
type Files = Map<string, Uint8Array | null>;

/**
 * Returns the path of the build's template: the files of an embedded database that is migrated and empty. The name
 * identifies the versions of PGlite and of the migrations, so that an older build's template is never used.
 */
export async function templatePath(templatesDir: string = builtTemplates): Promise<string> {
  const engine = new URL('../package.json', import.meta.resolve('@electric-sql/pglite'));
  const { version } = JSON.parse(await readFile(engine, 'utf8')) as { version: string };
  const checksums = (await readMigrations()).map(({ checksum }) => checksum);
  const migrations = createHash('sha256').update(checksums.join()).digest('hex').slice(0, 16);
  return join(templatesDir, `pglite-${version}-${migrations}.gz`);
}

/** Makes the files of a closed database the template, and deletes every other template. */
export async function writeTemplate(directory: string): Promise<void> {
  const files: Files = new Map();
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    files.set(relative(directory, path), entry.isDirectory() ? null : await readFile(path));
  }
  const path = await templatePath();
  const draft = `${path}.${process.pid}`;
  await rm(builtTemplates, { recursive: true, force: true });
  await mkdir(builtTemplates, { recursive: true });
  await writeFile(draft, await promisify(gzip)(serialize(files)));
  await rename(draft, path);
}

/** Unpacks the template into an empty directory. Returns false, with the directory still empty, if no template fits. */
export async function unpackTemplate(directory: string, templatesDir?: string): Promise<boolean> {
  const packed = await readFile(await templatePath(templatesDir)).catch(() => null);
  if (packed === null) return false;
  const files = deserialize(await promisify(gunzip)(packed)) as Files;
  // A thousand small files at a start, before any request: writing them one after another is fastest.
  for (const [path, content] of files) {
    if (content === null) mkdirSync(join(directory, path), { mode: 0o700 });
    else writeFileSync(join(directory, path), content, { mode: 0o600 });
  }
  return true;
}
