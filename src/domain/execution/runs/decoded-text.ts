import { bytesOf, encoded, mayBeEncoded, toBytes } from './encoded-characters.ts';

/** A text with its encoded characters decoded. */
export interface DecodedText {
  /** UTF-8, one character for each byte; `+` is a space, as in forms. */
  readonly bytes: string;
  /** The first index in the original of the character that a byte belongs to. */
  startOf(index: number): number;
  /** The index after that character. */
  endOf(index: number): number;
  /** The first byte of the character at this index of the original, or after it. */
  byteAt(original: number): number;
}

/**
 * Decodes a text, in time linear in its length; null if nothing in it is encoded. `isBytes`: it has been decoded
 * before.
 */
export function decode(text: string, isBytes = false): DecodedText | null {
  if (!mayBeEncoded.test(text)) return null;
  const parts: string[] = [];
  // Segments of bytes: plain ones advance in step with the original while they are ASCII.
  const byteStarts: number[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  let count = 0;
  const add = (bytes: string, from: number, to: number) => {
    byteStarts.push(count);
    starts.push(from);
    ends.push(to);
    parts.push(bytes);
    count += bytes.length;
  };
  const addPlain = (from: number, to: number) => {
    if (isBytes) return add(text.slice(from, to), from, to);
    for (const { 0: part, index } of text.slice(from, to).matchAll(/[\0-\x7f]+|[^\0-\x7f]/gu)) {
      add(toBytes(part), from + index, from + index + part.length);
    }
  };
  let done = 0;
  let isSurrogate = false;
  for (const match of text.matchAll(encoded)) {
    const { 0: whole, index, groups = {} } = match;
    const to = index + whole.length;
    if (index > done) addPlain(done, index);
    done = to;
    const last = parts.length - 1;
    const unit = groups.unicode === undefined ? 0 : Number.parseInt(groups.unicode, 16);
    // The second half of a character that JSON writes as two escapes.
    if (isSurrogate && unit >= 0xdc00 && unit <= 0xdfff && ends[last] === index) {
      const high = Number.parseInt(text.slice(index - 4, index), 16);
      const bytes = toBytes(String.fromCharCode(high, unit));
      count += bytes.length - (parts[last] as string).length;
      parts[last] = bytes;
      ends[last] = to;
      isSurrogate = false;
      continue;
    }
    isSurrogate = unit >= 0xd800 && unit <= 0xdbff;
    add(bytesOf(whole, groups, isBytes), index, to);
  }
  if (done === 0) return null;
  if (done < text.length) addPlain(done, text.length);

  const segmentOf = (index: number) => floorIndex(byteStarts, index);
  // In a plain segment each byte represents one character; an encoded one is one segment.
  const isPlain = (n: number) => (ends[n] as number) - (starts[n] as number) === (parts[n] as string).length;
  return {
    bytes: parts.join('').replaceAll('+', ' '),
    startOf(index) {
      const n = segmentOf(index);
      return (starts[n] as number) + (isPlain(n) ? index - (byteStarts[n] as number) : 0);
    },
    endOf(index) {
      const n = segmentOf(index);
      return isPlain(n) ? (starts[n] as number) + index - (byteStarts[n] as number) + 1 : (ends[n] as number);
    },
    byteAt(original) {
      const n = floorIndex(starts, original);
      const offset = original - (starts[n] as number);
      if (offset === 0) return byteStarts[n] as number;
      if (offset >= (ends[n] as number) - (starts[n] as number)) return count;
      return isPlain(n) ? (byteStarts[n] as number) + offset : (byteStarts[n + 1] ?? count);
    },
  };
}

function floorIndex(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((sorted[middle] as number) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}
