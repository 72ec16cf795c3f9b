import type { CheckpointKeys } from './checkpoint-keys.ts';
import type { SegmentSource } from './driver.ts';
import type { Block } from './manifest.ts';
import { damaged, openRecordInBackground } from './segment-format.ts';
import { readRange } from './segment-reader.ts';

/** Bytes of the content of blocks that are kept. */
const maxKeptBytes = 2 ** 23;

/** Bytes of content that are read by one request, if blocks are read one after another. */
const maxAheadBytes = 2 ** 22;

/**
 * Reads the content of blocks by ranges of their segments. The last blocks are kept, because small files share one. If blocks are read in
 * the order of the segment, as in an archive of a directory, a request reads several of them: each time twice as many.
 */
export class BlockReader {
  readonly #keys: CheckpointKeys;
  readonly #source: SegmentSource;
  /** The one that was used last is the last. */
  readonly #kept = new Map<Block, Promise<Buffer>>();
  #keptBytes = 0;
  /** The end of the last range, and the size of the next one if it begins there. */
  #next: { readonly block: Block | undefined; readonly bytes: number } = { block: undefined, bytes: 0 };

  constructor(keys: CheckpointKeys, source: SegmentSource) {
    this.#keys = keys;
    this.#source = source;
  }

  /** Returns the content of a block. Rejects with CheckpointError. */
  read(block: Block): Promise<Buffer> {
    const kept = this.#kept.get(block);
    if (kept !== undefined) {
      this.#kept.delete(block);
      this.#kept.set(block, kept);
      return kept;
    }
    this.#fetch(this.#runFrom(block));
    return this.#kept.get(block) as Promise<Buffer>;
  }

  /** Returns a block, and those after it that are read with it. */
  #runFrom(block: Block): Block[] {
    const bytes = block === this.#next.block ? Math.min(maxAheadBytes, this.#next.bytes) : block.rawLength;
    const run = [block];
    let rawBytes = block.rawLength;
    let next = blockAfter(block);
    while (next !== undefined && !this.#kept.has(next) && rawBytes + next.rawLength <= bytes) {
      run.push(next);
      rawBytes += next.rawLength;
      next = blockAfter(next);
    }
    this.#next = { block: next, bytes: 2 * Math.max(rawBytes, next?.rawLength ?? 0) };
    return run;
  }

  #fetch(run: readonly Block[]): void {
    const [first, last] = [run[0] as Block, run.at(-1) as Block];
    const segmentId = first.segment.id;
    const range = readRange(this.#source, segmentId, first.offset, last.offset + last.length - first.offset);
    for (const block of run) {
      const content = range.then((all) => this.#open(block, all.subarray(block.offset - first.offset)));
      content.catch(() => this.#forget(block, content));
      this.#kept.set(block, content);
      this.#keptBytes += block.rawLength;
    }
    for (const block of this.#kept.keys()) {
      if (this.#keptBytes <= maxKeptBytes) break;
      if (!run.includes(block)) this.#forget(block, this.#kept.get(block));
    }
  }

  async #open(block: Block, sealed: Buffer): Promise<Buffer> {
    const { segment, offset, length, rawLength } = block;
    const position = { segmentId: segment.id, kind: 'block', offset } as const;
    const content = await openRecordInBackground(this.#keys, position, sealed.subarray(0, length));
    if (content.length !== rawLength) throw damaged(segment.id, 'a block has another length than its manifest says');
    return content;
  }

  #forget(block: Block, content: Promise<Buffer> | undefined): void {
    if (content === undefined || this.#kept.get(block) !== content) return;
    this.#kept.delete(block);
    this.#keptBytes -= block.rawLength;
  }
}

function blockAfter({ segment, offset, length }: Block): Block | undefined {
  return segment.blocks.get(offset + length);
}
