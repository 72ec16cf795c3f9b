import { createThreadPool, threadProgram } from '../../threads/thread-pool.ts';
import { parseMessage } from './trim.ts';

/** A longer line is read by a thread: even one that is all structure holds the event loop for no more than some 50 ms then. */
const maxInlineBytes = 128 * 1_024;
/** How long the thread may take for a line, from the moment when it is ready. Sixteen MB of text take 0.2 s. */
const parseMs = 10_000;
/** How long the thread is kept for the next long line. */
const idleMs = 30_000;

/** A line that takes too much time or memory to read. */
export class LineTooComplex extends Error {}

/**
 * Reads one line of an agent; null: it is no message. A promise only where the line is long. Rejects with
 * {@link LineTooComplex}.
 */
export function parseLine(line: Buffer): object | null | Promise<object | null> {
  return line.length <= maxInlineBytes ? parseMessage(line.toString('utf8')) : parseInThread(line);
}

interface ParseResult {
  readonly message: object | null;
  readonly isTooComplex: boolean;
}

// One for all agents: each has at most one line that waits here.
const pool = createThreadPool<ParseResult>({
  program: threadProgram('parse-thread', import.meta.url),
  maxThreads: 1,
  memory: { oldGenerationMb: 384, youngGenerationMb: 32 },
  idleMs,
});

async function parseInThread(line: Buffer): Promise<object | null> {
  // A copy with a buffer of its own, which can be transferred.
  const bytes = new Uint8Array(line);
  const result = await pool.run({ message: bytes, limitMs: parseMs, transfer: [bytes.buffer] }).catch(() => null);
  if (result === null || result.isTooComplex) {
    throw new LineTooComplex('A line takes too much time or memory to read.');
  }
  return result.message;
}
