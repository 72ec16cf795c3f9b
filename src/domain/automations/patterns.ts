import { RE2JS } from 're2js';

/** How many characters of a value patterns look at: what is further back is as if it were not there. */
export const mostMatched = 10_000;
/**
 * How large the patterns of one automation may be together, in the instructions of their programs. With {@link mostMatched} this is
 * what one look at an event can cost: some 400 ms where every pattern is the worst of its size.
 */
export const mostInstructions = 2_000;
/** How large the compiled patterns that are remembered may be together: each instruction takes a few KB at most. */
const mostRemembered = 20_000;

/** What a class of Unicode's is worth: it has up to hundreds of ranges, and takes as long to compile and as much memory. */
const sizeOfClass = 20;

/** A class, an escaped character, a repetition with numbers, one without, a bracket, or any character. */
const piece = /\[\^?\]?(?:\\.|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\.|\{(\d+)(?:,(\d*))?\}|[*+?]|[()|]|./gsu;

const unicodeClass = /\\[pP]/g;

/**
 * About how many instructions a regular expression becomes, told without compiling it: repetitions with numbers are written out
 * then, so that a short one can become a very large one. Classes of Unicode's are worth many.
 */
export function sizeOfPattern(source: string): number {
  const open: number[] = [];
  let size = 0;
  let last = 0;
  for (const [part, least, most] of source.matchAll(piece)) {
    if (least !== undefined) {
      const more = last * (Math.max(Number(least), Number(most ?? 0), 1) - 1);
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
      last = 1 + sizeOfClass * (part.match(unicodeClass)?.length ?? 0);
      size += last;
    }
  }
  return size + open.reduce((sum, each) => sum + each, 0);
}

/** {@link sizeOfPattern} for {@link findGlobs}. */
export const sizeOfGlobs = (globs: readonly string[]): number => globs.reduce((sum, glob) => sum + glob.length + 1, 0);

const remembered = new Map<string, { readonly compiled: RE2JS | null; readonly size: number }>();
let rememberedSize = 0;

// The time that RE2 takes grows with the text and the pattern alone, whatever the two are.
function compile(source: string, flags: number): RE2JS | null {
  const key = `${flags}:${source}`;
  const known = remembered.get(key);
  if (known !== undefined) return known.compiled;
  const size = sizeOfPattern(source);
  let compiled: RE2JS | null = null;
  try {
    // Saving refuses both; what was kept before that rule matches nothing.
    if (size <= mostInstructions) compiled = RE2JS.compile(source, flags);
  } catch {
    // It is no regular expression.
  }
  const kept = compiled === null ? key.length : size + 1;
  for (const [oldest, { size: freed }] of remembered) {
    if (rememberedSize + kept <= mostRemembered) break;
    remembered.delete(oldest);
    rememberedSize -= freed;
  }
  if (kept <= mostRemembered) {
    remembered.set(key, { compiled, size: kept });
    rememberedSize += kept;
  }
  return compiled;
}

/** A regular expression of RE2's language; null: it is none. */
export const findPattern = (source: string): RE2JS | null => compile(source, 0);

/** The regular expression of several globs, any of which may match. */
export const findGlobs = (globs: readonly string[]): RE2JS | null =>
  compile(globs.map(patternOfGlob).join('|'), RE2JS.DOTALL);

const glob = /\*\*\/|\*\*|\*|\?|[^*?]+/g;

/**
 * `*` stands for any characters but "/", `**` for any at all, `**` with a "/" behind it for any directories or none, `?` for one
 * character but "/". All else stands for itself.
 */
function patternOfGlob(text: string): string {
  const wild: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };
  return [...text.matchAll(glob)].map(([part]) => wild[part] ?? RE2JS.quote(part)).join('');
}
