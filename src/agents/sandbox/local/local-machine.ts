import { join } from 'node:path';
import type { Workspaces } from '../workspaces.ts';
import { createLocalWorkspaces } from './local-workspaces.ts';
import { createProcessSpool, type ProcessSpool } from './process-spool.ts';

/** The parts that the drivers of this machine share: its workspaces, and the records of its processes. */
export interface LocalMachine {
  readonly dataDir: string;
  readonly workerId: string;
  /** The variables of this process that agents may see. */
  readonly baseEnv: Readonly<Record<string, string>>;
  readonly spool: ProcessSpool;
  readonly workspaces: Workspaces;
}

/** Options of {@link openLocalMachine}. */
export interface LocalMachineOptions {
  /** The worker's data directory: workspaces are in `sessions`, records of processes in `agents`. */
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
  return { dataDir, workerId, baseEnv, spool, workspaces: createLocalWorkspaces(dataDir) };
}
