/**
 * The size of the blocks into which chunks are copied: a buffer for each chunk would cost hundreds of bytes in
 * addition.
 */
const blockBytes = 16_384;

/**
 * Collects bytes that arrive in chunks of any size, even of one byte. Takes little more memory than the bytes
 * themselves.
 */
export class ChunkBuffer {
  readonly #blocks: Buffer[] = [];
  /** The unused end of the last block. */
  #room: Buffer = Buffer.alloc(0);

  /** The number of blocks. */
  get blocks(): number {
    return this.#blocks.length;
  }

  add(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#room.length === 0) {
        this.#room = Buffer.allocUnsafeSlow(blockBytes);
        this.#blocks.push(this.#room);
      }
      const copied = rest.copy(this.#room);
      this.#room = this.#room.subarray(copied);
      rest = rest.subarray(copied);
    }
  }

  /** All bytes in one buffer. */
  join(): Buffer {
    const all = Buffer.concat(this.#blocks);
    return all.subarray(0, all.length - this.#room.length);
  }
}
