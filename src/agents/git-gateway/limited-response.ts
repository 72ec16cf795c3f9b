import type { IncomingMessage } from 'node:http';
import { pktLine } from './pkt-line.ts';

/** Bounds of {@link limitResponse}. */
export interface ResponseBounds {
  readonly maxBytes: number;
  /** Sent in git's own form as the end of a response that is too large; null: such a response ends in an error. */
  readonly sentence: string | null;
  /** Called with each chunk before it is passed on; null: nobody wants them. */
  readonly onChunk: ((chunk: Buffer) => void) | null;
}

/**
 * Reads a response of git, and ends it after `maxBytes`. With a sentence, it ends behind a complete pkt-line with an error
 * of the side band, which git shows as "remote error:". Throws without a sentence, and if it is not in pkt-lines.
 */
export async function* limitResponse(
  response: IncomingMessage,
  { maxBytes, sentence, onChunk }: ResponseBounds,
): AsyncGenerator<Buffer> {
  const ends = new PktEnds();
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    onChunk?.(chunk);
    const end = ends.take(chunk);
    if (bytes <= maxBytes) {
      yield chunk;
      continue;
    }
    if (sentence === null || end === 'invalid') throw new Error('The response is too large.');
    yield end === null ? chunk : chunk.subarray(0, end);
    if (end === null) continue;
    yield pktLine(Buffer.concat([Buffer.of(3), Buffer.from(`${sentence}\n`)]));
    return;
  }
}

/** Finds the ends of pkt-lines in chunks, without keeping them. */
class PktEnds {
  #digits = '';
  /** The number of bytes of the current line that have not come. */
  #left = 0;
  #isInvalid = false;

  /** Takes a chunk, and returns the position of its first end of a line; null: it has none. */
  take(chunk: Buffer): number | null | 'invalid' {
    let first: number | null = null;
    for (let at = 0; !this.#isInvalid; ) {
      if (this.#left === 0 && this.#digits === '') first ??= at;
      if (at >= chunk.length) return first;
      at = this.#left > 0 ? this.#skip(chunk, at) : this.#takeDigit(chunk, at);
    }
    return first ?? 'invalid';
  }

  #skip(chunk: Buffer, at: number): number {
    const count = Math.min(this.#left, chunk.length - at);
    this.#left -= count;
    return at + count;
  }

  #takeDigit(chunk: Buffer, at: number): number {
    this.#digits += String.fromCharCode(chunk[at] as number);
    if (this.#digits.length < 4) return at + 1;
    const length = /^[0-9a-f]{4}$/i.test(this.#digits) ? Number.parseInt(this.#digits, 16) : Number.NaN;
    this.#digits = '';
    // Flush, delimiter and response-end packets have no data.
    this.#left = length > 4 ? length - 4 : 0;
    this.#isInvalid = Number.isNaN(length) || length === 3;
    return at + 1;
  }
}
