// npm run workspaces, switchyard workspaces: lists and deletes the workspaces in a worker's data directory.
import { parseArgs } from 'node:util';
import { createLocalWorkspaces } from '../agents/sandbox/local/local-workspaces.ts';
import { forgetFormerIds, readWorkerIdentity } from '../assembly/worker-identity.ts';
import { commandPrefix } from '../common/command-line.ts';
import { DomainError } from '../common/errors.ts';
import { type Config, readConfig } from '../config/config.ts';
import { adoptWorkspaces } from '../domain/execution/workspaces/adopt.ts';
import { listWorkspaces } from '../domain/execution/workspaces/list-workspaces.ts';
import { requestDeletionSeen } from '../domain/execution/workspaces/request-deletion.ts';
import { deleteDiscarded, discardDue } from '../domain/execution/workspaces/sweep.ts';
import { parseId, prefixedId } from '../domain/ids.ts';
import { findEnterpriseId } from '../domain/installation/bootstrap.ts';
import { asSystem } from '../domain/sessions/as-system.ts';
import { createNotifier } from '../realtime/create-notifier.ts';
import type { Store } from '../store/store.ts';
import { commandLog, openDatabaseForCommand, openForCommand } from './command-store.ts';

const prefix = commandPrefix('workspaces');

const usage = `Usage:
  ${prefix} list             the workspaces in DATA_DIR: size in MiB, session, status, and whether it is over or held
  ${prefix} delete SESSION…  delete the workspaces and homes of these sessions
  ${prefix} delete --over    delete those of all listed sessions that are over
                             Those of sessions that a legal hold covers stay
  ${prefix} adopt            take over the workspaces that a copied DATA_DIR has, from its original

On an embedded database the service must be stopped. On PostgreSQL the command runs beside the service, whose worker deletes
what was requested; adopt needs the service stopped, because it changes the data directory.`;

class UsageError extends Error {}

/** A context of the service itself, with only the parts that this command's operations use. */
async function contextOn(store: Store, config: Config) {
  const { databaseUrl } = config;
  const notifier = createNotifier({
    databaseUrl,
    execute: (sql, values) => store.execute(sql, values),
    log: commandLog,
  });
  const services = { store, notifier, log: commandLog, now: () => new Date() };
  return { notifier, context: asSystem(services as never, await findEnterpriseId({ store })) };
}

async function list(config: Config): Promise<string> {
  const store = await openDatabaseForCommand(config);
  try {
    const found = await listWorkspaces({ store }, createLocalWorkspaces(config.dataDir));
    const lines = found.map(({ sessionId, bytes, status, isOver, isHeld }) => {
      const size = (bytes / 1_048_576).toFixed(1).padStart(10);
      return `${size}  ${prefixedId('session', sessionId)}  ${status ?? 'unknown'}${isOver ? ', over' : ''}${isHeld ? ', held' : ''}`;
    });
    const total = found.reduce((sum, { bytes }) => sum + bytes, 0) / 1_048_576;
    return [...lines, `${total.toFixed(1).padStart(10)}  ${found.length} workspaces`].join('\n');
  } finally {
    await store.close();
  }
}

interface Removal {
  /** For people. */
  readonly summary: string;
  readonly refused: number;
}

async function remove(config: Config, idTexts: readonly string[], isOver: boolean): Promise<Removal> {
  const store = await openDatabaseForCommand(config);
  const workspaces = createLocalWorkspaces(config.dataDir);
  try {
    const { notifier, context } = await contextOn(store, config);
    const ids = isOver
      ? (await listWorkspaces({ store }, workspaces)).filter((each) => each.isOver).map((each) => each.sessionId)
      : idTexts.map((text) => {
          const id = parseId('session', text);
          if (id === null) throw new UsageError(`"${text}" is not the id of a session.\n\n${usage}`);
          return id;
        });
    let refused = 0;
    await notifier.start();
    try {
      for (const id of ids) {
        try {
          await requestDeletionSeen(context, { id });
        } catch (error) {
          // A session that a legal hold covers keeps its workspace, and the others lose theirs.
          if (!(error instanceof DomainError)) throw error;
          refused += 1;
          process.stderr.write(`${prefixedId('session', id)}: ${error.message}\n`);
        }
      }
    } finally {
      // Its connection would keep the process alive.
      await notifier.stop();
    }
    const more = refused === 0 ? '' : ` ${refused} stay, for the reasons above.`;
    if (config.databaseUrl !== null) {
      const summary = `Deletion of ${ids.length - refused} workspaces was requested from their workers.${more}`;
      return { summary, refused };
    }
    const { id: workerId } = await readWorkerIdentity(config.dataDir);
    const times = { workspaceRetentionMs: null, workspaceInactiveMs: null, workspaceReleaseMs: null };
    const options = { workspaces: [workspaces], workerId, ...times, isLeased: () => false };
    const count = await discardDue(context, options, ids);
    await deleteDiscarded(context, [workspaces], () => false);
    return { summary: `${count} workspaces were deleted.${more}`, refused };
  } finally {
    await store.close();
  }
}

/** Deletes workspaces. Fails if one that the caller named stays; of those that are over, held ones are left out. */
async function removeNamed(config: Config, idTexts: readonly string[], isOver: boolean): Promise<string> {
  const { summary, refused } = await remove(config, idTexts, isOver);
  if (refused > 0 && !isOver) process.exitCode = 1;
  return summary;
}

async function adopt(config: Config): Promise<string> {
  const store = await openForCommand(config);
  try {
    const { id, formerIds } = await readWorkerIdentity(config.dataDir);
    const count = await adoptWorkspaces({ store }, id, formerIds);
    await forgetFormerIds(config.dataDir, id);
    return `This worker has the workspaces of ${count} sessions now.`;
  } finally {
    await store.close();
  }
}

function run(args: readonly string[]): Promise<string> | string {
  const options = { over: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [command, ...ids] = positionals;
  const isOver = values.over ?? false;
  if (values.help) return usage;
  if (command === 'list' && ids.length === 0) return list(readConfig());
  if (command === 'delete' && ids.length > 0 !== isOver) return removeNamed(readConfig(), ids, isOver);
  if (command === 'adopt' && ids.length === 0) return adopt(readConfig());
  throw new UsageError(usage);
}

try {
  process.stdout.write(`${await run(process.argv.slice(2))}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
