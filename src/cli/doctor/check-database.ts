import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { secretAssociatedData } from '../../domain/library/secrets/secrets.ts';
import { createKeyring, type Keyring } from '../../store/cipher.ts';
import { type DatabaseFacts, hasDatabase, inspectDatabase } from '../../store/inspect-database.ts';
import { describeServer } from '../../store/postgres-server.ts';
import { inspectReplica } from '../../store/replicas/inspect-replica.ts';
import { requireSameDatabase } from '../../store/same-database.ts';
import { isUnavailable } from '../../store/unavailable.ts';
import { type Finding, failure, messageOf, ok, warning } from './finding.ts';

/** Clocks may differ by this much: requests need longer on slow networks. */
const clockToleranceMs = 5_000;

/** Checks the database, its migrations and clock, and that SECRET_KEY is its key. `facts` is null if it cannot be read. */
export async function checkDatabase(config: Config): Promise<{ findings: Finding[]; facts: DatabaseFacts | null }> {
  if (!hasDatabase(config)) {
    const text = 'There is no embedded database yet: the first start creates it.';
    return { findings: [ok('database', text), await checkFirstKey(config)], facts: null };
  }
  try {
    const facts = await inspectDatabase(config);
    const findings = [
      checkServer(facts),
      await checkPooler(config),
      await checkReplicas(config),
      ...[checkMigrations(facts), checkClock(facts), await checkKey(config, facts)],
    ];
    return { findings: findings.flat(), facts };
  } catch (error) {
    return { findings: [describeRefusal(error, config)], facts: null };
  }
}

function describeRefusal(error: unknown, { databaseUrl }: Config): Finding {
  const text = messageOf(error);
  if (databaseUrl === null && text.includes('is in use by')) {
    return warning('database', text, 'Stop the service if you want the checks of its database too.');
  }
  if (text.includes('connection pooler')) {
    return failure(
      'database',
      text,
      'Set DATABASE_DIRECT_URL to the address of PostgreSQL itself, or pool_mode = session in PgBouncer.',
    );
  }
  const fix =
    databaseUrl === null
      ? 'Restore DATA_DIR from a backup (docs/operations.md).'
      : 'Check DATABASE_URL, that the server runs, and that its firewall and pg_hba.conf allow this host.';
  return failure('database', text, fix);
}

function checkServer({ server, version, isEncrypted }: DatabaseFacts): Finding[] {
  const reached = ok('database', `PostgreSQL ${version}, ${server === null ? 'embedded' : `at ${server}`}.`);
  if (isEncrypted !== false) return [reached];
  const text = 'The connection to PostgreSQL is not encrypted, and the server is on another host.';
  return [reached, warning('tls', text, 'Add sslmode=verify-full to DATABASE_URL, or keep the network private.')];
}

async function checkPooler({ databaseUrl, databasePoolerUrl }: Config): Promise<Finding[]> {
  if (databaseUrl === null || databasePoolerUrl === null) return [];
  try {
    await requireSameDatabase(databasePoolerUrl, databaseUrl, { ms: 0 });
    return [ok('pooler', `The pooler at ${describeServer(databasePoolerUrl)} leads to this database.`)];
  } catch (error) {
    return [failure('pooler', messageOf(error), 'Check DATABASE_URL, and that the pooler runs.')];
  }
}

async function checkReplicas({ databaseUrl, databaseReplicas: { urls, maxLagMs } }: Config): Promise<Finding[]> {
  if (databaseUrl === null) return [];
  const advice = 'Check DATABASE_REPLICA_URLS, and that the standby runs. Until then lists are read from DATABASE_URL.';
  return Promise.all(
    urls.map(async (url): Promise<Finding> => {
      try {
        const facts = await inspectReplica(url, databaseUrl, maxLagMs);
        const server = describeServer(url);
        if ('problem' in facts)
          return warning('replica', `The read replica at ${server} cannot be used: ${facts.problem}.`, advice);
        const lag = Math.ceil(facts.lagMs);
        return ok('replica', `The read replica at ${server} is a standby, at most ${lag} ms behind.`);
      } catch (error) {
        const text = messageOf(error);
        return isUnavailable(error) ? warning('replica', text, advice) : failure('replica', text, advice);
      }
    }),
  );
}

