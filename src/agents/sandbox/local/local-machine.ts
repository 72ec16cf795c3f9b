import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Mirrors, openMirrors } from '../../../git/mirrors.ts';
import type { Workspaces } from '../workspaces.ts';
import { createLocalWorkspaces } from './local-workspaces.ts';
import { createProcessSpool, type ProcessSpool } from './process-spool.ts';
import { sessionIn } from './session-directories.ts';

/** The parts that the drivers of this machine share: its workspaces, and the records of its processes. */
export interface LocalMachine {
  readonly dataDir: string;
  readonly workerId: string;
  /** The variables of this process that agents may see. */
  readonly baseEnv: Readonly<Record<string, string>>;
  readonly spool: ProcessSpool;
  readonly workspaces: Workspaces;
  /** Mirrors of repositories, from which clones in workspaces borrow. */
  readonly mirrors: Mirrors;
}

/** Options of {@link openLocalMachine}. */
export interface LocalMachineOptions {
  /** The worker's data directory: workspaces are in `sessions`, records of processes in `agents`, mirrors in `repositories`. */
  readonly dataDir: string;
  readonly workerId: string;
  /** The variables of this process that agents may see. */
  readonly baseEnv: Readonly<Record<string, string>>;
  readonly log: Record<'info' | 'warn', (fields: object, message: string) => void>;
}

/** Opens the machine, and kills the processes that an earlier run of this worker left behind. */
export async function openLocalMachine(options: LocalMachineOptions): Promise<LocalMachine> {
  const { dataDir, workerId, baseEnv, log } = options;
  const spool = createProcessSpool(join(dataDir, 'agents'), workerId, {
    baseEnv,
    onLeft: (path, code) => log.warn({ path, code }, 'A file or process of an earlier run could not be removed.'),
  });
  const killed = await spool.reap();
  if (killed.length > 0) log.info({ pids: killed }, 'Agent processes of an earlier run were killed.');
  const mirrors = openMirrors(resolve(dataDir, 'repositories'), baseEnv.PATH ?? '');
  sweepMirrors(mirrors, dataDir);
  return { dataDir, workerId, baseEnv, spool, workspaces: createLocalWorkspaces(dataDir), mirrors };
}

const sweepMs = 6 * 3_600_000;

// A session borrows objects as long as it has a workspace.
function sweepMirrors(mirrors: Mirrors, dataDir: string): void {
  const isBorrowing = (sessionId: string) =>
    access(sessionIn(dataDir, sessionId)).then(
      () => true,
      () => false,
    );
  const sweep = () => mirrors.inBackground('sweep', () => mirrors.sweep(Date.now(), isBorrowing));
  sweep();
  setInterval(sweep, sweepMs).unref();
}
