import { join, resolve } from 'node:path';
import type { CheckpointDriver } from '../../../checkpoints/driver.ts';
import { restoreCheckpoint } from '../../../checkpoints/restore/restore-checkpoint.ts';
import { createSegmentsDriver } from '../../../checkpoints/segments-driver.ts';
import { removeUnfinished } from '../../../git/leftovers.ts';
import { isThere } from '../../../git/mirror-files.ts';
import type { MirrorLimits } from '../../../git/mirror-limits.ts';
import { type Mirrors, openMirrors } from '../../../git/mirrors.ts';
import { removeTree } from '../../../store/delete-tree.ts';
import type { Workspaces } from '../workspaces.ts';
import { createLocalWorkspaces } from './local-workspaces.ts';
import { createProcessSpool, type ProcessSpool, workerMark } from './process-spool.ts';
import { restoringIn, segmentSpoolIn, sessionIn } from './session-directories.ts';

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
  /** Saves and restores workspaces. */
  readonly checkpoints: CheckpointDriver;
  /** Ends the work in the background: on mirrors, and of the process that saves workspaces. Call it after the last session has ended. Never rejects. */
  close(): Promise<void>;
}

/** Options of {@link openLocalMachine}. */
export interface LocalMachineOptions {
  /** The worker's data directory: workspaces are in `sessions`, records of processes in `agents`, mirrors in `repositories`. */
  readonly dataDir: string;
  readonly workerId: string;
  /** The variables of this process that agents may see. */
  readonly baseEnv: Readonly<Record<string, string>>;
  /** Limits of the mirrors that differ from the defaults. */
  readonly mirrorLimits?: Partial<MirrorLimits>;
  readonly log: Record<'info' | 'warn', (fields: object, message: string) => void>;
}

/** Opens the machine, and kills the processes that an earlier run of this worker left behind. */
export async function openLocalMachine(options: LocalMachineOptions): Promise<LocalMachine> {
  const { dataDir, workerId, baseEnv, mirrorLimits, log } = options;
  const spool = createProcessSpool(join(dataDir, 'agents'), workerId, {
    baseEnv,
    onLeft: (path, code) => log.warn({ path, code }, 'A file or process of an earlier run could not be removed.'),
  });
  const killed = await spool.reap();
  if (killed.length > 0) log.info({ pids: killed }, 'Agent processes of an earlier run were killed.');
  const directory = resolve(dataDir, 'repositories');
  await removeUnfinished(directory);
  const mirrors = openMirrors(directory, baseEnv.PATH ?? '', mirrorLimits, { [workerMark]: workerId });
  await mirrors.removeLeftClones();
  await removeUnfinishedCheckpoints(dataDir, log);
  const checkpoints = createSegmentsDriver({ restore: restoreCheckpoint, maxHeapMb: maxSaveHeapMb });
  const care = careForMirrors(mirrors, dataDir, log);
  const close = async () => {
    clearInterval(care);
    await Promise.all([mirrors.close(), checkpoints.close()]);
  };
  return { dataDir, workerId, baseEnv, spool, workspaces: createLocalWorkspaces(dataDir), mirrors, checkpoints, close };
}

/** The heap of the process that saves workspaces: 25,000 files take about 20 MB. */
const maxSaveHeapMb = 1_024;

// After a crash: restores that were not complete, and segments that were not recorded.
async function removeUnfinishedCheckpoints(dataDir: string, log: LocalMachineOptions['log']): Promise<void> {
  for (const path of [restoringIn(dataDir), segmentSpoolIn(dataDir)]) {
    await removeTree(path).catch((error: NodeJS.ErrnoException) =>
      log.warn({ path, code: error.code }, 'A part of an unfinished checkpoint could not be removed.'),
    );
  }
}

/** The interval in which the mirrors are brought to their limits and repacked. */
const careMs = 15 * 60_000;

function careForMirrors(mirrors: Mirrors, dataDir: string, log: LocalMachineOptions['log']): NodeJS.Timeout {
  // A session borrows objects as long as it has a workspace.
  const isBorrowing = (sessionId: string) => isThere(sessionIn(dataDir, sessionId));
  const care = async (signal: AbortSignal) => {
    const { deleted, ...left } = await mirrors.sweep(Date.now(), isBorrowing);
    if (deleted > 0) log.info({ deleted, ...left }, 'Mirrors of repositories were deleted.');
    const { maxTotalBytes } = mirrors.limits;
    if (left.bytes > maxTotalBytes)
      log.warn(
        { ...left, maxTotalBytes },
        'The mirrors of repositories exceed MAX_MIRRORS_MB: workspaces borrow from them.',
      );
    await mirrors.maintain(signal);
  };
  const begin = () => void mirrors.inBackground('care', care);
  begin();
  return setInterval(begin, careMs).unref();
}
