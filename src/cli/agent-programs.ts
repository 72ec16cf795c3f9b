import { installProgram, isCurrent, packageOf, removeProgram } from '../agents/programs/install-program.ts';
import { agentPackages } from '../agents/programs/packages.ts';
import { findInstalled } from '../agents/programs/program-directory.ts';
import { ProgramError } from '../agents/programs/program-error.ts';
import type { InstallProgress } from '../agents/programs/watch-progress.ts';
import { commandLine } from '../common/command-line.ts';
import type { Config } from '../config/config.ts';

/** A command that changes the programs of AGENTS_DIR. */
export type ProgramCommand = 'install' | 'update' | 'remove';

/** Returns true for the name of a {@link ProgramCommand}. */
export const isProgramCommand = (name: string | undefined): name is ProgramCommand =>
  name === 'install' || name === 'update' || name === 'remove';

/**
 * Runs a command for one agent; `update` without one updates all that are installed. A service that runs notices it
 * within a second. Throws an Error for an unknown agent; other failures are printed, and set the exit code 1.
 */
export async function changePrograms(config: Config, command: ProgramCommand, agentId: string | null): Promise<void> {
  if (agentId !== null) packageOf(agentId);
  if (!config.canInstallAgents) {
    return fail('AGENTS_INSTALL is off: agent programs cannot be installed, updated or removed here.');
  }
  try {
    if (command === 'remove') await remove(config, agentId ?? '');
    else if (agentId === null) await updateAll(config);
    else await install(config, agentId);
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    const left = agentId === null ? null : await findInstalled(config.agentsDir, agentId);
    fail(`${error.message}${left === null ? '' : ` Version ${left.version} is still installed.`}`);
  }
}

async function updateAll(config: Config): Promise<void> {
  const ids = Object.keys(agentPackages);
  const installed = await Promise.all(ids.map((id) => findInstalled(config.agentsDir, id)));
  const updated = ids.filter((_id, n) => installed[n] !== null);
  if (updated.length === 0) process.stdout.write('No agent is installed.\n');
  for (const id of updated) await install(config, id);
}

async function install({ agentsDir, npmEnv }: Config, agentId: string): Promise<void> {
  const { name, version } = packageOf(agentId);
  if (await isCurrent(agentsDir, agentId)) {
    process.stdout.write(`${agentId}: ${name} ${version} is already installed.\n`);
    return;
  }
  const startedAt = performance.now();
  const stop = new AbortController();
  const abort = () => stop.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, abort);
  const progress = createProgressLine();
  process.stdout.write(`${agentId}: installing ${name} ${version} in ${agentsDir}\n`);
  try {
    await installProgram(agentId, { agentsDir, env: npmEnv, signal: stop.signal, onProgress: progress.show });
  } finally {
    progress.end();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeListener(signal, abort);
  }
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  process.stdout.write(
    `${agentId}: installed in ${seconds} s. To check it: ${commandLine('agents', `check ${agentId}`)}\n`,
  );
}

async function remove({ agentsDir }: Config, agentId: string): Promise<void> {
  const wasThere = await removeProgram(agentId, agentsDir);
  process.stdout.write(`${agentId}: ${wasThere ? 'removed' : 'is not installed in AGENTS_DIR'}.\n`);
}

// On a terminal one line that changes, otherwise a line for each quarter.
function createProgressLine(): { show(progress: InstallProgress): void; end(): void } {
  const isTerminal = process.stdout.isTTY === true;
  let shown = -1;
  return {
    show({ text, percent }) {
      if (isTerminal) process.stdout.write(`\r\x1b[K  ${text} (${percent} %)`);
      else if (Math.floor(percent / 25) > shown) process.stdout.write(`  ${text} (${percent} %)\n`);
      shown = Math.max(shown, Math.floor(percent / 25));
    },
    end() {
      if (isTerminal) process.stdout.write('\r\x1b[K');
    },
  };
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}
