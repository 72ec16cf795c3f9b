import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createMask } from '../../../src/domain/execution/runs/masking.ts';
import { createSafeLength } from '../../../src/domain/execution/runs/safe-length.ts';
import { runs } from '../../support/property-runs.ts';
import { storedInChunks } from '../../support/stored-in-chunks.ts';

const bytesOf = (character: string) => [...Buffer.from(character)];
const hexOf = (byte: number) => byte.toString(16).padStart(2, '0');
const codeOf = (character: string) => character.codePointAt(0) as number;
const octalOf = (character: string) =>
  bytesOf(character)
    .map((byte) => `\\${byte.toString(8)}`)
    .join('');
/** The octal form of UTF-8 bytes that programs such as Git and shells print for such a character. */
const isAscii = (character: string) => codeOf(character) < 0x80;
const mixCase = (text: string) => [...text].map((each, n) => (n % 2 ? each.toUpperCase() : each)).join('');
const escaped = (character: string) =>
  Array.from({ length: character.length }, (_, n) => `\\u${character.charCodeAt(n).toString(16).padStart(4, '0')}`);

/** Encodings of one character. Those without a semicolon end where no digit follows. */
const encodings: readonly ((character: string) => string)[] = [
  (character) => character,
  (character) =>
    bytesOf(character)
      .map((byte) => `%${hexOf(byte)}`)
      .join(''),
  (character) =>
    bytesOf(character)
      .map((byte) => `%${hexOf(byte).toUpperCase()}`)
      .join(''),
  (character) =>
    bytesOf(character)
      .map((byte) => `%${mixCase(hexOf(byte))}`)
      .join(''),
  (character) => `&#${codeOf(character)};`,
  (character) => `&#${codeOf(character)}`,
  (character) => `&#00000${codeOf(character)};`,
  (character) => `&#x${codeOf(character).toString(16)};`,
  (character) => `&#X${codeOf(character).toString(16).toUpperCase()}`,
  (character) => `&#x${'0'.repeat(40)}${codeOf(character).toString(16)};`,
  (character) => escaped(character).join(''),
  (character) =>
    escaped(character)
      .join('')
      .replaceAll(/[A-F]/g, (digit) => digit.toLowerCase()),
  (character) => `\\u{${codeOf(character).toString(16)}}`,
  (character) => `\\U${codeOf(character).toString(16).padStart(8, '0')}`,
  (character) =>
    bytesOf(character)
      .map((byte) => `\\x${hexOf(byte)}`)
      .join(''),
  (character) => (isAscii(character) ? character : octalOf(character)),
];