function checkMigrations({ migrations: { applied, missing, unknown, problem } }: DatabaseFacts): Finding {
  if (problem !== null)
    return failure('migrations', problem, 'Start the version of the service that fits this database.');
  if (unknown.length > 0) {
    const text = `${unknown.length} are of a newer version: ${unknown.join(', ')}. This version can still use the database.`;
    return warning('migrations', text, 'Replace this version soon by the newer one.');
  }
  if (missing.length === 0) return ok('migrations', `All ${applied} are applied.`);
  const text = `${missing.length} are missing: ${missing.slice(0, 5).join(', ')}${missing.length > 5 ? ' …' : ''}.`;
  return warning('migrations', text, 'The next start applies them. Make a backup first (docs/operations.md).');
}

function checkClock({ clockOffsetMs }: DatabaseFacts): Finding {
  const seconds = (Math.abs(clockOffsetMs) / 1_000).toFixed(1);
  if (Math.abs(clockOffsetMs) < clockToleranceMs) return ok('clock', `It differs by ${seconds} s from the database's.`);
  const text = `The database's clock is ${seconds} s ${clockOffsetMs > 0 ? 'ahead of' : 'behind'} this machine's.`;
  return warning('clock', text, 'Synchronize both with NTP.');
}

async function checkFirstKey(config: Config): Promise<Finding> {
  const key = await readKey(config);
  return key === null
    ? ok('key', 'There is no SECRET_KEY yet: the first start generates one into DATA_DIR/secret.key.')
    : ok('key', 'SECRET_KEY is given.');
}

// Unlike a start, this generates no key.
async function readKey({ secretKey, dataDir }: Config): Promise<string | null> {
  if (secretKey !== null) return secretKey;
  return readFile(join(dataDir, 'secret.key'), 'utf8').then(
    (text) => (text.trim().length < 32 ? null : text.trim()),
    () => null,
  );
}

async function checkKey(config: Config, facts: DatabaseFacts): Promise<Finding> {
  const { keyFingerprint } = facts;
  if (keyFingerprint === null) return checkFirstKey(config);
  const secretKey = await readKey(config);
  if (secretKey === null) {
    const text = 'There is no SECRET_KEY, and DATA_DIR/secret.key cannot be read.';
    return failure('key', text, 'Set SECRET_KEY to the key with which this database was first started.');
  }
  const keyring = createKeyring({ secretKey, previousSecretKey: config.previousSecretKey });
  if (![keyring.fingerprint, keyring.previousFingerprint].includes(keyFingerprint)) {
    const text = 'SECRET_KEY is not the key of this database: its tokens and secrets cannot be read.';
    return failure(
      'key',
      text,
      'Set the right key, or set it as SECRET_KEY_PREVIOUS to change keys (docs/operations.md).',
    );
  }
  const unreadable = facts.sealedSecrets.filter((each) => !canOpen(keyring, each)).length;
  if (unreadable > 0) {
    const text = `${unreadable} of ${facts.sealedSecrets.length} stored secrets cannot be decrypted.`;
    return failure('key', text, 'Set SECRET_KEY_PREVIOUS to the key before, or enter these secrets again.');
  }
  return ok('key', `SECRET_KEY fits this database, and decrypts its secrets (${facts.sealedSecrets.length} tried).`);
}

function canOpen(keyring: Keyring, { sealed, organizationId, id }: DatabaseFacts['sealedSecrets'][number]): boolean {
  try {
    keyring.open(sealed, secretAssociatedData(organizationId, id));
    return true;
  } catch {
    return false;
  }
}
