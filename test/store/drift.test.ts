import { it as always, expect } from 'vitest';
import { diagnoseHistory, diffSchema, readSchema } from '../../scripts/diff-schema.ts';
import { type Migration, migrate, readMigrations } from '../../src/store/migrations.ts';
import { openPglite } from '../../src/store/pglite.ts';
import { migratedDump, testDatabase } from '../support/test-store.ts';

// Prisma's engine runs the migrations on PGlite in every project, so once is enough.
const it = always.skipIf(testDatabase !== 'pglite');

const withMigration = async (sql: string): Promise<Migration[]> => [
  ...(await readMigrations()),
  { name: '99999999999999_drift', sql, checksum: '' },
];

it('has migrations that result in exactly the schema of prisma/schema', async () => {
  expect(await diffSchema(), 'Run "npm run migration NAME" and commit what it writes.').toBeNull();
});

it('would detect a column without a migration', async () => {
  const schema = await readSchema();
  const changed = schema.replace('model Enterprise {', 'model Enterprise {\n  motto String?');
  expect(await diffSchema({ schema: changed })).toContain('ADD COLUMN     "motto" TEXT');
});

it('would detect a column that only the migrations create', async () => {
  const column = await withMigration('alter table enterprise add column motto text;');
  expect(await diffSchema({ migrations: column })).toContain('DROP COLUMN "motto"');
  const index = await withMigration('create index enterprise_by_name on enterprise (name);');
  expect(await diffSchema({ migrations: index })).toContain('DROP INDEX "enterprise_by_name"');
});

it('would detect a migration that does not run', async () => {
  await expect(diffSchema({ migrations: await withMigration('create table (') })).rejects.toThrow();
});

it('records migrations so that "prisma migrate deploy" agrees', async () => {
  const driver = await openPglite({ dump: await migratedDump() });
  await migrate(driver);
  const dump = await driver.dump();
  await driver.query(
    `update _prisma_migrations set checksum = 'another' where migration_name = '20261121000000_sessions'`,
    [],
  );
  const changed = await driver.dump();
  await driver.close();
  expect(await diagnoseHistory(dump)).toEqual({
    hasMigrationsTable: true,
    history: null,
    editedMigrationNames: [],
    failedMigrationNames: [],
  });
  expect(await diagnoseHistory(changed)).toMatchObject({ editedMigrationNames: ['20261121000000_sessions'] });
});
