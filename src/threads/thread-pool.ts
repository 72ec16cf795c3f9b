import { Worker } from 'node:worker_threads';
import { createFairQueue, type QueueLimits } from './fair-queue.ts';

/**
 * The reason why a thread gave no answer. `time`: it exceeded its time limit. `memory`: it exceeded its memory or stack
 * limit, or failed in another way. `start`: it could not be started. `busy`: too many tasks wait. `stopped`: the
 * service stops.
 */
export type ThreadFailure = 'time' | 'memory' | 'start' | 'busy' | 'stopped';

/** A task that a thread gave no answer to. */
export class ThreadError extends Error {
  readonly reason: ThreadFailure;

  constructor(reason: ThreadFailure) {
    super(`A thread gave no answer (${reason}).`);
    this.name = 'ThreadError';
    this.reason = reason;
  }
}

/** Settings of {@link createThreadPool}. */
export interface ThreadPoolOptions {
  /** The program: see {@link threadProgram}. It answers with `serveTasks`. */
  readonly program: URL;
  readonly maxThreads: number;
  /** Heap of each thread. */
  readonly memory: { readonly oldGenerationMb: number; readonly youngGenerationMb: number };
  /** Time for which an idle thread is kept; 0 starts a new thread for each task. */
  readonly idleMs: number;
  /** Unlimited if omitted. */
  readonly queue?: QueueLimits;
  /** Copied to the program as its `workerData`. */
  readonly data?: unknown;
}

/** One task and its limits. */
export interface ThreadTask {
  /** Copied to the thread (structured clone), except what `transfer` lists. */
  readonly message: unknown;
  /** Counts from the moment when the ready thread receives the task; time in the queue does not count. */
  readonly limitMs: number;
  /** The owner of the task: waiting tasks of several keys are served in turn. */
  readonly key?: string;
  readonly transfer?: readonly ArrayBuffer[];
}

/** Worker threads that are terminated, and replaced, when an answer exceeds its limit. */
export interface ThreadPool<Answer> {
  /** Gives the task to a thread when one is free. Rejects with {@link ThreadError}. */
  run(task: ThreadTask): Promise<Answer>;
  /** Terminates the threads, and rejects waiting and running tasks. Safe to call twice. */
  stop(): Promise<void>;
}

/** A slow start of a thread is caused by the machine, not by the task. */
const startLimitMs = 30_000;

interface Job<Answer> {
  readonly task: ThreadTask;
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

interface Slot {
  worker: Worker | null;
  idleTimer: NodeJS.Timeout | undefined;
}

/** Creates the pool. Each thread starts with its first task. */
export function createThreadPool<Answer>(options: ThreadPoolOptions): ThreadPool<Answer> {
  const queue = createFairQueue<Job<Answer>>(options.queue ?? { maxItems: Infinity, maxItemsPerKey: Infinity });
  const free: Slot[] = Array.from({ length: options.maxThreads }, () => ({ worker: null, idleTimer: undefined }));
  const all = [...free];
  let isStopped = false;

  const discard = (slot: Slot) => {
    const { worker } = slot;
    slot.worker = null;
    return worker?.terminate();
  };
  const run = async (slot: Slot, { task, resolve, reject }: Job<Answer>) => {
    clearTimeout(slot.idleTimer);
    try {
      slot.worker ??= await startThread(options, (worker) => {
        if (slot.worker === worker) slot.worker = null;
      });
      if (isStopped) throw new ThreadError('stopped');
      resolve(await runOnThread<Answer>(slot.worker, task));
      if (options.idleMs === 0) void discard(slot);
      else slot.idleTimer = setTimeout(() => void discard(slot), options.idleMs).unref();
    } catch (error) {
      void discard(slot);
      reject(isStopped ? new ThreadError('stopped') : (error as Error));
    }
  };
  const serve = () => {
    for (let slot = free.pop(); slot !== undefined; slot = free.pop()) {
      const job = queue.take();
      if (job === undefined) {
        free.push(slot);
        return;
      }
      const used = slot;
      void run(used, job).then(() => {
        free.push(used);
        serve();
      });
    }
  };

  return {
    run(task) {
      return new Promise<Answer>((resolve, reject) => {
        if (isStopped) reject(new ThreadError('stopped'));
        else if (queue.add(task.key ?? '', { task, resolve, reject })) serve();
        else reject(new ThreadError('busy'));
      });
    },
    async stop() {
      isStopped = true;
      for (let job = queue.take(); job !== undefined; job = queue.take()) job.reject(new ThreadError('stopped'));
      for (const slot of all) clearTimeout(slot.idleTimer);
      await Promise.all(all.map(discard));
    },
  };
}

/**
 * Returns the URL of the thread program `name` (without extension) in the folder of a module, whose `import.meta.url`
 * is `moduleUrl`. The program must be an entry in rolldown.config.mjs.
 */
export function threadProgram(name: string, moduleUrl: string): URL {
  return new URL(`${name}${moduleUrl.endsWith('.ts') ? '.ts' : '.js'}`, moduleUrl);
}

function runOnThread<Answer>(worker: Worker, { message, limitMs, transfer = [] }: ThreadTask): Promise<Answer> {
  return new Promise<Answer>((resolve, reject) => {
    const settle = (act: () => void) => {
      clearTimeout(timer);
      worker.removeAllListeners('message').off('error', fail).off('exit', fail);
      act();
    };
    const fail = () => settle(() => reject(new ThreadError('memory')));
    const timer = setTimeout(() => settle(() => reject(new ThreadError('time'))), limitMs);
    worker.once('message', (answer: Answer) => settle(() => resolve(answer)));
    worker.once('error', fail).once('exit', fail);
    worker.postMessage(message, transfer);
  });
}

function startThread(options: ThreadPoolOptions, onExit: (worker: Worker) => void): Promise<Worker> {
  const worker = new Worker(...workerArguments(options));
  worker.unref();
  // A failure of an idle thread must not end the process.
  worker.on('error', () => undefined);
  worker.on('exit', () => onExit(worker));
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      clearTimeout(timer);
      worker.off('exit', fail);
      act();
    };
    const fail = () =>
      settle(() => {
        void worker.terminate();
        reject(new ThreadError('start'));
      });
    const timer = setTimeout(fail, startLimitMs);
    worker.once('exit', fail);
    worker.once('message', () => settle(() => resolve(worker)));
  });
}

// When the program runs from sources (tests, development), the thread needs the TypeScript loader, which no option of
// Worker can load.
function workerArguments({ program, memory, data }: ThreadPoolOptions): ConstructorParameters<typeof Worker> {
  const resourceLimits = {
    maxOldGenerationSizeMb: memory.oldGenerationMb,
    maxYoungGenerationSizeMb: memory.youngGenerationMb,
    stackSizeMb: 4,
  };
  // No environment and no output of the service: a thread gets all its data with its tasks.
  const options = { workerData: data, resourceLimits, env: {}, execArgv: [], stdout: true, stderr: true };
  if (!program.pathname.endsWith('.ts')) return [program, options];
  const loader = import.meta.resolve('tsx/esm/api');
  const load = `import('${loader}').then(({ tsImport }) => tsImport('${program.href}', '${program.href}'))`;
  return [load, { ...options, eval: true }];
}
