import { createThreadPool, ThreadError, type ThreadFailure, threadProgram } from '../../../threads/thread-pool.ts';

/**
 * The problems of an output, as messages for its author, which quote it at any length; none: it is valid. `isHopeless`:
 * no output can be valid.
 */
export interface OutputValidation {
  readonly problems: readonly string[];
  readonly isSchemaInvalid: boolean;
}

/** Maximum size of an output as JSON. */
const maxOutputBytes = 256 * 1_024;
/** Maximum depth of an output: the code that reads it later is recursive. */
const maxDepth = 100;
/** Time limit of the check, from the moment when its thread is ready. */
const checkMs = 2_000;
/** Maximum number of threads; each may use a core for the whole time limit. */
const maxThreads = 2;

/**
 * Checks an output against a JSON Schema (Draft 7) or, with null, without one, in a separate thread with limits of time
 * and memory.
 */
export async function checkOutput(schema: unknown, output: unknown): Promise<OutputValidation> {
  const problem = shapeProblem(output);
  if (problem !== null) return { problems: [problem], isSchemaInvalid: false };
  if (schema === null || schema === undefined) {
    const isObject = output !== null && typeof output === 'object' && !Array.isArray(output);
    return { problems: isObject ? [] : ['it must be a JSON object'], isSchemaInvalid: false };
  }
  return checkInThread({ schema: JSON.stringify(schema), output: JSON.stringify(output) });
}

/** Returns the problem of an output that no schema allows: a value that cannot be stored, or read again. */
function shapeProblem(output: unknown): string | null {
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

/** A schema and an output, both as JSON. */
export interface CheckQuestion {
  readonly schema: string;
  readonly output: string;
}

/** `broken`: the reason why the schema cannot be used at all. */
export type CheckAnswer = { readonly problems: readonly string[] } | { readonly broken: string };

// A new thread for each check: a schema must not affect the next one.
const threads = createThreadPool<CheckAnswer>({
  program: threadProgram('check-thread', import.meta.url),
  maxThreads: maxThreads,
  memory: { oldGenerationMb: 128, youngGenerationMb: 16 },
  idleMs: 0,
});

const threadProblems: Readonly<Partial<Record<ThreadFailure, string>>> = {
  time: `it could not be checked within ${checkMs / 1_000} s: the schema takes too long for it`,
  memory: 'it could not be checked: the schema takes too much memory for it',
};

async function checkInThread(question: CheckQuestion): Promise<OutputValidation> {
  try {
    const answer = await threads.run({ message: question, limitMs: checkMs });
    if ('problems' in answer) return { problems: answer.problems, isSchemaInvalid: false };
    return { problems: [`the schema itself cannot be used: ${answer.broken}`], isSchemaInvalid: true };
  } catch (error) {
    if (!(error instanceof ThreadError)) throw error;
    return { problems: [threadProblems[error.reason] ?? 'it could not be checked'], isSchemaInvalid: false };
  }
}
