/**
 * Maximum size of all patterns of one automation, in instructions of their compiled programs. With
 * `maxMatchedCharacters` it bounds the cost of one event: about 400 ms if every pattern is the worst of its size.
 */
export const maxInstructions = 2_000;

/**
 * A Unicode class has up to hundreds of ranges, and needs as much time to compile and memory as this many instructions.
 */
const unicodeClassSize = 20;

/** Code points of a case-insensitive range that cost as much as one instruction: the compiler looks at each of them. */
const foldedPerInstruction = 500;
/** Only code points between these have another case: the bounds of the compiler. */
const folding = { first: 0x41, last: 0x1e943 } as const;

/** A class, an escaped character, a repetition with numbers, one without, a bracket, or any character. */
const piece = /\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\.|\{(\d+)(?:,(\d*))?\}|[*+?]|[()|]|./gsu;

const unicodeClass = /\\[pP]/g;

/** Turns on case-insensitive matching, for the whole pattern or a part of it. */
const foldingFlag = /\(\?[a-zA-Z-]*i/;

const character = String.raw`\\x\{[0-9a-fA-F]+\}|\\x[0-9a-fA-F]{2}|\\[0-7]{1,3}|\\.|[^\\]`;
const range = new RegExp(`(${character})-(${character})`, 'gsu');

/**
 * Estimates the number of instructions of a regular expression without compiling it. The compiler expands repetitions
 * with numbers, so that a short pattern can become a very large program. Classes count for the work that they cost:
 * Unicode classes for their many ranges, and case-insensitive ranges for their code points.
 */
export function sizeOfPattern(source: string): number {
  const isFolded = foldingFlag.test(source);
  const open: number[] = [];
  let size = 0;
  let last = 0;
  for (const [part, min, max] of source.matchAll(piece)) {
    if (min !== undefined) {
      const more = last * (Math.max(Number(min), Number(max ?? 0), 1) - 1);
      size += more;
      last += more;
    } else if (part === '(') {
      open.push(size);
      size = 0;
      last = 0;
    } else if (part === ')') {
      last = size + 2;
      size = (open.pop() ?? 0) + last;
    } else if (/^[*+?]$/.test(part)) {
      size += 1;
      last += 1;
    } else {
      last = 1 + unicodeClassSize * (part.match(unicodeClass)?.length ?? 0);
      if (isFolded && part.length > 2) last += sizeOfFoldedRanges(part);
      size += last;
    }
  }
  return size + open.reduce((sum, each) => sum + each, 0);
}

/** {@link sizeOfPattern} for globs. */
export const sizeOfGlobs = (globs: readonly string[]): number => globs.reduce((sum, glob) => sum + glob.length + 1, 0);

function sizeOfFoldedRanges(characterClass: string): number {
  let size = 0;
  for (const [, low = '', high = ''] of characterClass.slice(1, -1).matchAll(range)) {
    const folded = Math.min(codePointOf(high), folding.last) - Math.max(codePointOf(low, 0), folding.first) + 1;
    size += Math.ceil(Math.max(folded, 0) / foldedPerInstruction);
  }
  return size;
}

/** `ofLetter`: the value for an escaped letter, which stands for another code point. */
function codePointOf(written: string, ofLetter: number = folding.last): number {
  if (!written.startsWith('\\')) return written.codePointAt(0) ?? 0;
  const digits = /^\\x\{?([0-9a-fA-F]+)\}?$/.exec(written)?.[1];
  if (digits !== undefined) return Number.parseInt(digits, 16);
  if (/^\\[0-7]+$/.test(written)) return Number.parseInt(written.slice(1), 8);
  return /[a-zA-Z]/.test(written[1] ?? '') ? ofLetter : (written.codePointAt(1) ?? 0);
}
