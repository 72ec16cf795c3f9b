/** The maximum length of a pkt-line with its four digits, in bytes. */
const maxPktBytes = 65_520;

/** A pkt-line of data, a flush packet, or the reason for which the bytes are not a pkt-line. */
export type PktLine =
  | { readonly type: 'data'; readonly payload: Buffer }
  | { readonly type: 'flush' }
  | { readonly type: 'invalid'; readonly reason: string };

/** The end of a list of pkt-lines. */
export const flushPkt: Buffer = Buffer.from('0000');

/** Encodes a pkt-line. Throws RangeError if the payload is too long or empty. */
export function pktLine(payload: string | Buffer): Buffer {
  const bytes = Buffer.from(payload);
  const length = bytes.length + 4;
  if (bytes.length === 0 || length > maxPktBytes) throw new RangeError('A pkt-line has 1 to 65,516 bytes of data.');
  return Buffer.concat([Buffer.from(length.toString(16).padStart(4, '0')), bytes]);
}

/**
 * Reads pkt-lines from chunks of any size. Stricter than git: only flush packets are accepted of the special packets,
 * and only lower-case digits, as all programs write them. Never throws.
 */
export class PktLineReader {
  #buffer: Buffer = Buffer.alloc(0);
  #length = 0;
  #at = 0;

  /** The number of bytes taken so far. */
  get takenBytes(): number {
    return this.#length;
  }

  /** The number of bytes of the pkt-lines that were read. */
  get readBytes(): number {
    return this.#at;
  }

  /** Adds a chunk. All bytes are kept, so the caller bounds them. */
  take(chunk: Buffer): void {
    const needed = this.#length + chunk.length;
    if (needed > this.#buffer.length) {
      // Doubled, so that chunks of one byte cost linear time.
      const larger = Buffer.alloc(Math.max(needed, this.#buffer.length * 2, 1_024));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    chunk.copy(this.#buffer, this.#length);
    this.#length = needed;
  }

  /** Returns the next pkt-line; null if more bytes are needed. */
  next(): PktLine | null {
    if (this.#length - this.#at < 4) return null;
    const digits = this.#buffer.toString('latin1', this.#at, this.#at + 4);
    if (!/^[0-9a-f]{4}$/.test(digits)) return invalid('A length is not four hexadecimal digits.');
    const length = Number.parseInt(digits, 16);
    if (length === 0) {
      this.#at += 4;
      return { type: 'flush' };
    }
    if (length <= 4 || length > maxPktBytes) return invalid('A length is not allowed.');
    if (this.#length - this.#at < length) return null;
    const payload = this.#buffer.subarray(this.#at + 4, this.#at + length);
    this.#at += length;
    return { type: 'data', payload };
  }

  /** Returns all bytes taken so far, including those that were read. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}

function invalid(reason: string): PktLine {
  return { type: 'invalid', reason };
}
