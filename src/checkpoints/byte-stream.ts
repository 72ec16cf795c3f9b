import { damagedManifest } from './manifest.ts';

/** Writes numbers and texts to a buffer that grows. */
export class ByteWriter {
  #buffer = Buffer.allocUnsafe(65_536);
  #length = 0;

  /** Writes an integer from 0 to 2^53 - 1: seven bits in each byte, the lowest first. */
  uint(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#buffer[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[this.#length++] = rest;
  }

  /** Writes an integer from -2^53 + 1 to 2^53 - 1: the lowest bit is its sign, so that small ones take one byte. */
  int(value: number): void {
    const magnitude = value < 0 ? -value - 1 : value;
    const first = (magnitude % 0x40) * 2 + (value < 0 ? 1 : 0);
    const rest = Math.floor(magnitude / 0x40);
    this.#reserve(8);
    this.#buffer[this.#length++] = rest > 0 ? first | 0x80 : first;
    if (rest > 0) this.uint(rest);
  }

  /** Writes a text of one byte for each character, with its length. */
  bytes(value: string): void {
    this.uint(value.length);
    this.fixed(value);
  }

  /** Writes a text of one byte for each character. */
  fixed(value: string): void {
    this.#reserve(value.length);
    this.#length += this.#buffer.write(value, this.#length, 'latin1');
  }

  /** Returns what was written. */
  finish(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + bytes));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}

/** Reads what {@link ByteWriter} wrote. Throws CheckpointError where the bytes end too early. */
export class ByteReader {
  readonly #buffer: Buffer;
  #position = 0;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
  }

  uint(): number {
    let value = 0;
    for (let factor = 1; factor < 2 ** 53; factor *= 0x80) {
      const byte = this.#buffer[this.#position++];
      if (byte === undefined) break;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        return value;
      }
    }
    throw damagedManifest('has a wrong number');
  }

  int(): number {
    const first = this.#buffer[this.#position++];
    if (first === undefined) throw damagedManifest('ends too early');
    const rest = first < 0x80 ? 0 : this.uint();
    const magnitude = rest * 0x40 + ((first & 0x7f) >> 1);
    if (magnitude > Number.MAX_SAFE_INTEGER) throw damagedManifest('has a wrong number');
    return first % 2 === 0 ? magnitude : -magnitude - 1;
  }

  bytes(): string {
    return this.fixed(this.uint());
  }

  fixed(length: number): string {
    const end = this.#position + length;
    if (end > this.#buffer.length) throw damagedManifest('ends too early');
    const text = this.#buffer.toString('latin1', this.#position, end);
    this.#position = end;
    return text;
  }

  /** Reads the number of items that follow, each of which has at least one byte. */
  count(): number {
    const count = this.uint();
    if (count > this.#buffer.length - this.#position) throw damagedManifest('ends too early');
    return count;
  }

  /** Throws if something is left. */
  end(): void {
    if (this.#position !== this.#buffer.length) throw damagedManifest('is too long');
  }
}
