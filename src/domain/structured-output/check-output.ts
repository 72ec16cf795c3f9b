import { Worker } from 'node:worker_threads';

/**
 * What is wrong with an output, in words for who wrote it, which quote it, at any length; none: it fits. `isHopeless`: no
 * output can ever fit.
 */
export interface OutputVerdict {
  readonly problems: readonly string[];
  readonly isHopeless: boolean;
}

/** The most that an output may take as JSON. */
const maxOutputBytes = 256 * 1_024;
/** How deep it may nest: what reads it further on is recursive. */
const maxDepth = 100;
/** How long the check may take, from the moment when its thread is ready. */
const checkMs = 2_000;
/** How long the thread may take to be ready: only the machine can be the cause. */
const startMs = 30_000;
/** Threads at once; each may take a core for as long. */
const mostThreads = 2;

/** Checks an output against a JSON Schema (Draft 7), null: none, in a thread of its own with limits of time and memory. */
export async function checkOutput(schema: unknown, output: unknown): Promise<OutputVerdict> {
  const complaint = shapeComplaint(output);
  if (complaint !== null) return { problems: [complaint], isHopeless: false };
  if (schema === null || schema === undefined) {
    const isObject = output !== null && typeof output === 'object' && !Array.isArray(output);
    return { problems: isObject ? [] : ['it must be a JSON object'], isHopeless: false };
  }
  await takeThread();
  try {
    return await runThread(JSON.stringify(schema), JSON.stringify(output));
  } finally {
    giveThread();
  }
}

/** What no output may be, whatever the schema: a value that cannot be stored, or read again. */
function shapeComplaint(output: unknown): string | null {
  if (output === undefined) return 'it is missing';
  const open: { value: unknown; depth: number }[] = [{ value: output, depth: 1 }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth } = next;
    if (typeof value === 'string' && (value.includes('\u0000') || !value.isWellFormed())) {
      return 'it must not contain NUL characters or lone surrogates';
    }
    if (value === null || typeof value !== 'object') continue;
    if (depth > maxDepth) return `it must not nest deeper than ${maxDepth} levels`;
    for (const [key, inner] of Object.entries(value)) {
      open.push({ value: key, depth }, { value: inner, depth: depth + 1 });
    }
  }
  const bytes = Buffer.byteLength(JSON.stringify(output));
  return bytes > maxOutputBytes ? `it must be at most 256 KB of JSON, but has ${bytes} bytes` : null;
}

let freeThreads = mostThreads;
const queue: (() => void)[] = [];

async function takeThread(): Promise<void> {
  if (freeThreads > 0) freeThreads--;
  else await new Promise<void>((resolve) => queue.push(resolve));
}

function giveThread(): void {
  const next = queue.shift();
  if (next) next();
  else freeThreads++;
}

type Answer = 'ready' | { readonly problems: readonly string[] } | { readonly broken: string };

function runThread(schema: string, output: string): Promise<OutputVerdict> {
  const thread = new Worker(...threadProgram({ schema, output }));
  return new Promise<OutputVerdict>((resolve) => {
    const settle = (problems: readonly string[], isHopeless: boolean) => {
      clearTimeout(timer);
      void thread.terminate();
      resolve({ problems, isHopeless });
    };
    const late = () =>
      settle([`it could not be checked within ${checkMs / 1_000} s: the schema takes too long for it`], false);
    let timer = setTimeout(late, startMs);
    thread.on('message', (answer: Answer) => {
      if (answer === 'ready') {
        clearTimeout(timer);
        timer = setTimeout(late, checkMs);
        thread.postMessage('go');
      } else if ('broken' in answer) settle([`the schema itself cannot be used: ${answer.broken}`], true);
      else settle(answer.problems, false);
    });
    thread.on('error', () => settle(['it could not be checked: the schema takes too much memory for it'], false));
    thread.on('exit', () => settle(['it could not be checked'], false));
  });
}

// From sources (tests, development) the thread needs the loader that runs them, which no option of a thread brings in.
function threadProgram(workerData: object): ConstructorParameters<typeof Worker> {
  const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };
  // Nothing of the service's environment, and no output: it is given what it needs.
  const options = { workerData, resourceLimits, env: {}, execArgv: [], stdout: true, stderr: true };
  if (!import.meta.url.endsWith('.ts')) return [new URL('check-thread.js', import.meta.url), options];
  const [loader, file] = [import.meta.resolve('tsx/esm/api'), new URL('check-thread.ts', import.meta.url).href];
  return [`import('${loader}').then(({ tsImport }) => tsImport('${file}', '${file}'))`, { ...options, eval: true }];
}
