import type { ClientRequest, IncomingMessage } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Pace } from '../acp/pace.ts';
import { createChunkCoalescer } from '../gateway/chunk-coalescer.ts';
import { RefusedError } from './refusals.ts';

/** The body of an agent's request, in chunks. It can be read in several steps. */
export interface RequestBody {
  /** Returns the next chunk; null at the end. Rejects if the agent has disconnected. */
  next(): Promise<Buffer | null>;
  /** Reads and drops the rest, at most this number of bytes. Returns false if there is more. */
  drain(maxBytes: number): Promise<boolean>;
}

/** Options of {@link readBody}. */
export interface BodyOptions {
  readonly pace: Pace;
  /** Aborted when the agent disconnects, or when nobody needs the body any longer. */
  readonly signal: AbortSignal;
  /** True: the body is decompressed. */
  readonly isGzip?: boolean;
}

/** Reads a request's body at the agent's pace. */
export function readBody(incoming: IncomingMessage, { pace, signal, isGzip = false }: BodyOptions): RequestBody {
  const coalescer = createChunkCoalescer(pace);
  const parts: Transform[] = isGzip ? [createGunzip(), coalescer] : [coalescer];
  let last: Readable = incoming;
  for (const part of parts) {
    part.on('error', (error) => coalescer.destroy(error));
    last = last.pipe(part);
  }
  const stop = () => coalescer.destroy(new Error('The request has ended.'));
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  const chunks = (coalescer as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  const next = async () => {
    const { done, value } = await chunks.next();
    return done ? null : value;
  };
  return {
    next,
    async drain(maxBytes) {
      let bytes = 0;
      for (let chunk = await next(); chunk !== null; chunk = await next()) {
        bytes += chunk.length;
        if (bytes > maxBytes) return false;
      }
      return true;
    },
  };
}

/** Reads a short body. Rejects with RefusedError if it is longer than `maxBytes`. */
export async function readWhole(body: RequestBody, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for (let chunk = await body.next(); chunk !== null; chunk = await body.next()) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new RefusedError(tooLarge(maxBytes), 413);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The end of {@link writeBody}; `stopped`: the receiver has answered, or its connection is closed. */
export type WriteEnd = 'complete' | 'too large' | 'stopped';

/** Bounds of {@link writeBody}. */
export interface WriteOptions {
  /** Written first; does not count. */
  readonly first?: Buffer;
  readonly maxBytes: number;
  /** True: a response does not end the writing, because the receiver may answer before it has read everything. */
  readonly isAnsweredEarly?: boolean;
  /** Called with the size of each chunk that is written. */
  onBytes?(count: number): void;
}

/**
 * Writes the rest of a body to a request, no faster than it is received, and ends the request. With `too large`, the
 * request is not ended. Rejects if the agent disconnects.
 */
export async function writeBody(
  body: RequestBody,
  request: ClientRequest,
  { first, maxBytes, isAnsweredEarly = false, onBytes }: WriteOptions,
): Promise<WriteEnd> {
  let isStopped = false;
  let wake: () => void = () => undefined;
  const stop = () => {
    isStopped = true;
    wake();
  };
  for (const event of ['close', 'error', ...(isAnsweredEarly ? [] : ['response'])]) request.once(event, stop);
  request.on('drain', () => wake());
  const write = async (chunk: Buffer) => {
    if (request.write(chunk) || isStopped) return;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  };
  if (first !== undefined) await write(first);
  let bytes = 0;
  for (let chunk = await body.next(); chunk !== null; chunk = await body.next()) {
    bytes += chunk.length;
    if (bytes > maxBytes) return 'too large';
    if (isStopped) return 'stopped';
    onBytes?.(chunk.length);
    await write(chunk);
  }
  if (isStopped) return 'stopped';
  request.end();
  return 'complete';
}

/** Creates a stream that fails after `maxBytes`. */
export function createByteLimit(maxBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxBytes) done(new Error('The response is too large.'));
      else done(null, chunk);
    },
  });
}

/** The message of a refusal with status 413. */
export function tooLarge(maxBytes: number): string {
  return `The request is too large: it may take at most ${maxBytes} bytes.`;
}
