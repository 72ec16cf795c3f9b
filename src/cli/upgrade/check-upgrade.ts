import type { Session } from '../../store/driver.ts';
import { type MigrationEffects, readEffects, type TableEffect } from '../../store/migration-effects.ts';
import { inspectMigrations, readMigrations } from '../../store/migrations.ts';
import { type Finding, failure, ok, warning } from '../doctor/finding.ts';

/** Work on tables of at least this many rows may take longer than clients wait. */
const largeTableRows = 100_000;

/** The result of a check before an upgrade. */
export interface UpgradeCheck {
  readonly findings: readonly Finding[];
  /** The migrations that the upgrade applies. */
  readonly migrations: readonly MigrationEffects[];
}

/** Says what an upgrade of a database to this version does, and whether the running version can continue after it. Changes nothing. */
export async function checkUpgrade(session: Session): Promise<UpgradeCheck> {
  await session.script('begin transaction read only');
  try {
    const { problem, missing, unknown, applied } = await inspectMigrations(session);
    if (problem !== null) {
      const fix = 'Start the version of the service that fits this database.';
      return { findings: [failure('migrations', problem, fix)], migrations: [] };
    }
    if (applied === 0) {
      const text = 'This database is empty: no service was ever started on it.';
      return { findings: [ok('migrations', text)], migrations: [] };
    }
    if (missing.length === 0) return { findings: [describeUpToDate(unknown)], migrations: [] };
    const all = await readMigrations();
    const effects = all.filter(({ name }) => missing.includes(name));
    const migrations = await readEffects(session, effects);
    const findings = [...migrations.map(describeMigration), await checkRunning(session, migrations, missing)];
    return { findings, migrations };
  } finally {
    await session.script('rollback');
  }
}

function describeUpToDate(unknown: readonly string[]): Finding {
  if (unknown.length === 0) return ok('migrations', 'The database has all migrations of this version.');
  const text = `The database has ${unknown.length} of a newer version: ${unknown.join(', ')}. This version can still use it.`;
  return warning('migrations', text, 'Do not upgrade to this version: it is older than the last one.');
}

function describeMigration({ name, tables }: MigrationEffects): Finding {
  const text =
    tables.length === 0 ? `${name}: changes no existing table.` : `${name}: ${tables.map(inWords).join('; ')}.`;
  const isLong = tables.some(({ kind, rows }) => kind !== 'columns' && rows >= largeTableRows);
  if (!isLong) return ok('migration', text);
  return warning(
    'migration',
    text,
    'Writes to these tables wait until it is finished: upgrade when little is written.',
  );
}

const verbs = { index: 'builds an index on', rows: 'writes rows of', columns: 'changes columns of' };

const inWords = ({ kind, table, rows }: TableEffect): string =>
  `${verbs[kind]} ${table} (about ${Math.round(rows).toLocaleString('en-US')} rows)`;

async function checkRunning(
  session: Session,
  migrations: readonly MigrationEffects[],
  missing: readonly string[],
): Promise<Finding> {
  const hosts = await readWorkerHosts(session);
  const running = hosts.length === 0 ? 'No worker runs.' : `Workers run on ${hosts.join(', ')}.`;
  const first = migrations.find(({ unusedSince }) => unusedSince !== null && missing.includes(unusedSince));
  if (first === undefined) {
    return ok('processes', `${running} Processes of the version before can continue after the upgrade, and restart.`);
  }
  return failure(
    'processes',
    `${running} The migration ${first.name} removes what their version uses.`,
    `Upgrade first to a version that has ${first.unusedSince} and not ${first.name}, or stop all processes before the upgrade.`,
  );
}

// The table is in every database that a service was started on since it has more than one worker.
async function readWorkerHosts(session: Session): Promise<string[]> {
  const [table] = await session.query<{ exists: boolean }>(
    `select to_regclass('worker') is not null and exists (select from information_schema.columns
        where table_schema = current_schema() and table_name = 'worker' and column_name = 'seen_at') as exists`,
  );
  if (!table?.exists) return [];
  const rows = await session.query<{ host: string }>(
    `select distinct host from worker where host <> '' and greatest(expires_at, seen_at) > now() - interval '75 seconds'
      order by host limit 20`,
  );
  return rows.map(({ host }) => host);
}
