// npm run schedules, switchyard schedules: moves an organization from schedules to automations, and back.
import { parseArgs } from 'node:util';
import { enterprisePermissions, organizationPermissions } from '../auth/permissions.ts';
import { systemViewer } from '../auth/viewer.ts';
import { commandPrefix } from '../common/command-line.ts';
import { readConfig } from '../config/config.ts';
import { migrateSchedules, type ScheduleMigration } from '../domain/automations/migrate-schedules.ts';
import { prefixedId } from '../domain/ids.ts';
import { findEnterpriseId } from '../domain/installation/bootstrap.ts';
import { openForCommand } from './command-store.ts';

const prefix = commandPrefix('schedules');

const usage = `Usage:
  ${prefix} migrate ORG             it makes automations from now on, and no more schedules
  ${prefix} migrate ORG --undo      it makes schedules again
  ${prefix} migrate ORG --dry-run   say what would be done, with --undo too, and do nothing

ORG is the id of an organization. Its schedules are automations already, of the same ids: they go on as they are, in both
lists, either way. Doing it twice is doing it once. What --undo leaves as it is: automations that are no schedules,
because they were made as automations or were given other triggers or actions since, do not become schedules.`;

class UsageError extends Error {}

interface MigrateArguments {
  readonly organization: string;
  readonly isUndo: boolean;
  readonly isDryRun: boolean;
}

function readArguments(args: readonly string[]): MigrateArguments | 'help' {
  const options = {
    undo: { type: 'boolean' },
    'dry-run': { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    if (values.help) return 'help';
    const [command, organization, ...more] = positionals;
    if (command !== 'migrate' || organization === undefined || more.length > 0) throw new UsageError(usage);
    return { organization, isUndo: values.undo ?? false, isDryRun: values['dry-run'] ?? false };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`, { cause: error });
  }
}

async function migrate({ organization, isUndo, isDryRun }: MigrateArguments): Promise<ScheduleMigration> {
  const store = await openForCommand(readConfig());
  try {
    const enterpriseId = await findEnterpriseId({ store });
    // Running processes read this setting with every request, so no notification is needed.
    const viewer = systemViewer(enterpriseId, [...enterprisePermissions, ...organizationPermissions]);
    const context = { store, now: () => new Date(), viewer, address: null };
    return await migrateSchedules(context, organization, { hasAutomations: !isUndo, isDryRun });
  } finally {
    await store.close();
  }
}

const count = (n: number, word: string) => `${n} ${word}${n === 1 ? '' : 's'}`;

function describeMigration({ isUndo, isDryRun }: MigrateArguments, migration: ScheduleMigration): string {
  const { name, organizationId, schedules, others, isChanged } = migration;
  const makes = isUndo ? 'schedules' : 'automations';
  const effect = isDryRun ? `It would make ${makes}. Nothing was written.` : `It makes ${makes} from now on.`;
  const lines = [
    `${JSON.stringify(name)} (${prefixedId('organization', organizationId)}): ${count(schedules, 'schedule')}, ${count(others, 'other automation')}.`,
    isChanged ? effect : `It makes ${makes} already: there is nothing to do.`,
  ];
  if (!isChanged) return lines.join('\n');
  if (!isUndo) {
    lines.push(
      'POST …/schedules answers 403 then, since 24 September 2026. Existing schedules continue as automations.',
    );
  } else {
    lines.push('POST …/schedules is accepted again. Existing schedules continue unchanged.');
    if (others > 0)
      lines.push(
        `What is not undone: ${count(others, 'automation')} that ${others === 1 ? 'is no schedule stays so' : 'are no schedules stay so'}.`,
      );
  }
  return lines.join('\n');
}

try {
  const args = readArguments(process.argv.slice(2));
  process.stdout.write(`${args === 'help' ? usage : describeMigration(args, await migrate(args))}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
