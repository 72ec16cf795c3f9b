// npm run migration NAME: writes what brings the migrations to prisma/schema as a new migration.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { diffSchema } from './diff-schema.ts';

const [name] = process.argv.slice(2);
if (name === undefined || !/^[a-z][a-z0-9_]{0,59}$/.test(name)) {
  console.error('Usage: npm run migration NAME, with a name of at most 60 lower-case letters, digits and "_".');
  process.exit(1);
}
const sql = await diffSchema();
if (sql === null) {
  console.log('The migrations already agree with prisma/schema.');
} else {
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  const folder = join(import.meta.dirname, '../prisma/migrations', `${stamp}_${name}`);
  await mkdir(folder);
  await writeFile(join(folder, 'migration.sql'), sql);
  console.log(`Wrote ${join(folder, 'migration.sql')}. Read it, and add by hand below it what Prisma cannot say.`);
}
