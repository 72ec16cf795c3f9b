import type { Context } from '../../context.ts';
import { listRequestedWorkspaces } from './deletable.ts';
import { deleteDiscarded, discardDue, type SweepOptions, sweepWorkspaces } from './sweep.ts';

/** Interval of the sweeps of all workspaces. */
const sweepMs = 10 * 60_000;

/** Deletes workspaces while a worker runs. */
export interface Sweeper {
  start(): void;
  /** Deletes, soon, the workspaces whose deletion was requested. */
  deleteRequested(): void;
  /** Resolves when no deletion is running any more. */
  stop(): Promise<void>;
}

/** Creates the sweeper of a worker's workspaces: one deletion at a time. */
export function createSweeper(context: Context, options: SweepOptions): Sweeper {
  const { log, notifier } = context;
  let isStopped = false;
  let isAgain = false;
  let isFull = false;
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let unsubscribe: () => void = () => undefined;
  const isOver = () => isStopped;

  const sweep = async () => {
    while (isAgain && !isStopped) {
      isAgain = false;
      const isWhole = isFull;
      isFull = false;
      const count = isWhole
        ? await sweepWorkspaces(context, options, isOver)
        : await discardDue(context, options, await listRequestedWorkspaces(context, options.workerId));
      if (count > 0) log.info({ count }, 'Workspaces of sessions were deleted.');
      if (isWhole || count > 0) await deleteDiscarded(context, options.workspaces, isOver);
    }
  };
  const run = (isWhole: boolean) => {
    if (isStopped) return;
    isAgain = true;
    isFull ||= isWhole;
    running ??= sweep()
      .catch((error: unknown) => log.warn({ err: error }, 'Workspaces could not be checked for deletion.'))
      .finally(() => {
        running = null;
        if (isAgain) run(false);
      });
  };
  return {
    start() {
      unsubscribe = notifier.subscribe('workspaces', () => run(false));
      timer = setInterval(() => run(true), sweepMs).unref();
      run(true);
    },
    deleteRequested: () => run(false),
    async stop() {
      isStopped = true;
      unsubscribe();
      if (timer) clearInterval(timer);
      await running;
    },
  };
}
