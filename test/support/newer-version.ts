import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ensureBuilt } from './built.ts';
import { makeDirectory } from './server-env.ts';

/** Makes a newer version of the built service, which has more migrations: their statements by their names. Returns its directory. */
export async function makeNewerVersion(migrations: Readonly<Record<string, string>>): Promise<string> {
  await ensureBuilt();
  const directory = makeDirectory();
  for (const part of ['dist', 'prisma/migrations', 'package.json']) {
    await cp(part, join(directory, part), { recursive: true });
  }
  await symlink(resolve('node_modules'), join(directory, 'node_modules'));
  for (const [name, sql] of Object.entries(migrations)) {
    const folder = join(directory, 'prisma/migrations', name);
    await mkdir(folder);
    await writeFile(join(folder, 'migration.sql'), sql);
  }
  return directory;
}
