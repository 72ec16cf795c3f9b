import { expect, it } from 'vitest';
import { plainExcerpt } from '../../../web/src/search/plain-excerpt.ts';
import { matchedParts } from '../../../web/src/search/text-range.ts';

/** The text and its matches after the syntax is removed. `«»` surround a match. */
function read(marked: string): { readonly text: string; readonly matches: readonly string[] } {
  const ranges: { start: number; length: number }[] = [];
  let text = '';
  for (const [at, part] of marked.split(/[«»]/).entries()) {
    if (at % 2 === 1) ranges.push({ start: text.length, length: part.length });
    text += part;
  }
  const plain = plainExcerpt(text, ranges);
  return { text: plain.text, matches: matchedParts(plain.text, plain.ranges) };
}

it.each([
  ['## Fix the «parser»', 'Fix the parser', ['parser']],
  ['Use **the «fast» one** and `«npm» test`', 'Use the fast one and npm test', ['fast', 'npm']],
  ['See [the «guide»](https://example.test/a) now', 'See the guide now', ['guide']],
  ['See [**the «guide»**](https://example.test/a)', 'See the guide', ['guide']],
  ['A\n```ts\nconst «x» = 1;\n```', 'A\nconst x = 1;\n', ['x']],
  ['2 * 3 ** «4» and a_b_c', '2 * 3 ** 4 and a_b_c', ['4']],
  ['no syntax', 'no syntax', []],
])('removes Markdown syntax and keeps the matches: %j', (marked, text, matches) => {
  expect(read(marked)).toEqual({ text, matches });
});

it('keeps syntax that a search matched', () => {
  expect(read('See [the guide](https://«example».test/a)')).toEqual({
    text: 'See [the guide](https://example.test/a)',
    matches: ['example'],
  });
  expect(read('«**bold**» and `code`')).toEqual({ text: '**bold** and code', matches: ['**bold**'] });
});
