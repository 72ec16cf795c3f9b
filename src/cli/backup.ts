// npm run backup, switchyard backup: writes and verifies backups of the database, the files and the key.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createBackup } from '../backup/create-backup.ts';
import { fingerprintOf } from '../backup/key-file.ts';
import { openLocation } from '../backup/open-location.ts';
import { readManifest, verifyBackup } from '../backup/verify-backup.ts';
import { commandPrefix } from '../common/command-line.ts';
import { type Config, readConfig } from '../config/config.ts';
import { emptyDatabase } from '../domain/installation/bootstrap.ts';
import { withDatabaseSession } from '../store/database-session.ts';
import { openFileStorage } from '../store/files.ts';
import { hasDatabase } from '../store/inspect-database.ts';
import { describeBackup, readOwnKey, readPassphrase, report, UsageError } from './backup-options.ts';

const prefix = commandPrefix('backup');

const usage = `Usage:
  ${prefix} TARGET          write a backup of the database and the files
  ${prefix} verify TARGET   check a backup completely, without a database

TARGET is a new directory, or s3://bucket/prefix with the region and the keys of S3_BUCKET.

  --include-key                 write SECRET_KEY into the backup, in the clear
  --key-passphrase-file FILE    write SECRET_KEY into the backup, sealed with the passphrase in FILE
  --allow-missing-files         write the backup even if files that the database names are missing

Without --include-key the backup has no SECRET_KEY: keep it elsewhere. A person who has both can read all secrets. With PostgreSQL the
service may run meanwhile; with the embedded database, stop it first.`;

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

interface Options {
  readonly isKeyIncluded: boolean;
  readonly passphraseFile: string | null;
  readonly allowMissingFiles: boolean;
}

async function write(config: Config, target: string, options: Options): Promise<string> {
  if (!hasDatabase(config)) throw new Error(emptyDatabase);
  const location = await openLocation(target, config.s3);
  const key = await chooseKey(config, options);
  const storage = await openFileStorage({ directory: config.attachmentsDir, s3: config.s3 });
  const stopIt = 'Stop it while the backup is written: only one process at a time can use the embedded database.';
  const { allowMissingFiles } = options;
  const manifest = await withDatabaseSession(config, stopIt, (session) =>
    createBackup(session, { storage, location, version, key, allowMissingFiles, report }),
  );
  return `The backup in ${location.label} is complete.\n${describeBackup(manifest)}`;
}

async function chooseKey(config: Config, { isKeyIncluded, passphraseFile }: Options) {
  const passphrase = passphraseFile === null ? null : await readPassphrase(passphraseFile);
  if (!isKeyIncluded && passphrase === null) return null;
  const secretKey = await readOwnKey(config);
  if (secretKey === null) throw new Error('There is no SECRET_KEY to include, and no DATA_DIR/secret.key.');
  if (config.previousSecretKey !== null)
    report('SECRET_KEY_PREVIOUS is set. The backup does not include it: keep it until the rotation is over.');
  return { secretKey, fingerprint: fingerprintOf(secretKey), passphrase };
}

async function verify(config: Config, target: string): Promise<string> {
  const location = await openLocation(target, config.s3);
  const manifest = await readManifest(location);
  await verifyBackup(location, manifest, report);
  return `The backup in ${location.label} is complete and undamaged.\n${describeBackup(manifest)}`;
}

async function run(args: readonly string[]): Promise<string> {
  const options = {
    'include-key': { type: 'boolean' },
    'key-passphrase-file': { type: 'string' },
    'allow-missing-files': { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  if (values.help) return usage;
  const [first, second, ...more] = positionals;
  if (first === undefined || more.length > 0) throw new UsageError(usage);
  if (first === 'verify' && second !== undefined && Object.keys(values).length === 0)
    return verify(readConfig(), second);
  if (second !== undefined) throw new UsageError(usage);
  return write(readConfig(), first, {
    isKeyIncluded: values['include-key'] ?? false,
    passphraseFile: values['key-passphrase-file'] ?? null,
    allowMissingFiles: values['allow-missing-files'] ?? false,
  });
}

try {
  process.stdout.write(`${await run(process.argv.slice(2))}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
