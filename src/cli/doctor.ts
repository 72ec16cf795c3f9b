// npm run doctor, switchyard doctor: checks what the service needs on this host, and writes a bundle for support.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { commandPrefix } from '../common/command-line.ts';
import { type Config, readConfig } from '../config/config.ts';
import type { DatabaseFacts } from '../store/inspect-database.ts';
import { checkAgents, checkSandbox } from './doctor/check-agents.ts';
import { checkBucket } from './doctor/check-bucket.ts';
import { checkDatabase } from './doctor/check-database.ts';
import { checkDirectories, checkPrograms } from './doctor/check-host.ts';
import { checkAddress, checkPort } from './doctor/check-network.ts';
import { checkSignOn } from './doctor/check-sign-on.ts';
import { type Finding, failure, messageOf, ok, printFindings } from './doctor/finding.ts';
import { readLogEnd } from './doctor/redact-log.ts';
import { writeBundle } from './doctor/write-bundle.ts';

const prefix = commandPrefix('doctor');

const usage = `Usage:
  ${prefix} [--json]                       check this host with the variables of the service
  ${prefix} --bundle FILE [--log LOGFILE]  the same, and write a file for support: versions, settings, migrations,
  ${' '.repeat(prefix.length)}                                numbers of rows, and the end of a log; no secrets, prompts and passwords

The exit code is 1 if a check found an error.`;

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

async function examine(): Promise<{ findings: Finding[]; facts: DatabaseFacts | null }> {
  const node = process.versions.node;
  const config = tryReadConfig();
  if ('problem' in config) {
    const findings = await checkPrograms({ path: '', node });
    return {
      findings: [
        failure('settings', config.problem, 'Correct these variables (docs/operations.md#variables).'),
        ...findings.slice(0, 1),
      ],
      facts: null,
    };
  }
  const isWorker = config.roles.includes('worker');
  const [programs, directories, bucket, database, sandbox, agents, port, signOn] = await Promise.all([
    checkPrograms({ path: config.agentBaseEnv.PATH ?? '', node }),
    checkDirectories(config),
    checkBucket(config),
    checkDatabase(config),
    isWorker ? checkSandbox(config) : [],
    isWorker ? checkAgents(config) : [],
    checkPort(config),
    checkSignOn(config),
  ]);
  const settings = ok('settings', `Every variable is valid. Switchyard ${version}.`);
  const findings = [
    settings,
    programs,
    directories,
    bucket,
    database.findings,
    sandbox,
    agents,
    port,
    checkAddress(config),
    signOn,
  ].flat();
  return { findings, facts: database.facts };
}

function tryReadConfig(): Config | { readonly problem: string } {
  try {
    return readConfig();
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

try {
  const options = {
    json: { type: 'boolean' },
    bundle: { type: 'string' },
    log: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  const { values } = parseArgs({ options });
  if (values.help) process.stdout.write(`${usage}\n`);
  else if (values.log !== undefined && values.bundle === undefined) throw new Error(usage);
  else {
    const log = values.log === undefined ? null : await readLogEnd(values.log);
    const { findings, facts } = await examine();
    const isHealthy = findings.every(({ level }) => level !== 'error');
    process.stdout.write(
      values.json ? `${JSON.stringify({ version, isHealthy, findings }, null, 2)}\n` : printFindings(findings),
    );
    if (values.bundle !== undefined) {
      await writeBundle(values.bundle, { version, findings, facts, log });
      process.stderr.write(`The bundle is in ${values.bundle}. Read it before you send it.\n`);
    }
    if (!isHealthy) process.exitCode = 1;
  }
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 2;
}
