// npm run maintenance, switchyard maintenance: shows and ends maintenance mode.
import { parseArgs } from 'node:util';
import { enterprisePermissions, organizationPermissions } from '../auth/permissions.ts';
import { systemViewer } from '../auth/viewer.ts';
import { commandPrefix } from '../common/command-line.ts';
import { readConfig } from '../config/config.ts';
import { findEnterpriseId } from '../domain/installation/bootstrap.ts';
import { endMaintenance } from '../domain/maintenance/maintenance.ts';
import { createLocalNotifier } from '../realtime/local-notifier.ts';
import { commandLog, openDatabaseForCommand } from './command-store.ts';

const prefix = commandPrefix('maintenance');

const usage = `Usage:
  ${prefix} status   say whether the service is in maintenance mode
  ${prefix} end      end it: all processes run sessions, automations and webhooks again

A copy of a database begins in maintenance mode. Make sure that the original service is stopped before you end it.`;

async function readStatus(store: Awaited<ReturnType<typeof openDatabaseForCommand>>): Promise<string> {
  const [row] = await store.query<{ since: Date | null }>('select maintenance_since as since from installation');
  return row?.since ? `Maintenance mode since ${row.since.toISOString()}.` : 'Maintenance mode is off.';
}

async function run(command: 'status' | 'end'): Promise<string> {
  const store = await openDatabaseForCommand(readConfig());
  try {
    const viewer = systemViewer(await findEnterpriseId({ store }), [
      ...enterprisePermissions,
      ...organizationPermissions,
    ]);
    if (command === 'status') return await readStatus(store);
    // Processes that miss the notification poll the database every few seconds.
    const notifier = createLocalNotifier((error) => commandLog.warn({}, String(error)));
    await endMaintenance({ store, notifier, viewer, address: null, now: () => new Date() });
    return await readStatus(store);
  } finally {
    await store.close();
  }
}

try {
  const { values, positionals } = parseArgs({
    options: { help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
  });
  const [command, ...more] = positionals;
  if (values.help) process.stdout.write(`${usage}\n`);
  else if ((command !== 'status' && command !== 'end') || more.length > 0) {
    process.stderr.write(`${usage}\n`);
    process.exitCode = 2;
  } else process.stdout.write(`${await run(command)}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
