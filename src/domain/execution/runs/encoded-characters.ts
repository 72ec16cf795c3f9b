const hex = '[0-9a-fA-F]';
/** Zeros before a number are bounded, so that a match is short. */
const zeros = '0{0,64}';
/** A quotation mark as shells write it between quotation marks, or doubled, as in SQL, CSV and YAML. */
const quote = `'(?:\\\\''|"'"'|'(?!\\\\''|"'"'))|""`;
/** UTF-8 of one character outside of ASCII, its bytes in hexadecimal or in octal, as Git and shells write it. */
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
    // Ruby escapes letters outside of ASCII too.
    String.raw`\\(?<mark>[ -/:-@[-\x60{-~]|[\uD800-\uDBFF][\uDC00-\uDFFF]|[^\0-\x7f])`,
    `(?<quote>${quote})`,
  ].join('|'),
  'g',
);

/** Cheap test for {@link encoded}: most texts have none of it. */
export const mayBeEncoded = /%[0-9a-fA-F]{2}|&(?:#|amp|lt|gt|quot|apos)|\\[^0145-9A-TV-Za-tvwyz]|''|""|'"'"'/;

/** The beginning of a character at the end of a text, or a whole encoded one that more digits may follow. */
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

/** A quotation mark and the beginning of what a shell writes behind it for a mark inside of quotation marks. */
const unfinishedQuote = /'(?:\\'?|"(?:'"?)?)$/;

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * The bytes that one encoded character stands for, as {@link toBytes} gives them: by the groups of {@link encoded}. `isBytes`: the text
 * around it is bytes already.
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

/** Where an encoded character begins that a text ends in the middle of; its length where there is none. */
export function unfinishedAt(text: string): number {
  const tail = text.slice(-maxUnfinished);
  const found = tail.search(unfinished);
  return found < 0 ? text.length : text.length - tail.length + found;
}

/**
 * The index behind a quotation mark that a text ends with, where the beginning of a shell's way to write this mark follows it; the
 * length of the text where there is none. What precedes the index reads as it does once the rest has come.
 */
export function unfinishedQuoteAt(text: string): number {
  const found = text.slice(-4).search(unfinishedQuote);
  return found < 0 ? text.length : Math.max(0, text.length - 4) + found + 1;
}
