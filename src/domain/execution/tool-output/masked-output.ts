import { setImmediate } from 'node:timers/promises';
import type { Pace } from '../../../agents/acp/pace.ts';
import type { LongOutput } from '../../../agents/agent.ts';
import { within } from '../../../common/within.ts';
import type { StreamMask } from '../drafts/stream-mask.ts';

/** The number of characters that are masked at once; in between, other work of this process continues. */
const stepCharacters = 16_384;
/** The number of characters in which a part that can be masked must end; the file has no more of an output with a longer one. */
const maxOpenCharacters = 1_048_576;
/** The interval at which a pause checks whether the run ends. */
const stopCheckMs = 50;
/** The space in a file for its last line. */
const lastLineBytes = 200;

/** The conditions of masking an output. */
export interface MaskingOptions {
  /** The size of the parts together; a longer output ends with a line that says so. */
  readonly maxBytes: number;
  /** The number of characters to remember from the end. */
  readonly endCharacters: number;
  /** Limits the share of the time of this process. */
  readonly pace: Pace;
  /** True: the run ends, so the rest of the output is left out. */
  isStopping(): boolean;
}

/** The masked form of a long output, as it was read. */
export interface MaskedOutput {
  /** Its parts in UTF-8. To be read to its end once. */
  readonly parts: AsyncIterable<Buffer>;
  /** True if the parts do not have all of the output. */
  isCut(): boolean;
  /** Its size without the last line about the rest. */
  bytes(): number;
  characters(): number;
  /** Its last characters, at least as many as an entry has. */
  end(): string;
}

/** Masks the start of an output in parts, in time linear in its length. */
export function maskOutput(
  { start, characters, bytes }: LongOutput,
  stream: StreamMask,
  { maxBytes, endCharacters, pace, isStopping }: MaskingOptions,
): MaskedOutput {
  const hasAll = start.length === characters;
  const state = { isCut: false, isFull: false, bytes: 0, characters: 0, end: '' };
  const take = (text: string): Buffer => {
    const whole = Buffer.from(text);
    const part = whole.subarray(0, partLength(whole, maxBytes - lastLineBytes - state.bytes));
    state.isFull = part.length < whole.length;
    state.bytes += part.length;
    state.characters += text.length;
    state.end = (state.end + text).slice(-endCharacters);
    return part;
  };
  async function* read(): AsyncGenerator<Buffer> {
    let step = stepCharacters;
    for (let to = 0; to < start.length; ) {
      const startedAt = performance.now();
      to = Math.min(start.length, to + step);
      const isEnd = hasAll && to === start.length;
      const text = isEnd ? stream.rest(start) : stream.next(start.slice(0, to));
      // The unmasked rest is read again with the next part: parts that double keep that linear.
      step = text === '' ? step * 2 : stepCharacters;
      const tookMs = performance.now() - startedAt;
      if (text !== '') yield take(text);
      if (state.isFull || isEnd || to - stream.cut() > maxOpenCharacters) break;
      await setImmediate();
      const pause = pace.spend(tookMs);
      while (pause !== null && !isStopping() && !(await within(pause, stopCheckMs)));
      if (isStopping()) break;
    }
    state.isCut = !hasAll || state.isFull || stream.cut() < start.length;
    if (state.isCut) yield Buffer.from(`\n… (the first ${state.bytes} of ${bytes} bytes)\n`);
  }
  return {
    parts: read(),
    isCut: () => state.isCut,
    bytes: () => state.bytes,
    characters: () => state.characters,
    end: () => state.end,
  };
}

/** Returns the length of the longest beginning of UTF-8 with at most `max` bytes that ends between characters. */
function partLength(utf8: Buffer, max: number): number {
  if (utf8.length <= max) return utf8.length;
  let length = Math.max(0, max);
  while (length > 0 && ((utf8[length] as number) & 0xc0) === 0x80) length--;
  return length;
}
