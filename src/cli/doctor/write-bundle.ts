import { writeFile } from 'node:fs/promises';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { readSettings } from '../../config/config.ts';
import { withoutCredentials } from '../../config/describe-settings.ts';
import { createMask, maskDeep } from '../../domain/execution/runs/masking.ts';
import { countLimit, type DatabaseFacts } from '../../store/inspect-database.ts';
import type { Finding } from './finding.ts';
import type { LogEnd } from './redact-log.ts';

/** The parts of a support bundle that the caller has. */
export interface BundleParts {
  readonly version: string;
  readonly findings: readonly Finding[];
  /** Null: the database could not be read. */
  readonly facts: DatabaseFacts | null;
  /** Null: no log was given. */
  readonly log: LogEnd | null;
}

/** Tokens of the service, of forges and of providers, in texts from anywhere. */
const tokens =
  /\b(?:cog_|apk_|sk-|gh[pousr]_|github_pat_|glpat-|xox[abp]-|AKIA|AIza|eyJ)[\w.-]{8,}|\b(?:Bearer|Basic)\s+[\w.+/=~-]{6,}|#link=[\w-]+/g;
const addresses = /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]+/gi;

/** Writes a new file with what is needed to find a problem: no secret, prompt or password. Rejects if the file exists. */
export async function writeBundle(path: string, parts: BundleParts): Promise<void> {
  const { version, findings, facts, log } = parts;
  const { settings, secrets } = readSettings();
  const bundle = {
    switchyard: version,
    createdAt: new Date().toISOString(),
    node: process.versions.node,
    system: { platform: platform(), arch: arch(), release: release(), cores: cpus().length, memoryBytes: totalmem() },
    settings,
    findings,
    database: facts === null ? null : describeDatabase(facts),
    log: log ?? 'none given: the service logs to stderr. Give a file with it as --log FILE.',
  };
  const mask = createMask(secrets);
  const redact = (text: string) => mask(text).replace(addresses, withoutCredentials).replace(tokens, '********');
  await writeFile(path, `${JSON.stringify(maskDeep(bundle, redact), null, 2)}\n`, { mode: 0o600, flag: 'wx' });
}

function describeDatabase({ version, server, isEncrypted, clockOffsetMs, migrations, rows }: DatabaseFacts) {
  return {
    version,
    isEmbedded: server === null,
    isEncrypted,
    clockOffsetMs,
    migrations,
    rows,
    rowsAreCountedTo: countLimit,
  };
}
