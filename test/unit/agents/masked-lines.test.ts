import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createMask } from '../../../src/domain/execution/runs/masking.ts';
import { createSafeLength } from '../../../src/domain/execution/runs/safe-length.ts';
import { runs } from '../../support/property-runs.ts';
import { storedInChunks } from '../../support/stored-in-chunks.ts';

const secrets = fc.string({ unit: fc.constantFrom(...'ABCDEFGHJKLMNPQR23456789'), minLength: 12, maxLength: 260 });
// None of these characters is in a secret, so any part of a secret in the result comes from the secret.
const around = fc.string({ unit: fc.constantFrom(...'klm no\n {}[],.!'), maxLength: 20 });

const asIs = (text: string) => text;
const asBase64 = (text: string) => Buffer.from(text).toString('base64');
const asPercent = (text: string) => text.replaceAll(/./g, (each) => `%${each.charCodeAt(0).toString(16)}`);
const asEntities = (text: string) => text.replaceAll(/./g, (each) => `&#${each.charCodeAt(0)};`);

const breaks = fc.tuple(fc.constantFrom('\n', '\r\n', '\n\n'), fc.constantFrom('', '  ', '\t', ' '.repeat(40)));
const widths = fc.oneof(fc.constantFrom(60, 64, 76), fc.integer({ min: 8, max: 80 }));

/** Inserts a line break and an indentation after every `width` characters. */
const wrapped = (text: string, width: number, gap: string) =>
  (text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).join(gap);

const decodings: readonly ((text: string) => string)[] = [
  asIs,
  (text) => text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
  (text) => text.replaceAll(/&#([0-9]+);/g, (_, code: string) => String.fromCharCode(Number(code))),
];

/** The first `length` consecutive characters of a form that a text contains, ignoring white space. */
const foundIn = (text: string, form: string, length: number) => {
  for (const decode of decodings) {
    const bare = decode(text).replaceAll(/\s+/g, '');
    for (let from = 0; from + length <= form.length; from++) {
      if (bare.includes(form.slice(from, from + length))) return form.slice(from, from + length);
    }
  }
  return null;
};

it('finds a wrapped secret wherever the agent pauses', () => {
  const ways = fc.constantFrom(asIs, asBase64, asPercent, asEntities);
  const pauses = fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(
      secrets,
      ways,
      widths,
      breaks,
      around,
      around,
      pauses,
      (secret, way, width, gap, before, after, sizes) => {
        const [form, separator] = [way(secret), gap.join('')];
        // A line that ends in the middle of an encoded character is not valid encoded text.
        const lines = way === asPercent ? width * 3 : way === asEntities ? width * 5 : width;
        const text = `${before}${separator}${wrapped(form, lines, separator)}\n${after}`;
        const stored = storedInChunks(secret, text, sizes);
        const bare = way === asBase64 ? form : secret;
        expect([text, stored, foundIn(stored, bare, 6)]).toEqual([text, stored, null]);
      },
    ),
    runs(1_000),
  );
});

it('finds each line of a wrapped secret if other text is between the lines', () => {
  fc.assert(
    fc.property(
      secrets,
      fc.constantFrom(asIs, asBase64),
      widths,
      breaks,
      fc.boolean(),
      (secret, way, width, gap, isEarly) => {
        const [form, separator] = [way(secret), gap.join('')];
        const mask = createMask([secret]);
        // Each chunk has the line break, or starts with the indentation.
        const [end, start] = isEarly ? [separator, ''] : gap;
        for (const line of wrapped(form, width, '\n').split('\n')) {
          const part = `${start}${line}${end}`;
          expect([form, part, foundIn(mask(part, true), form, 8)]).toEqual([form, part, null]);
        }
      },
    ),
    runs(1_000),
  );
});

it('finds a part of a secret that is truncated anywhere, encoded or not', () => {
  const range = fc.tuple(fc.nat(), fc.integer({ min: 8, max: 400 }));
  const ways = fc.constantFrom(asIs, asBase64, asPercent, asEntities);
  fc.assert(
    fc.property(secrets, ways, range, (secret, way, [from, length]) => {
      const form = way(secret);
      const start = from % form.length;
      const part = form.slice(start, start + length);
      const bare = way === asBase64 ? form : secret;
      expect([form, part, foundIn(createMask([secret])(part, true), bare, 8)]).toEqual([form, part, null]);
    }),
    runs(1_000),
  );
});

