/**
 * Patterns of `.gitignore` files, as gitignore(5) defines them. Agents write these files, so a match takes time in proportion to
 * the lengths of name and pattern at most: nothing is compiled to a regular expression. Names and patterns have one character for
 * each byte, as git compares bytes.
 */

/** A line of a `.gitignore` file. */
export interface IgnorePattern {
  readonly isNegated: boolean;
  readonly isForDirectories: boolean;
  /** False: it is compared with the last name of a path alone. */
  readonly isAnchored: boolean;
  readonly segments: readonly Segment[];
}

/** A pattern between slashes; `**`: any number of names. */
type Segment = '**' | NamePattern;

type NamePattern = string | readonly Token[];

/** A character, or a test of one; null: any number of characters. */
type Token = string | ((character: string) => boolean) | null;

/** Limits of one file: what exceeds them is not read. A file that no pattern ignores is in the layer `files`, so nothing is lost. */
const limits = { patterns: 2_000, patternLength: 1_024 };

/** The bytes of all pattern files that apply in a directory: each name in it is compared with all of them. */
export const maxIgnoreBytes = 2 ** 17;

/** Parses a `.gitignore` file. Skips lines that are no pattern. */
export function parseIgnoreFile(content: string): IgnorePattern[] {
  const patterns: IgnorePattern[] = [];
  for (const line of content.replace(/^\xef\xbb\xbf/, '').split('\n')) {
    if (patterns.length >= limits.patterns) break;
    const pattern = line.length > limits.patternLength ? null : parsePattern(line);
    if (pattern !== null) patterns.push(pattern);
  }
  return patterns;
}

function parsePattern(line: string): IgnorePattern | null {
  let text = withoutTrailingSpaces(line.endsWith('\r') ? line.slice(0, -1) : line);
  if (text === '' || text.startsWith('#')) return null;
  const isNegated = text.startsWith('!');
  if (isNegated) text = text.slice(1);
  const isForDirectories = text.endsWith('/');
  if (isForDirectories) text = text.slice(0, -1);
  const isAnchored = text.includes('/');
  if (text.startsWith('/')) text = text.slice(1);
  if (text === '') return null;
  const segments: Segment[] = [];
  // Git reads a slash after a backslash as any other slash.
  for (const part of text.replaceAll(/\\(.)/g, (escaped, after) => (after === '/' ? '/' : escaped)).split('/')) {
    const segment = isAnchored && part === '**' ? '**' : parseName(part);
    if (segment === null) return null;
    if (segment !== '**' || segments.at(-1) !== '**') segments.push(segment);
  }
  return { isNegated, isForDirectories, isAnchored, segments };
}

// A backslash keeps the space after it.
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ') end--;
  let backslashes = 0;
  while (end - backslashes > 0 && line[end - backslashes - 1] === '\\') backslashes++;
  return line.slice(0, end < line.length && backslashes % 2 === 1 ? end + 1 : end);
}

/** Parses a pattern for one name; null: it matches nothing. A class with a slash in it is not read, although git does. */
function parseName(text: string): NamePattern | null {
  if (!/[*?[\\]/.test(text)) return text;
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '*') {
      if (tokens.at(-1) !== null) tokens.push(null);
    } else if (character === '?') tokens.push(() => true);
    else if (character === '[') {
      const found = parseClass(text, at);
      if (found === null) return null;
      tokens.push(found.test);
      at = found.end;
    } else if (character === '\\') {
      at++;
      if (at === text.length) return null;
      tokens.push(text.charAt(at));
    } else tokens.push(character);
  }
  return tokens;
}

const classes: Record<string, RegExp> = {
  alnum: /[a-z0-9]/i,
  alpha: /[a-z]/i,
  blank: /[ \t]/,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the class of control characters.
  cntrl: /[\0-\x1f\x7f]/,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t-\r]/,
  upper: /[A-Z]/,
  xdigit: /[0-9a-f]/i,
};

/** Parses `[…]`, which begins at `start`; null: it has no end, or names an unknown class. */
function parseClass(text: string, start: number): { test: (character: string) => boolean; end: number } | null {
  let at = start + 1;
  const isNegated = text[at] === '!' || text[at] === '^';
  if (isNegated) at++;
  const tests: ((character: string) => boolean)[] = [];
  let previous: string | null = null;
  for (let isFirst = true; ; isFirst = false, at++) {
    const character = text[at];
    if (character === undefined) return null;
    if (character === ']' && !isFirst) break;
    const name = character === '[' ? /^\[:([^\]]*?):\]/.exec(text.slice(at))?.[1] : undefined;
    if (name !== undefined) {
      const known = Object.hasOwn(classes, name) ? classes[name] : undefined;
      if (known === undefined) return null;
      tests.push((tested) => known.test(tested));
      at += name.length + 3;
      previous = null;
    } else if (character === '-' && previous !== null && text[at + 1] !== undefined && text[at + 1] !== ']') {
      at++;
      if (text[at] === '\\') at++;
      const [first, last] = [previous, text[at]];
      if (last === undefined) return null;
      tests.push((tested) => first <= tested && tested <= last);
      previous = null;
    } else {
      if (character === '\\') at++;
      const literal = text[at];
      if (literal === undefined) return null;
      tests.push((tested) => tested === literal);
      previous = literal;
    }
  }
  return { test: (character) => tests.some((test) => test(character)) !== isNegated, end: at };
}

/** Returns true if a pattern matches a path, which is relative to the directory of its file. */
export function matches(pattern: IgnorePattern, names: readonly string[], from: number, isDirectory: boolean): boolean {
  if (pattern.isForDirectories && !isDirectory) return false;
  const { segments } = pattern;
  if (!pattern.isAnchored) return matchesName(segments[0] as NamePattern, names.at(-1) ?? '');
  return matchesPath(segments, names, from);
}

// Only the last `**` is tried again at another position: an earlier one could match no more.
function matchesPath(segments: readonly Segment[], names: readonly string[], from: number): boolean {
  let at = 0;
  let name = from;
  let retry = -1;
  let retryName = from;
  while (name < names.length) {
    const segment = segments[at];
    if (segment === '**') {
      // At the end it stands for one name at least.
      if (at === segments.length - 1) return true;
      at++;
      retry = at;
      retryName = name;
    } else if (segment !== undefined && matchesName(segment, names[name] ?? '')) {
      at++;
      name++;
    } else if (retry >= 0) {
      at = retry;
      retryName++;
      name = retryName;
    } else return false;
  }
  return at === segments.length;
}

function matchesName(pattern: NamePattern, name: string): boolean {
  if (typeof pattern === 'string') return pattern === name;
  let at = 0;
  let position = 0;
  let retry = -1;
  let retryPosition = 0;
  while (position < name.length) {
    const token = pattern[at];
    if (token === null) {
      at++;
      retry = at;
      retryPosition = position;
    } else if (token !== undefined && matchesCharacter(token, name.charAt(position))) {
      at++;
      position++;
    } else if (retry >= 0) {
      at = retry;
      retryPosition++;
      position = retryPosition;
    } else return false;
  }
  while (pattern[at] === null) at++;
  return at === pattern.length;
}

function matchesCharacter(token: string | ((character: string) => boolean), character: string): boolean {
  return typeof token === 'string' ? token === character : token(character);
}
