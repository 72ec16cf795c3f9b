const hex = '[0-9a-fA-F]';
/** The number of leading zeros is bounded, so that a match is short. */
const zeros = '0{0,64}';
/** A quotation mark inside quotation marks, as shells write it, or doubled, as in SQL, CSV and YAML. */
const quote = `'(?:\\\\''|"'"'|'(?!\\\\''|"'"'))|""`;
/** UTF-8 of one non-ASCII character, its bytes in hexadecimal or in octal, as Git and shells write it. */
const utf8 = [
  [String.raw`\\x[cdCD]${hex}`, String.raw`\\x[eE]${hex}`, String.raw`\\x[fF][0-7]`, String.raw`\\x[89abAB]${hex}`],
  [String.raw`\\3[0-3][0-7]`, String.raw`\\3[45][0-7]`, String.raw`\\36[0-7]`, String.raw`\\2[0-7]{2}`],
]
  .map(([two, three, four, next]) => `${two}${next}|${three}(?:${next}){2}|${four}(?:${next}){3}`)
  .join('|');

/**
 * One encoded character: a byte of percent-encoding (%41), an HTML entity by number (&#65; &#x41;, the semicolon may be missing)
 * or by name, an escape of JSON and programming languages (\u0041, \u{41}, \U00000041, \x41, \/), or a mark in quotation marks.
 */
export const encoded = new RegExp(
  [
    `%(?<percent>${hex}{2})`,
    `&#(?<decimal>${zeros}[0-9]{1,7});?`,
    `&#[xX](?<entity>${zeros}${hex}{1,6});?`,
    '&(?<name>amp|lt|gt|quot|apos);',
    `(?<utf8>${utf8})`,
    String.raw`\\(?:u(?<unicode>${hex}{4})|u\{(?<braced>${hex}{1,6})\}|U(?<long>${hex}{8})|x(?<short>${hex}{2}))`,
    // Ruby also escapes non-ASCII letters.
    String.raw`\\(?<mark>[ -/:-@[-\x60{-~]|[\uD800-\uDBFF][\uDC00-\uDFFF]|[^\0-\x7f])`,
    `(?<quote>${quote})`,
  ].join('|'),
  'g',
);

/** Cheap test for {@link encoded}: most texts have none of it. */
export const mayBeEncoded = /%[0-9a-fA-F]{2}|&(?:#|amp|lt|gt|quot|apos)|\\[^0145-9A-TV-Za-tvwyz]|''|""|'"'"'/;

/** The beginning of a character at the end of a text, or a complete encoded one that more digits may follow. */
const unfinished = new RegExp(
  `(?:${[
    `%${hex}?`,
    `&(?:#(?:[xX]?|${zeros}[0-9]{0,7}|[xX]${zeros}${hex}{0,6})|[a-z]{0,4})`,
    String.raw`(?:\\u[dD][89abAB]${hex}{2})?\\(?:u${hex}{0,3}|u\{${hex}{0,6}|U${hex}{0,7}|x${hex}?)?`,
    String.raw`\\u[dD][89abAB]${hex}{2}`,
    String.raw`\\x[c-fC-F]${hex}(?:\\x[89abAB]${hex}){0,2}(?:\\(?:x${hex}?)?)?`,
    String.raw`\\3[0-7]{0,2}|\\3[0-7]{2}(?:\\2[0-7]{2}){0,2}(?:\\(?:2[0-7]?)?)?`,
    String.raw`[\uD800-\uDBFF]`,
  ].join('|')})$`,
);
/** Longer than any match of {@link unfinished}. */
const maxUnfinished = 80;

/** A quotation mark and the beginning of the sequence with which a shell writes a mark inside quotation marks. */
const unfinishedQuote = /'(?:\\'?|"(?:'"?)?)$/;

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * Returns the bytes of one encoded character, as {@link toBytes} does: by the groups of {@link encoded}. `isBytes`: the
 * text around it is bytes already.
 */
export function bytesOf(whole: string, groups: Readonly<Record<string, string | undefined>>, isBytes: boolean): string {
  const { percent, decimal, name, utf8: bytes, mark, quote: marks } = groups;
  if (percent !== undefined) return String.fromCharCode(Number.parseInt(percent, 16));
  if (mark !== undefined) return isBytes ? mark : toBytes(mark);
  if (marks !== undefined) return marks.charAt(0);
  if (bytes !== undefined) {
    const base = bytes.startsWith('\\x') ? 16 : 8;
    return bytes.replaceAll(/\\x?(\w{2,3})/g, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, base)),
    );
  }
  if (name !== undefined) return named[name] ?? whole;
  const digits = groups.entity ?? groups.unicode ?? groups.braced ?? groups.long ?? groups.short ?? '';
  const code = decimal === undefined ? Number.parseInt(digits, 16) : Number(decimal);
  return toBytes(String.fromCodePoint(code <= 0x10ffff ? code : 0xfffd));
}

/** A text in UTF-8, one character for each byte. */
export const toBytes = (text: string): string =>
  /^[\0-\x7f]*$/.test(text) ? text : Buffer.from(text.toWellFormed()).toString('latin1');

/**
 * Returns the index of an encoded character that is incomplete at the end of a text; the text's length if there is
 * none.
 */
export function unfinishedAt(text: string): number {
  const tail = text.slice(-maxUnfinished);
  const found = tail.search(unfinished);
  return found < 0 ? text.length : text.length - tail.length + found;
}

/**
 * Returns the index after a quotation mark at the end of a text that the beginning of a shell's escape for this mark
 * follows; the length of the text if there is none. The text before the index does not change when the rest arrives.
 */
export function unfinishedQuoteAt(text: string): number {
  const found = text.slice(-4).search(unfinishedQuote);
  return found < 0 ? text.length : Math.max(0, text.length - 4) + found + 1;
}
