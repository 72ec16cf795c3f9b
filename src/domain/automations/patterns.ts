import { RE2JS } from 're2js';

/** How many characters of a value patterns look at: what is further back is as if it were not there. */
export const mostMatched = 10_000;
/**
 * How large the patterns of one trigger may be together, in the instructions of their programs. With {@link mostMatched} this is
 * what one look at an event can cost: some 400 ms where every pattern is the worst of its size.
 */
export const mostInstructions = 2_000;
/** Compiled patterns that are remembered. */
const mostRemembered = 200;

/** A class, an escaped character, a repetition with numbers, one without, a bracket, or any character. */
const piece = /\[\^?\]?(?:\\.|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\.|\{(\d+)(?:,(\d*))?\}|[*+?]|[()|]|./gsu;

/**
 * About how many instructions a regular expression becomes, told without compiling it: repetitions with numbers are written out
 * then, so that a short one can become a very large one.
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
      size += 1;
      last = 1;
    }
  }
  return size + open.reduce((sum, each) => sum + each, 0);
}

/** {@link sizeOfPattern} for {@link findGlobs}. */
export const sizeOfGlobs = (globs: readonly string[]): number => globs.reduce((sum, glob) => sum + glob.length + 1, 0);

const remembered = new Map<string, RE2JS | null>();

// The time that RE2 takes grows with the text and the pattern alone, whatever the two are.
function compile(source: string, flags: number): RE2JS | null {
  const key = `${flags}:${source}`;
  const known = remembered.get(key);
  if (known !== undefined) return known;
  let compiled: RE2JS | null = null;
  try {
    // Saving refuses both; what was kept before that rule matches nothing.
    if (sizeOfPattern(source) <= mostInstructions) compiled = RE2JS.compile(source, flags);
  } catch {
    // It is no regular expression.
  }
  const [oldest] = remembered.size >= mostRemembered ? remembered.keys() : [];
  if (oldest !== undefined) remembered.delete(oldest);
  remembered.set(key, compiled);
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
