const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  t: '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  '"': '"',
  '\\': '\\',
};

/**
 * Reads a name that git quotes like a string of C. Text and result have one character for each byte. Returns the name
 * and the text after it; null: it is not a quoted name.
 */
export function readQuotedName(text: string): { readonly name: string; readonly rest: string } | null {
  const quoted = /^"((?:[^"\\]|\\[abtnvfr"\\]|\\[0-3][0-7]{2})*)"/.exec(text);
  if (quoted === null) return null;
  const name = (quoted[1] ?? '').replace(/\\([0-3][0-7]{2}|.)/g, (_, code: string) =>
    code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : (escapes[code] ?? ''),
  );
  return { name, rest: text.slice(quoted[0].length) };
}

/** Decodes a text that has one character for each byte of UTF-8. */
export function decodeBytes(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
