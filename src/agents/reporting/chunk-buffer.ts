/** Size of the blocks into which pieces are copied: a buffer for each piece would cost hundreds of bytes beside its own. */
const blockBytes = 16_384;

/** Bytes that arrive in pieces of any size, such as one for each byte. Takes little more memory than the bytes themselves. */
export class ChunkBuffer {
  readonly #blocks: Buffer[] = [];
  /** The end of the last block that is not filled yet. */
  #room: Buffer = Buffer.alloc(0);

  /** How many blocks hold the bytes. */
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
