import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import {
  backUp,
  changeManifest,
  forgeLines,
  type Installed,
  linesOf,
  manifestOf,
  restore,
  variablesOf,
} from '../support/backups.ts';
import { onDatabase } from '../support/postgres-copies.ts';
import { killCommand, runCommand } from '../support/server.ts';
import { makeDirectory } from '../support/server-env.ts';
import { createSession, say } from '../support/sessions.ts';
import { createDatabase, testDatabase } from '../support/test-store.ts';
import { uploadTo } from '../support/uploads.ts';

describe.skipIf(testDatabase !== 'postgres')('a backup', () => {
  let original: TestApp;
  let backup: string;
  beforeAll(async () => {
    original = await startApp();
    const id = await createSession(original, { prompt: 'say done' });
    await say(original, id, 'One answer.');
    await uploadTo(original, original.organizationId, { name: 'a.txt', content: 'content' });
    backup = join(original.dataDir, 'backup');
    const { code, stderr } = await runCommand('backup', variablesOf(original), backup);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
  });
  afterAll(() => original.close());

  /** Copies the backup, so that a test can damage it. */
  function copyBackup(): string {
    const copy = join(makeDirectory(), 'backup');
    cpSync(backup, copy, { recursive: true });
    return copy;
  }

  const newEmbedded = (): Installed => ({ dataDir: join(makeDirectory(), 'data'), databaseUrl: null });

  async function newDatabase(): Promise<string> {
    const url = await createDatabase();
    await onDatabase(url, 'drop schema public cascade', 'create schema public');
    return url;
  }

  /** Expects a refusal by both commands, which verify the whole backup, and that the restore leaves nothing. */
  async function expectRefused(source: string, message: string | RegExp): Promise<void> {
    const target = newEmbedded();
    const verified = await runCommand('backup', variablesOf(target), 'verify', source);
    expect([verified.code, verified.stderr]).toEqual([1, expect.stringMatching(message)]);
    await expectNotRestored(source, target, message);
  }

  async function expectNotRestored(source: string, target: Installed, message: string | RegExp, ...args: string[]) {
    const { code, stderr } = await runCommand('restore', variablesOf(target), source, ...args);
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
    expect(existsSync(join(target.dataDir, 'pglite'))).toBe(false);
    const files = existsSync(target.dataDir)
      ? readdirSync(target.dataDir, { recursive: true, withFileTypes: true })
      : [];
    expect(files.filter((entry) => entry.isFile()).map(({ name }) => name)).toEqual([]);
  }

  it('is verified without a database', async () => {
    const { code, stdout, stderr } = await runCommand('backup', { DATA_DIR: '/nonexistent/data' }, 'verify', backup);
    expect([code, stderr]).toEqual([0, expect.stringContaining('tables are as they were written')]);
    expect(stdout).toMatch(
      /is complete and undamaged\.\n.*\n\d+ tables with \d+ rows\. 1 files with 0\.0 MiB\. SECRET_KEY is not in it\.\n$/,
    );
  });

  it('explains itself, and refuses other arguments', async () => {
    for (const command of ['backup', 'restore']) {
      expect(await runCommand(command, {}, '--help')).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('Usage:'),
      });
      expect(await runCommand(command, {})).toMatchObject({ code: 2, stderr: expect.stringContaining('Usage:') });
    }
    expect(await runCommand('backup', {}, 'verify', 'x', '--include-key')).toMatchObject({ code: 2 });
    expect(await runCommand('backup', variablesOf(original), 'ftp://host/x')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('s3://bucket/prefix'),
    });
  });

  it('is not written over anything, and not of an empty database', async () => {
    const full = makeDirectory();
    writeFileSync(join(full, 'mine'), 'x');
    const { code, stderr } = await runCommand('backup', variablesOf(original), full);
    expect([code, stderr]).toEqual([1, expect.stringContaining('is not empty. A backup needs a directory of its own')]);
    expect(readdirSync(full)).toEqual(['mine']);
    const target = join(makeDirectory(), 'backup');
    const empty = await runCommand('backup', variablesOf({ ...original, databaseUrl: await newDatabase() }), target);
    expect([empty.code, empty.stderr]).toEqual([1, expect.stringContaining('This database is empty')]);
    expect(readdirSync(target)).toEqual([]);
  });

  it('fails if a file is missing in the storage, unless that is allowed', async () => {
    const dataDir = makeDirectory();
    const target = join(dataDir, 'backup');
    const env = variablesOf({ ...original, dataDir });
    const { code, stderr } = await runCommand('backup', env, target);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/1 files that the database names are missing.*--allow-missing-files/),
    ]);
    expect(readdirSync(target)).toEqual([]);
    const allowed = await runCommand('backup', env, target, '--allow-missing-files');
    expect([allowed.code, allowed.stdout]).toEqual([
      0,
      expect.stringContaining('0 files with 0.0 MiB, and 1 were missing'),
    ]);
  });

  it('is restored into an empty database and an empty storage only', async () => {
    const used = variablesOf({ dataDir: makeDirectory(), databaseUrl: original.databaseUrl });
    const { code, stderr } = await runCommand('restore', used, backup);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/The database is not empty: it has "\w+"/)]);
    expect(existsSync(join(used.DATA_DIR as string, 'attachments/checkpoints'))).toBe(false);

    const withFiles = newEmbedded();
    mkdirSync(join(withFiles.dataDir, 'attachments/ab'), { recursive: true });
    await expectNotRestored(backup, withFiles, 'The file storage is not empty: it has the folder "ab"');

    const embedded = newEmbedded();
    await restore(backup, embedded);
    const again = await runCommand('restore', variablesOf(embedded), backup);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('has an embedded database already')]);
  });

  it('leaves only copied files when its restore is killed, and the next restore says so', async () => {
    const target = { dataDir: join(makeDirectory(), 'data'), databaseUrl: await newDatabase() };
    const client = new pg.Client({ connectionString: target.databaseUrl });
    await client.connect();
    // A service that migrates this database: the restore waits for it after it has copied the files.
    await client.query('select pg_advisory_lock(72707369)');
    await killCommand('restore', variablesOf(target), [backup], /files were copied/);
    await client.end();
    const leftOver = `select relname from pg_class where relnamespace = 'public'::regnamespace`;
    expect(await onDatabase(target.databaseUrl, leftOver)).toEqual([]);
    const refused = await runCommand('restore', variablesOf(target), backup);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('If an earlier restore was killed, delete'),
    ]);
    rmSync(join(target.dataDir, 'attachments'), { recursive: true });
    await restore(backup, target);
  });

  it('of a newer version is refused with the version that is needed', async () => {
    const copy = copyBackup();
    changeManifest(copy, (manifest) => {
      manifest.version = '9.8.7';
      manifest.migrations.push({ name: '20990101000000_future', checksum: 'a'.repeat(64) });
    });
    const message = 'it has the migration "20990101000000_future". Use Switchyard 9.8.7 or newer.';
    await expectNotRestored(copy, newEmbedded(), message);
    changeManifest(copy, (manifest) => {
      manifest.migrations.pop();
      manifest.migrations[3].checksum = 'b'.repeat(64);
    });
    await expectNotRestored(copy, newEmbedded(), 'of the backup is not the one of this version');
    changeManifest(copy, (manifest) => {
      manifest.format = 2;
    });
    await expectRefused(copy, 'The backup has the format 2, and this version reads the format 1.');
  });

  it('is refused with the name of the file that is damaged or missing', async () => {
    const damaged = copyBackup();
    const table = join(damaged, 'tables/session.jsonl.gz');
    const bytes = readFileSync(table);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 20) ^ 1, bytes.length - 20);
    writeFileSync(table, bytes);
    await expectRefused(damaged, 'tables/session.jsonl.gz of the backup is damaged');

    const [entry = ''] = linesOf(backup, null);
    const { key } = JSON.parse(entry) as { key: string };
    const changed = copyBackup();
    writeFileSync(join(changed, 'files', key), 'CONTENT');
    await expectRefused(changed, `files/${key} of the backup is damaged`);
    rmSync(join(changed, 'files', key));
    await expectRefused(changed, `files/${key} is missing in the backup, which is not complete.`);

    const cut = copyBackup();
    writeFileSync(
      join(cut, 'tables/log_entry.jsonl.gz'),
      readFileSync(join(cut, 'tables/log_entry.jsonl.gz')).subarray(0, 40),
    );
    await expectRefused(cut, 'tables/log_entry.jsonl.gz of the backup is damaged');

    const incomplete = copyBackup();
    renameSync(join(incomplete, 'manifest.json'), join(incomplete, 'manifest.json.new'));
    await expectRefused(incomplete, 'There is no complete backup in .*: manifest.json is missing.');
    await expectRefused(join(makeDirectory(), 'none'), 'There is no complete backup');
  });

  it('is restored with its own key only: of the environment, or in the backup, open or sealed', async () => {
    const { dataDir } = newEmbedded();
    const env = { DATA_DIR: dataDir };
    const run = (source: string, more: Record<string, string> = {}, ...args: string[]) =>
      runCommand('restore', { ...env, ...more }, source, ...args);
    const wrong = await run(backup, { SECRET_KEY: 'another key that is not the right one' });
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('is not the key of this backup')]);
    const none = await run(backup);
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('The backup does not have the key')]);

    const passphraseFile = join(makeDirectory(), 'passphrase');
    writeFileSync(passphraseFile, 'correct horse battery\n');
    const sealed = await backUp(original, '--key-passphrase-file', passphraseFile);
    expect(readFileSync(join(sealed, 'secret.key.json'), 'utf8')).not.toContain('a secret key');
    const closed = await run(sealed);
    expect([closed.code, closed.stderr]).toEqual([
      1,
      expect.stringContaining('give its passphrase with --key-passphrase-file'),
    ]);
    const wrongFile = join(makeDirectory(), 'passphrase');
    writeFileSync(wrongFile, 'incorrect horse battery\n');
    const refused = await run(sealed, {}, '--key-passphrase-file', wrongFile);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('The passphrase is not the one')]);
    expect(existsSync(join(dataDir, 'secret.key'))).toBe(false);
    expect((await run(sealed, {}, '--key-passphrase-file', passphraseFile)).code).toBe(0);
    expect(readFileSync(join(dataDir, 'secret.key'), 'utf8')).toBe('a secret key that is only for the tests\n');

    const open = await backUp(original, '--include-key');
    const other = newEmbedded();
    expect((await runCommand('restore', { DATA_DIR: other.dataDir }, open)).code).toBe(0);
    expect(existsSync(join(other.dataDir, 'secret.key'))).toBe(true);
    const foreign = await runCommand(
      'backup',
      { ...variablesOf(original), SECRET_KEY: 'another key that is not the right one' },
      join(makeDirectory(), 'backup'),
      '--include-key',
    );
    expect([foreign.code, foreign.stderr]).toEqual([
      1,
      expect.stringContaining('SECRET_KEY is not the key of this database'),
    ]);
  });

  it('of somebody else reads and writes nothing outside, and is refused', async () => {
    const [entry = ''] = linesOf(backup, null);
    const { key } = JSON.parse(entry) as { key: string };
    for (const path of ['../../../etc/passwd', '/etc/passwd', `ab/../../${key}`, `files/${key}`, 'ab/x']) {
      const copy = copyBackup();
      forgeLines(copy, null, [JSON.stringify({ ...JSON.parse(entry), key: path })]);
      await expectRefused(copy, 'Line 1 of files.jsonl.gz is not the entry of a file.');
    }
    for (const name of ['../../x', 'a"; drop table session; --', 'Session', '']) {
      const copy = copyBackup();
      changeManifest(copy, (manifest) => {
        manifest.tables[0].name = name;
      });
      await expectRefused(copy, 'manifest.json of the backup is damaged at "tables.0.name".');
    }
    const linked = copyBackup();
    const secret = join(makeDirectory(), 'secret');
    writeFileSync(secret, 'content');
    rmSync(join(linked, 'files', key));
    symlinkSync(secret, join(linked, 'files', key));
    await expectRefused(linked, `files/${key} of the backup is a link, or in one.`);
    const folder = copyBackup();
    const elsewhere = join(makeDirectory(), 'tables');
    renameSync(join(folder, 'tables'), elsewhere);
    symlinkSync(elsewhere, join(folder, 'tables'));
    await expectRefused(folder, 'of the backup is a link, or in one.');
    const pipe = copyBackup();
    rmSync(join(pipe, 'tables/session.jsonl.gz'));
    execFileSync('mkfifo', [join(pipe, 'tables/session.jsonl.gz')]);
    await expectRefused(pipe, 'tables/session.jsonl.gz of the backup is not a file.');
  });

  /** The line of the backup's session, and the same line with another value in a column. */
  function forgeries() {
    const [line = ''] = linesOf(backup, 'session');
    const session = JSON.parse(line) as (string | null)[];
    const { columns } = manifestOf(backup).tables.find(({ name }) => name === 'session') as { columns: string[] };
    const withValue = (column: string, value: unknown) =>
      JSON.stringify(session.map((each, n) => (columns[n] === column ? value : each)));
    return { line, withValue };
  }

  it('of somebody else with lines that are no rows is refused', async () => {
    const { line, withValue } = forgeries();
    for (const text of [
      '{}',
      'null',
      '[',
      '[1]',
      line.replace('[', '[null,'),
      withValue('title', 7),
      withValue('title', { a: 1 }),
    ]) {
      const copy = copyBackup();
      forgeLines(copy, 'session', [text]);
      await expectRefused(copy, 'Line 1 of tables/session.jsonl.gz is not a row of the table.');
    }
  });

  const unfit = 'The rows of the backup do not fit its migrations';

  it('of somebody else with values that do not fit is refused, and leaves nothing', async () => {
    const { line, withValue } = forgeries();
    const forged = async (lines: string[], message: string, table = 'session') => {
      const copy = copyBackup();
      forgeLines(copy, table, lines);
      await expectNotRestored(copy, newEmbedded(), message);
    };
    await forged([withValue('created_at', 'yesterday evening')], unfit);
    await forged([withValue('organization_id', null)], unfit);
    await forged([line, line], unfit);
    await forged([], unfit, 'enterprise');
    await forged(
      [withValue('created_at', '2026-01-01')],
      'The table "session" is not the same as in the backup after it was loaded.',
    );
    const onServer = copyBackup();
    forgeLines(onServer, 'enterprise', []);
    const server = { dataDir: join(makeDirectory(), 'data'), databaseUrl: await newDatabase() };
    await expectNotRestored(onServer, server, unfit);
    const leftOver = `select relname from pg_class where relnamespace = 'public'::regnamespace`;
    expect(await onDatabase(server.databaseUrl, leftOver)).toEqual([]);
  });

  it('of somebody else without a table, or with another column, is refused', async () => {
    const missing = copyBackup();
    changeManifest(missing, (manifest) => {
      manifest.tables = manifest.tables.filter(({ name }: { name: string }) => name !== 'audit_entry');
    });
    await expectNotRestored(missing, newEmbedded(), 'The backup lacks the table "audit_entry".');
    const columnsChanged = copyBackup();
    changeManifest(columnsChanged, (manifest) => {
      manifest.tables.find(({ name }: { name: string }) => name === 'session').columns[0] = 'ctid';
    });
    await expectNotRestored(
      columnsChanged,
      newEmbedded(),
      'The columns of the table "session" in the backup are not those',
    );
  });

  it('of somebody else cannot use up the memory or the disk', async () => {
    const long = copyBackup();
    forgeLines(long, 'session', [`["${'x'.repeat(65 * 1_048_576)}"]`]);
    await expectRefused(long, 'tables/session.jsonl.gz has a line of more than 64 MiB.');
    const bomb = copyBackup();
    forgeLines(bomb, 'session', ['x'.repeat(30 * 1_048_576)]);
    changeManifest(bomb, (manifest) => {
      manifest.tables.find(({ name }: { name: string }) => name === 'session').content.bytes = 1_000;
    });
    await expectRefused(bomb, 'tables/session.jsonl.gz of the backup is damaged');
    const large = copyBackup();
    writeFileSync(join(large, 'manifest.json'), Buffer.alloc(5 * 1_048_576, 32));
    await expectRefused(large, 'manifest.json of the backup is too large.');
  });
});
