// npm run upgrade, switchyard upgrade: applies the migrations of this version without starting it, or says what they would do.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { commandPrefix } from '../common/command-line.ts';
import { type Config, readConfig } from '../config/config.ts';
import { withDatabaseSession } from '../store/database-session.ts';
import { hasDatabase } from '../store/inspect-database.ts';
import { migrateSession } from '../store/migrations.ts';
import { messageOf, printFindings } from './doctor/finding.ts';
import { checkUpgrade } from './upgrade/check-upgrade.ts';

const prefix = commandPrefix('upgrade');

const usage = `Usage:
  ${prefix} --check [--json]   say what an upgrade to this version does to the database, and change nothing
  ${prefix}                    apply the migrations of this version, and start nothing

Set the variables of the service. With PostgreSQL, processes of the version before may run. Stop a service with the embedded database.
With --check, the exit code is 1 if this version cannot use the database, or the running version cannot continue after the upgrade.
Any other failure has the exit code 2.`;

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

const lockedMessage = 'Stop it before you upgrade the embedded database.';

async function check(config: Config, isJson: boolean): Promise<void> {
  const { findings, migrations } = await withDatabaseSession(config, lockedMessage, checkUpgrade);
  const isPossible = findings.every(({ level }) => level !== 'error');
  process.stdout.write(
    isJson
      ? `${JSON.stringify({ version, isPossible, migrations, findings }, null, 2)}\n`
      : `Upgrade to Switchyard ${version}\n\n${printFindings(findings)}`,
  );
  if (!isPossible) process.exitCode = 1;
}

async function apply(config: Config): Promise<void> {
  const { applied } = await withDatabaseSession(config, lockedMessage, (session) => migrateSession(session));
  const text =
    applied.length === 0
      ? `The database has all migrations of Switchyard ${version}.`
      : `Applied ${applied.length}: ${applied.join(', ')}.`;
  process.stdout.write(`${text}\n`);
}

try {
  const options = {
    check: { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  const { values } = parseArgs({ options });
  if (values.help) process.stdout.write(`${usage}\n`);
  else if (values.json && !values.check) throw new Error(usage);
  else {
    const config = readConfig();
    if (!hasDatabase(config)) throw new Error('There is no embedded database yet: the first start creates it.');
    if (values.check) await check(config, values.json ?? false);
    else await apply(config);
  }
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 2;
}
