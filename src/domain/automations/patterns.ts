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

const remembered = new Map<string, RE2JS | null>();

// The time that RE2 takes grows with the text and the pattern alone, whatever the two are.
function compile(source: string, flags: number): RE2JS | null {
  const key = `${flags}:${source}`;
  const known = remembered.get(key);
  if (known !== undefined) return known;
  let compiled: RE2JS | null = null;
  try {
    compiled = RE2JS.compile(source, flags);
  } catch {
    // Saving refuses it; what was kept before that rule matches nothing.
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