it('delays a text from the first line of a possible secret', () => {
  const secret = 'QZ7KW9PL2VN4XC8BM3TD6HG5';
  const safeLength = createSafeLength([secret, 'correct horse battery staple']);
  const lines = secret.match(/.{8}/g) as string[];
  for (const gap of ['\n', '\r\n', '\n    ', `\n${' '.repeat(100_000)}`]) {
    for (const text of [`${lines[0]}${gap}`, `${lines[0]}${gap}${lines[1]}`, `${lines[0]}${gap}${lines[1]}${gap}`]) {
      expect(safeLength(`so:${gap}${text}`)).toBe(`so:${gap}`.length);
      expect(safeLength(`so:${gap}${text.replaceAll('Z', '%5a')}`)).toBe(`so:${gap}`.length);
    }
  }
  expect(safeLength('so correct horse\n')).toBe(3);
  expect(safeLength('so correct\n    horse\nbattery')).toBe(3);
  for (const text of ['so\n', 'correct answers\n', `QZ7KW9PL\n    nothing`]) expect(safeLength(text)).toBe(text.length);
});

it('keeps a part that only shares a word with a secret', () => {
  const mask = createMask(['postgresql://service:Zx81-Qm47-Pk23@database.example/main']);
  for (const part of ['service', '   data\n', 'the service', 'database.example runs', 'see postgresql now']) {
    expect(mask(part, true)).toBe(part);
  }
  // Long enough, and the only content.
  expect(mask('    Zx81-Qm4\n', true)).toBe('    ********\n');
});

it('finds a secret with the marks of a diff, of a quotation or of JSON between its lines', () => {
  const gaps = fc.constantFrom('\n+', '\n> ', '\n    + ', '\r\n-', '\\n', '\\r\\n', '\\\\n', '\\n    ');
  const pauses = fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(secrets, fc.constantFrom(asIs, asBase64), widths, gaps, pauses, (secret, way, width, gap, sizes) => {
      const form = way(secret);
      const text = `so: ${gap}${wrapped(form, width, gap)}`;
      const bare = (stored: string) => stored.replaceAll(gap, '');
      const masked = createMask([secret])(text);
      expect([text, masked, foundIn(bare(masked), form, 6)]).toEqual([text, masked, null]);
      const stored = storedInChunks(secret, text, sizes);
      expect([text, stored, foundIn(bare(stored), form, 6)]).toEqual([text, stored, null]);
    }),
    runs(1_000),
  );
});

it('keeps a secret together that ends like it begins', () => {
  const repeated = fc.string({ unit: fc.constantFrom('a', 'b', '%'), minLength: 6, maxLength: 10 });
  const pauses = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(repeated, around, around, pauses, (secret, before, after, sizes) => {
      const stored = storedInChunks(secret, `${before}${secret}${after}`, sizes);
      expect([secret, stored, stored.includes(secret)]).toEqual([secret, stored, false]);
    }),
    runs(1_000),
  );
});

it('finds wrapped base64 in JSON with escaped slashes, as PHP writes it', () => {
  const withSlashes = fc.string({ unit: fc.constantFrom(...'?>~oé'), minLength: 20, maxLength: 120 });
  const pauses = fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(
      withSlashes,
      widths,
      fc.constantFrom('\\n', '\\r\\n', '\\n\\t', '\\\n'),
      pauses,
      (secret, width, gap, sizes) => {
        const form = asBase64(secret);
        const text = `{"key": "${wrapped(form, width, '\n').replaceAll('/', '\\/').replaceAll('\n', gap)}"}`;
        const bare = (stored: string) => stored.replaceAll(gap, '').replaceAll('\\/', '/');
        const stored = storedInChunks(secret, text, sizes);
        expect([text, stored, foundIn(bare(stored), form.replace(/=+$/, ''), 8)]).toEqual([text, stored, null]);
      },
    ),
    runs(1_000),
  );
});
