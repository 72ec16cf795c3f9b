import fc from 'fast-check';
import { expect, it } from 'vitest';
import { nestsDeeper, withoutDepth } from '../../../src/common/json-depth.ts';
import { runs } from '../../support/property-runs.ts';

const depthOf = (value: unknown): number =>
  value === null || typeof value !== 'object' ? 0 : 1 + Math.max(0, ...Object.values(value).map(depthOf));

const cut = (value: unknown, left: number): unknown => {
  if (value === null || typeof value !== 'object') return value;
  if (left === 0) return null;
  if (Array.isArray(value)) return value.map((each) => cut(each, left - 1));
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cut(each, left - 1)]));
};

const json = fc.jsonValue({ maxDepth: 5, noUnicodeString: false }).map((value) => JSON.parse(JSON.stringify(value)));
const hostileText = fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', 'a') });

it('measures the depth of JSON, and truncates deeper values, like a parser', () => {
  fc.assert(
    fc.property(json, hostileText, fc.integer({ min: 1, max: 6 }), (value, text, max) => {
      for (const each of [value, { [text]: [text, value] }]) {
        const written = JSON.stringify(each);
        expect(nestsDeeper(written, max)).toBe(depthOf(each) > max);
        expect(JSON.stringify(JSON.parse(withoutDepth(written, max)))).toBe(JSON.stringify(cut(each, max)));
      }
    }),
    runs(2_000),
  );
});

it('accepts any text', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      expect(typeof nestsDeeper(text, 2)).toBe('boolean');
      expect(typeof withoutDepth(text, 2)).toBe('string');
    }),
  );
});
