import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { diffSchema } from '../../scripts/diff-schema.ts';

it('has migrations that make exactly the schema of prisma/schema.prisma', async () => {
  expect(await diffSchema(), 'Run "npm run migration NAME" and commit what it writes.').toBeNull();
});

it('would see a column that the migrations do not make', async () => {
  const schema = await readFile('prisma/schema.prisma', 'utf8');
  const changed = schema.replace('model Enterprise {', 'model Enterprise {\n  motto String?');
  expect(await diffSchema({ schema: changed })).toContain('ADD COLUMN     "motto" TEXT');
});
