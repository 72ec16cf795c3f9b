import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createHeadCheck } from '../../../src/domain/execution/drafts/head-check.ts';
import { createStreamMask } from '../../../src/domain/execution/drafts/stream-mask.ts';
import { createMask } from '../../../src/domain/execution/runs/masking.ts';
import { createSafeLength } from '../../../src/domain/execution/runs/safe-length.ts';
import { createSpanFinder } from '../../../src/domain/execution/runs/secret-spans.ts';
import { type MaskingOptions, maskOutput } from '../../../src/domain/execution/tool-output/masked-output.ts';
import { minCpuTime } from '../../support/cpu-time.ts';
import { runs } from '../../support/property-runs.ts';

const megabyte = 1_048_576;
const secret = 'hunter2-Tr0ub4dor-and-3-horses';

async function stored(text: string, options: Partial<MaskingOptions> & { values?: string[]; retained?: number } = {}) {
  const { values = [secret], retained = text.length, ...more } = options;
  const masking = {
    findSpans: createSpanFinder(values),
    safeLength: createSafeLength(values),
    mayBeInside: createHeadCheck(values),
  };
  const long = {
    key: {},
    isComplete: true,
    start: text.slice(0, retained),
    end: text.slice(-20_000),
    characters: text.length,
    bytes: Buffer.byteLength(text),
  };
  const pace = { spend: () => null };
  const limits = { maxBytes: 10 * megabyte, endCharacters: 16_000, pace, isStopping: () => false, ...more };
  const masked = maskOutput(long, createStreamMask(masking), limits);
  const parts: Buffer[] = [];
  for await (const part of masked.parts) parts.push(part);
  const file = Buffer.concat(parts);
  return { masked, file, text: new TextDecoder('utf-8', { fatal: true }).decode(file) };
}

it.each([1, 7, 30, 16_383, 16_384, 16_385, 32_760])(
  'masks a secret at %d characters, where parts may meet',
  async (at) => {
    const text = `${'x'.repeat(at)}${secret}${'y'.repeat(100_000)}${secret}`;
    const { masked, file, text: result } = await stored(text);
    expect(result).toBe(createMask([secret])(text, true));
    expect(masked.isCut()).toBe(false);
    expect(masked.bytes()).toBe(file.length);
    expect(masked.characters()).toBe(result.length);
    expect(masked.end()).toBe(result.slice(-16_000));
  },
);

it('masks secrets in any place and in several encodings, and no other text than a mask of the whole', async () => {
  const mask = createMask([secret]);
  const visible = (text: string) => text.replaceAll('*', '').length;
  const encodings = [
    secret,
    Buffer.from(secret).toString('base64'),
    encodeURIComponent(secret),
    [...secret].map((each) => `&#${each.charCodeAt(0)};`).join(''),
    secret.replaceAll(/(.{7})/g, '$1\n'),
  ];
  const piece = fc.oneof(
    fc.constantFrom(...encodings),
    fc.constantFrom(...encodings).map((each) => each.slice(0, each.length / 2)),
    fc.integer({ min: 1, max: 70_000 }).map((length) => 'some text\n'.repeat(length / 10)),
    fc.constantFrom('é', '😀', '\n', ' '.repeat(5_000)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 8 }), async (pieces) => {
      const text = pieces.join('');
      const { text: result } = await stored(text);
      expect(mask(result)).toBe(result);
      // Encoded text that follows later may make the mask of the whole hide more beside the borders of the text.
      expect(visible(result)).toBeGreaterThanOrEqual(visible(mask(text, true)));
      expect(visible(result)).toBeLessThanOrEqual(visible(mask(text)));
    }),
    runs(30),
  );
});

it('ends a file of the maximum size between characters, with a line that says so', async () => {
  for (let shift = 0; shift < 4; shift++) {
    const text = `${'a'.repeat(shift)}${'😀'.repeat(300_000)}`;
    const { masked, file, text: result } = await stored(text, { maxBytes: megabyte });
    expect(file.length).toBeLessThanOrEqual(megabyte);
    expect(file.length).toBeGreaterThan(megabyte - 300);
    const line = `\n… (the first ${masked.bytes()} of ${1_200_000 + shift} bytes)\n`;
    expect(result.endsWith(line)).toBe(true);
    expect(text.startsWith(result.slice(0, -line.length))).toBe(true);
    expect(masked.isCut()).toBe(true);
  }
});

it('shows no part of a secret at the end of a file, wherever its limit or the retained text cuts it', async () => {
  for (let cut = 0; cut <= secret.length; cut += 5) {
    const before = 'z'.repeat(79_800 - cut);
    const atLimit = await stored(`${before}${secret}${'y'.repeat(50_000)}`, { maxBytes: 80_000 });
    const atEnd = await stored(`${before}${secret}${'y'.repeat(50_000)}`, { retained: 79_800 });
    for (const { text, masked } of [atLimit, atEnd]) {
      expect(masked.isCut()).toBe(true);
      const body = text.slice(0, text.indexOf('\n… ('));
      expect(body.replace(/\**y*$/, '')).toBe(before.slice(0, body.replace(/\**y*$/, '').length));
      expect(body).toMatch(/^z+\**y*$/);
    }
  }
});

it('leaves the rest out when the run ends', async () => {
  let parts = 0;
  const { masked, text } = await stored('x'.repeat(megabyte), { isStopping: () => ++parts > 3 });
  expect(masked.isCut()).toBe(true);
  expect(text).toBe(`${'x'.repeat(4 * 16_384)}\n… (the first ${4 * 16_384} of ${megabyte} bytes)\n`);
});

it('takes time linear in the length, also for text in which every part may begin a secret', async () => {
  const timeOf = (characters: number) => {
    const text = `${secret.slice(0, -1)}${' \n'.repeat(characters / 2)}`;
    return minCpuTime(() => stored(text));
  };
  await timeOf(megabyte / 4);
  const [one, eight] = [await timeOf(megabyte / 2), await timeOf(4 * megabyte)];
  expect(eight).toBeLessThan(Math.max(one, 20) * 24);
});
