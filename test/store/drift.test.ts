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

it('would detect a column without a migration, and a column and an index that only the migrations create', async () => {
  const schema = (await readSchema()).replace('model Enterprise {', 'model Enterprise {\n  motto String?');
  const migrations = await withMigration(`
    alter table enterprise add column slogan text;
    create index enterprise_by_name on enterprise (name);`);
  const difference = await diffSchema({ schema, migrations });
  expect(difference).toContain('ADD COLUMN     "motto" TEXT');
  expect(difference).toContain('DROP COLUMN "slogan"');
  expect(difference).toContain('DROP INDEX "enterprise_by_name"');
});

it('would detect a migration that does not run', async () => {
  const migrations = (await withMigration('create table (')).slice(-1);
  await expect(diffSchema({ migrations })).rejects.toThrow('failed to apply cleanly');
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
