import { createThreadPool, threadProgram } from '../../threads/thread-pool.ts';
import { parseMessage } from './trim.ts';

/**
 * A longer line is parsed in a thread. A line of this length that is all structure blocks the event loop for at most
 * about 50 ms.
 */
const maxInlineBytes = 128 * 1_024;
/** The time that the thread may take for a line, from the moment it is ready. Sixteen MB of text take 0.2 s. */
const parseMs = 10_000;
/** The time for which an idle thread is kept for the next long line. */
const idleMs = 30_000;

/** A line that takes too much time or memory to parse. */
export class LineTooComplex extends Error {}

/**
 * Parses one line of an agent; null if it is no message. Returns a promise only for a long line. Rejects with {@link
 * LineTooComplex}.
 */
export function parseLine(line: Buffer): object | null | Promise<object | null> {
  return line.length <= maxInlineBytes ? parseMessage(line.toString('utf8')) : parseInThread(line);
}

interface ParseResult {
  readonly message: object | null;
  readonly isTooComplex: boolean;
}

// One pool for all agents: each has at most one line waiting here.
const pool = createThreadPool<ParseResult>({
  program: threadProgram('parse-thread', import.meta.url),
  maxThreads: 1,
  memory: { oldGenerationMb: 384, youngGenerationMb: 32 },
  idleMs,
});

async function parseInThread(line: Buffer): Promise<object | null> {
  // A copy with its own buffer, which can be transferred.
  const bytes = new Uint8Array(line);
  const result = await pool.run({ message: bytes, limitMs: parseMs, transfer: [bytes.buffer] }).catch(() => null);
  if (result === null || result.isTooComplex) {
    throw new LineTooComplex('A line takes too much time or memory to read.');
  }
  return result.message;
}