/** Escapes of quotation marks inside a quoted text. A program uses the same escape for all of them. */
const quotings: readonly ((text: string) => string)[] = [
  // Python, PHP and C, JSON as PHP writes it, and shells.
  (text) => text.replaceAll(/[\\']/g, '\\$&'),
  (text) => text.replaceAll(/[\\"]/g, '\\$&'),
  (text) => text.replaceAll(/["/\\]/g, '\\$&'),
  (text) => text.replaceAll(/["\\$`]/g, '\\$&'),
  (text) => text.replaceAll(/[^\w@%+=:,./-]/gu, '\\$&'),
  (text) => text.replaceAll("'", `'\\''`),
  (text) => text.replaceAll("'", `'"'"'`),
  // SQL and CSV.
  (text) => text.replaceAll("'", `''`),
  (text) => text.replaceAll('"', `""`),
];

const join = (parts: readonly string[]) =>
  parts.reduce(
    (text, part) =>
      text + (/&#(?:[0-9]+|[xX][0-9a-fA-F]+)$/.test(text) && /^[0-9a-fA-F;]/.test(part) ? ';' : '') + part,
    '',
  );

/** The text after one round of decoding. */
const decoded = (text: string) => {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  const h = '[0-9a-fA-F]';
  const one = new RegExp(
    [
      `(?:%${h}{2})+`,
      `&#(?:[0-9]+|[xX]${h}+);?|&(?:amp|lt|gt|quot|apos);`,
      String.raw`(?:\\u${h}{4})+|\\u\{${h}+\}|\\U${h}{8}|(?:\\x${h}{2})+|(?:\\[23][0-7]{2})+`,
      String.raw`'\\''|'"'"'|''|""|\\[!-/:-@[-\x60{-~]`,
    ].join('|'),
    'g',
  );
  return text.replaceAll(one, (each) => {
    if (each.startsWith('%')) return Buffer.from(each.replaceAll('%', ''), 'hex').toString();
    if (each.startsWith('\\x')) return Buffer.from(each.replaceAll('\\x', ''), 'hex').toString();
    if (/^\\(U|u\{)/.test(each)) return String.fromCodePoint(Number.parseInt(each.replaceAll(/[^0-9a-f]/gi, ''), 16));
    if (/^\\\d/.test(each)) {
      const bytes = each.split('\\').slice(1);
      return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 8))).toString();
    }
    if (/^\\[^u]/.test(each)) return each.charAt(1);
    if (/^["']/.test(each)) return each.charAt(0);
    if (each.startsWith('\\')) return JSON.parse(`"${each}"`) as string;
    const name = named[each.slice(1, -1)];
    if (name !== undefined) return name;
    const code = /^&#x/i.test(each) ? Number.parseInt(each.slice(3), 16) : Number.parseInt(each.slice(2), 10);
    return code <= 0x10ffff ? String.fromCodePoint(code) : '';
  });
};

const characters = [...'abcdefXYZ0123456789 /+=<>"\'\\&%_-.:é漢😀'];
const secrets = fc
  .string({ unit: fc.constantFrom(...characters), minLength: 8, maxLength: 90 })
  .filter((secret) => secret.trim().length >= 8);
const around = fc.string({ unit: fc.constantFrom(...'klm no\n{}[],.!'), maxLength: 20 });

const written = fc
  .tuple(secrets, around, around, fc.infiniteStream(fc.constantFrom(...encodings)), fc.constantFrom(...quotings))
  .map(([secret, before, after, ways, quoted]) => {
    const parts = [...secret].map((character) => {
      const part = (ways.next().value as (typeof encodings)[number])(character);
      // A program that escapes characters with a backslash writes two backslashes for one.
      return part === character ? (character === '\\' ? '\\\\' : quoted(character)) : part;
    });
    return { secret, text: `${before} ${join(parts)}! ${after}` };
  });

it('finds a secret whose characters have different encodings, and keeps the text around it', () => {
  fc.assert(
    fc.property(written, ({ secret, text }) => {
      const masked = createMask([secret])(text);
      expect([text, masked, decoded(masked).includes(secret)]).toEqual([text, masked, false]);
      expect(masked).toContain('********');
    }),
    runs(1_000),
  );
});

it('finds a secret between quotation marks, wherever the agent pauses', () => {
  const pauses = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1 });
  const marked = fc.string({ unit: fc.constantFrom(...'abc123/ $`\'"\\é'), minLength: 8, maxLength: 40 });
  const withMarks = marked.filter((secret) => secret.trim().length >= 8);
  fc.assert(
    fc.property(
      withMarks,
      fc.constantFrom(...quotings),
      fc.constantFrom(...`'" =`),
      pauses,
      (secret, quoted, mark, sizes) => {
        const form = quoted(secret);
        const text = `so ${mark}${form}${mark}!`;
        expect(createMask([secret])(text)).not.toContain(form);
        const stored = storedInChunks(secret, text, sizes);
        expect([text, stored, stored.includes(form), stored.includes('********')]).toEqual([text, stored, false, true]);
      },
    ),
    runs(1_000),
  );
});

it('finds it in any division into chunks', () => {
  fc.assert(
    fc.property(written, fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1 }), ({ secret, text }, sizes) => {
      const stored = storedInChunks(secret, text, sizes);
      expect([text, stored, decoded(stored).includes(secret)]).toEqual([text, stored, false]);
    }),
    runs(1_000),
  );
});

it('keeps texts without a secret unchanged, encoded or not', () => {
  const secret = 'Qz-7kW/9pL+2vN=4';
  const mask = createMask([secret]);
  const any = fc.string({
    unit: fc.constantFrom(...characters, '&#', '%2', '&amp;', '\\u00', '&#x', ';'),
    maxLength: 300,
  });
  fc.assert(
    fc.property(any, (text) => {
      expect(mask(text, true)).toBe(text);
    }),
    runs(1_000),
  );
});

it('delays only text that may be a part of a secret', () => {
  const safeLength = createSafeLength(['correct horse battery staple']);
  for (const text of ['100 % of all', '%63or no', '&#99;arrots', 'Tom & Jerry', '%41%42%43', 'a\\b']) {
    expect([text, safeLength(text)]).toEqual([text, text.length]);
  }
  expect(safeLength('so %63orre')).toBe(3);
  expect(safeLength('so &#99')).toBe(3);
  expect(safeLength('so cor%7')).toBe(3);
});
