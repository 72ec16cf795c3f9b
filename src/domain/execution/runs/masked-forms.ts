/** Shorter values would mask ordinary words. */
export const minMaskedLength = 6;
/** Lines of a secret with several lines (a private key, a settings file) are masked separately from this length on. */
const minLineLength = 12;

/**
 * Returns the forms in which a program may write a secret: as it is, each of its lines, the values under secret names
 * in a JSON document, in base64 at any offset, in hexadecimal, and escaped as in URLs, forms, JSON, HTML, programming
 * languages and shells. Too short forms are left out.
 */
export function formsOf(value: string): Set<string> {
  const forms = new Set<string>();
  const lines = /[\r\n]/.test(value) ? value.split(/[\r\n]+/).filter(isDistinctive) : [];
  const values = [value, ...lines, ...secretsInside(value)];
  for (const each of values) {
    if (each.length < minMaskedLength) continue;
    for (const form of [each, ...escaped(each), ...encoded(Buffer.from(each))]) forms.add(form);
  }
  return forms;
}

// The first line of a block (`-----BEGIN …`) is in every key.
function isDistinctive(line: string): boolean {
  return line.trim().length >= minLineLength && !line.startsWith('-----');
}

/** Member names of the secret values in credentials that are JSON documents. */
const secretNamePattern = /pass|pwd|secret|token|key|credential|auth|private/i;

// A program that has read such a document writes its parts, not the document.
function secretsInside(value: string): string[] {
  if (!/^\s*[{[]/.test(value)) return [];
  const found: string[] = [];
  try {
    JSON.parse(value, (name, inner: unknown) => {
      if (typeof inner === 'string' && secretNamePattern.test(name) && !/^https?:/.test(inner)) found.push(inner);
    });
  } catch {
    // The value only looks like JSON.
  }
  return found;
}

function escaped(value: string): string[] {
  const whole = value.toWellFormed();
  const addresses = [
    encodeURIComponent(whole),
    // Other encoders: with "/" unescaped, with the characters escaped that JavaScript leaves unescaped, and as in
    // forms.
    encodeURI(whole),
    encodeURIComponent(whole).replaceAll('%2F', '/'),
    encodeURIComponent(whole).replaceAll(/[!'()*~]/g, percent),
    new URLSearchParams({ '': whole }).toString().slice(1),
  ];
  const json = JSON.stringify(value).slice(1, -1);
  const ascii = json.replaceAll(/[^\0-~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return [
    ...addresses,
    ...addresses.map((form) => form.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())),
    json,
    ascii,
    JSON.stringify(json).slice(1, -1),
    json.replaceAll('/', '\\/'),
    whole.replaceAll(/[&<>"']/g, (mark) => entities[mark] as string),
    ...quoted(value),
  ];
}

// With or without quotation marks, as in programming languages, shells, SQL and CSV. For a value without special
// characters all of these are equal.
function quoted(value: string): string[] {
  const behindBackslash = [/[\\']/g, /[\\"]/g, /["\\$`]/g, /[^\w@%+=:,./\n-]/gu];
  return [
    ...behindBackslash.map((marks) => value.replaceAll(marks, '\\$&')),
    ...[String.raw`'\''`, `'"'"'`, "''"].map((mark) => value.replaceAll("'", () => mark)),
    value.replaceAll('"', '""'),
  ];
}

const percent = (mark: string) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`;

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function encoded(bytes: Buffer): string[] {
  const hex = bytes.toString('hex');
  return [hex, hex.toUpperCase(), ...base64Forms(bytes)].filter((form) => form.length >= minMaskedLength);
}

// Base64 encodes three bytes as four characters: the form of a value depends on its offset. The forms leave out
// characters at either end that contain bits of neighbouring bytes.
function base64Forms(bytes: Buffer): string[] {
  const forms: string[] = [];
  for (const alphabet of ['base64', 'base64url'] as const) {
    forms.push(bytes.toString(alphabet).replace(/=+$/, ''));
    for (const before of [0, 1, 2]) {
      const text = Buffer.concat([Buffer.alloc(before), bytes])
        .toString(alphabet)
        .replace(/=+$/, '');
      const isCut = (before + bytes.length) % 3 !== 0;
      forms.push(text.slice(before === 0 ? 0 : before + 1, isCut ? -1 : undefined));
    }
  }
  return forms;
}
