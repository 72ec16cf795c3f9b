// npm run migration NAME: writes what brings the migrations to prisma/schema.prisma as a new migration.
import { mkdir, writeFile } from 'node:fs/promises';
import { diffSchema } from './diff-schema.ts';

const name = process.argv[2];
if (name === undefined || !/^[a-z][a-z0-9_]*$/.test(name)) {
  process.stderr.write('Usage: npm run migration NAME, with a name of lower-case letters, digits and "_".\n');
  process.exit(1);
}
await mkdir('prisma/migrations', { recursive: true });
const sql = await diffSchema();
if (sql === null) {
  process.stdout.write('The migrations already agree with prisma/schema.prisma.\n');
} else {
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  const directory = `prisma/migrations/${stamp}_${name}`;
  await mkdir(directory, { recursive: true });
  await writeFile(`${directory}/migration.sql`, sql);
  process.stdout.write(`Wrote ${directory}/migration.sql. Add by hand, below it, what Prisma cannot say.\n`);
}
