import { Worker } from 'node:worker_threads';
import { parseMessage } from './trim.ts';

/** A longer line is read by a thread: even one that is all structure holds the event loop for no more than some 50 ms then. */
const mostBytesHere = 128 * 1_024;
/** How long the thread may take for a line, from the moment when it is ready. Sixteen MB of text take 0.2 s. */
const parseMs = 10_000;
/** How long the thread may take to be ready: only the machine can be the cause. */
const startMs = 30_000;
/** How long the thread is kept for the next long line. */
const idleMs = 30_000;

/** A line that takes too much time or memory to read. */
export class LineTooComplex extends Error {}

/**
 * Reads one line of an agent; null: it is no message. A promise only where the line is long. Rejects with
 * {@link LineTooComplex}.
 */
export function parseLine(line: Buffer): object | null | Promise<object | null> {
  return line.length <= mostBytesHere ? parseMessage(line.toString('utf8')) : parseInThread(line);
}

interface Answer {
  readonly message: object | null;
  readonly isTooComplex: boolean;
}

let thread: Worker | null = null;
let last: Promise<unknown> = Promise.resolve();
let idle: NodeJS.Timeout | undefined;

// One after another, for all agents: each has at most one line that waits here.
function parseInThread(line: Buffer): Promise<object | null> {
  const parsed = last.then(() => runThread(line));
  last = parsed.catch(() => undefined);
  return parsed;
}

async function runThread(line: Buffer): Promise<object | null> {
  clearTimeout(idle);
  thread ??= await startThread();
  const used = thread;
  try {
    return await new Promise<object | null>((resolve, reject) => {
      const give = () => reject(new LineTooComplex('A line takes too much time or memory to read.'));
      const timer = setTimeout(give, parseMs);
      used.once('message', (answer: Answer) => {
        clearTimeout(timer);
        if (answer.isTooComplex) give();
        else resolve(answer.message);
      });
      used.once('error', give);
      used.once('exit', give);
      // A copy of its own, so that it can be handed over.
      const own = new Uint8Array(line);
      used.postMessage(own, [own.buffer]);
    });
  } catch (error) {
    thread = null;
    void used.terminate();
    throw error;
  } finally {
    used.removeAllListeners('message').removeAllListeners('exit');
    used.removeAllListeners('error').on('error', () => undefined);
    idle = setTimeout(() => {
      if (thread !== used) return;
      thread = null;
      void used.terminate();
    }, idleMs).unref();
  }
}

function startThread(): Promise<Worker> {
  const started = new Worker(...threadProgram());
  started.unref();
  return new Promise((resolve, reject) => {
    const fail = () => reject(new LineTooComplex('The thread that reads long lines could not be started.'));
    const timer = setTimeout(() => {
      fail();
      void started.terminate();
    }, startMs);
    started.once('error', fail);
    started.once('message', () => {
      clearTimeout(timer);
      resolve(started);
    });
  });
}

// From sources (tests, development) the thread needs the loader that runs them, which no option of a thread brings in.
function threadProgram(): ConstructorParameters<typeof Worker> {
  const resourceLimits = { maxOldGenerationSizeMb: 384, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };
  const options = { resourceLimits, env: {}, execArgv: [], stdout: true, stderr: true };
  if (!import.meta.url.endsWith('.ts')) return [new URL('parse-thread.js', import.meta.url), options];
  const [loader, file] = [import.meta.resolve('tsx/esm/api'), new URL('parse-thread.ts', import.meta.url).href];
  return [`import('${loader}').then(({ tsImport }) => tsImport('${file}', '${file}'))`, { ...options, eval: true }];
}
