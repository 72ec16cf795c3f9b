// npm run restore, switchyard restore: restores a backup into an empty database and an empty file storage.
import { parseArgs } from 'node:util';
import { openLocation } from '../backup/open-location.ts';
import { restoreBackup } from '../backup/restore-backup.ts';
import { divideMigrations } from '../backup/restore-database.ts';
import { readManifest, verifyBackup } from '../backup/verify-backup.ts';
import { commandLine, commandPrefix } from '../common/command-line.ts';
import { type Config, readConfig } from '../config/config.ts';
import { lockDataDir } from '../store/data-dir-lock.ts';
import { openFileStorage } from '../store/files.ts';
import { readMigrations } from '../store/migrations.ts';
import { fillNewDatabase, hasEmbeddedDatabase } from '../store/new-database.ts';
import { describeBackup, readOwnKey, readPassphrase, report, UsageError } from './backup-options.ts';

const prefix = commandPrefix('restore');

const usage = `Usage:
  ${prefix} SOURCE

SOURCE is the directory of a backup, or s3://bucket/prefix. The variables of the service say where to: DATABASE_URL or DATA_DIR, and
S3_BUCKET or ATTACHMENTS_DIR. The database and the storage must be empty. The key is that of the original: SECRET_KEY,
DATA_DIR/secret.key, or the one in the backup.

  --key-passphrase-file FILE    open the key in the backup with the passphrase in FILE

The restored service starts in maintenance mode. After a failure, the database and the storage are as empty as before.`;

async function restore(config: Config, source: string, passphraseFile: string | null): Promise<string> {
  const location = await openLocation(source, config.s3);
  const passphrase = passphraseFile === null ? null : await readPassphrase(passphraseFile);
  const manifest = await readManifest(location);
  const migrations = await readMigrations();
  divideMigrations(migrations, manifest);
  await verifyBackup(location, manifest, report);
  const { dataDir, databaseUrl } = config;
  const lock = await lockDataDir(dataDir, { lockedMessage: 'Restore into an empty DATA_DIR that no process uses.' });
  try {
    if (databaseUrl === null && (await hasEmbeddedDatabase(dataDir)))
      throw new Error(`${dataDir} has an embedded database already. Restore into an empty DATA_DIR.`);
    const storage = await openFileStorage({ directory: config.attachmentsDir, s3: config.s3 });
    const secretKey = await readOwnKey(config);
    await restoreBackup({ location, manifest, migrations, storage, dataDir, secretKey, passphrase, report }, (work) =>
      fillNewDatabase({ dataDir, databaseUrl }, work),
    );
  } finally {
    await lock.release();
  }
  return `The backup was restored.\n${describeBackup(manifest)}\n${howToContinue}`;
}

const howToContinue = `The service starts in maintenance mode: it answers requests and runs nothing. Make sure that the original service is stopped, and
end the mode with "${commandLine('maintenance', 'end')}", or start once with MAINTENANCE=false.`;

async function run(args: readonly string[]): Promise<string> {
  const options = { 'key-passphrase-file': { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  if (values.help) return usage;
  const [source, ...more] = positionals;
  if (source === undefined || more.length > 0) throw new UsageError(usage);
  return restore(readConfig(), source, values['key-passphrase-file'] ?? null);
}

try {
  process.stdout.write(`${await run(process.argv.slice(2))}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
