import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, it as always, beforeEach, expect } from 'vitest';
import { migrate } from '../../src/store/migrations.ts';
import { openPglite, type PgliteHome } from '../../src/store/pglite.ts';
import { templatePath } from '../../src/store/pglite-template.ts';
import { ensureBuilt } from '../support/built.ts';
import { testDatabase } from '../support/test-store.ts';

const it = always.skipIf(testDatabase !== 'pglite');

let root: string;
let directory: string;
beforeEach(async () => {
  await ensureBuilt();
  root = await mkdtemp(join(tmpdir(), 'switchyard-template-'));
  directory = join(root, 'pglite');
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** Identifies the cluster and its rows; it must accept writes. */
async function readContents(home: PgliteHome): Promise<{ cluster: string; filled: string[] }> {
  const driver = await openPglite(home);
  try {
    await migrate(driver);
    const [found] = await driver.query<{ id: string }>(
      'select system_identifier::text as id from pg_control_system()',
      [],
    );
    const tables = await driver.query<{ name: string }>(
      `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`,
      [],
    );
    expect(tables.length).toBeGreaterThan(20);
    const filled: string[] = [];
    for (const { name } of tables) {
      if ((await driver.query(`select 1 from "${name}" limit 1`, [])).length > 0) filled.push(name);
    }
    await driver.query(`insert into enterprise (id, name, created_at) values ('e', 'Acme', now())`, []);
    return { cluster: found?.id ?? '', filled };
  } finally {
    await driver.close();
  }
}

it('is copied for new databases: each is migrated, and shares nothing unique with another', async () => {
  const one = await readContents({ directory });
  const other = await readContents({ directory: join(root, 'other') });
  expect(one.filled).toEqual(['_prisma_migrations']);
  // Equal identities show that neither was created again.
  expect(other).toEqual(one);
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  // An existing database stays: it has the written rows.
  await expect(readContents({ directory })).rejects.toThrow(/duplicate key|unique constraint/i);
});

it('is not used for another PGlite or other migrations: the database is created from scratch', {
  timeout: 180_000,
}, async () => {
  const built = await templatePath();
  const templatesDir = join(root, 'templates');
  await cp(built, join(templatesDir, basename(built).replace(/-\d[^-]*-/, '-0.0.1-')));
  await cp(built, join(templatesDir, basename(built).replace(/[0-9a-f]{16}\.gz$/, '0123456789abcdef.gz')));
  expect(await readdir(templatesDir)).toHaveLength(2);
  const rebuilt = await readContents({ directory, templatesDir });
  expect(rebuilt.filled).toEqual(['_prisma_migrations']);
  expect(rebuilt.cluster).not.toBe((await readContents({ directory: join(root, 'other') })).cluster);
});

it('leaves nothing that blocks the next start when one is killed during the copy', async () => {
  const env = { PATH: process.env.PATH ?? '', PORT: '0', DATA_DIR: root };
  const child = spawn(process.execPath, ['dist/main.js'], { env, stdio: 'ignore' });
  // Its files appear after the folder.
  while (!existsSync(join(`${directory}.new`, 'base'))) await new Promise((resolve) => setImmediate(resolve));
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  // From any stage of the interrupted copy: one that stopped early, and one with excess files.
  await rm(directory, { recursive: true, force: true });
  await rm(join(`${directory}.new`, 'global'), { recursive: true, force: true });
  await writeFile(join(`${directory}.new`, 'PG_VERSION'), 'half');
  expect((await readContents({ directory })).filled).toEqual(['_prisma_migrations']);
  expect(existsSync(`${directory}.new`)).toBe(false);
});
