import { describe, expect, it } from 'vitest';
import { excerptOf, findTerms } from '../../../src/domain/sessions/search/excerpts.ts';
import { parseSearchQuery } from '../../../src/domain/sessions/search/search-query.ts';

const cases: [query: string, text: string][] = [
  ['deploy', "(('deploy':*))"],
  ['Fix  LOGIN', "(('fix':*) & ('login':*))"],
  ['"fix login" page', "(('fix' <-> 'login') & ('page':*))"],
  ['src/log.ts', "(('src' <-> 'log' <-> 'ts':*))"],
  ['one or two three', "(('one':*)) | (('two':*) & ('three':*))"],
  ['"or" it', "(('or') & ('it':*))"],
  ['one -two -"three four"', "(('one':*) & !('two') & !('three' <-> 'four'))"],
  ['Über', "((('über':* | 'Über':*)))"],
  ['éÉ', "((('éé':* | 'Éé':* | 'ÉÉ':*)))"],
  ['"unclosed quote', "(('unclosed' <-> 'quote'))"],
  ["it's \\ <-> a:* & !b | ()", "(('it' <-> 's':*) & ('a':*) & ('b':*))"],
];
it.each(cases)('reads %j', (query, text) => {
  expect(parseSearchQuery(query).text).toBe(text);
});

describe('a refused query', () => {
  it.each([
    '',
    '   ',
    '-',
    '-one',
    'one or',
    'or one',
    'one or -two',
    '"',
    '&|!',
    'x'.repeat(301),
    'a '.repeat(21),
    'a\0b',
  ])('is %j', (query) => {
    expect(() => parseSearchQuery(query)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
  });
});

const termsOf = (query: string) => parseSearchQuery(query).terms;
const marked = (text: string, query: string) =>
  findTerms(text, termsOf(query)).map(({ start, length }) => text.slice(start, start + length));

it('finds whole words, the beginnings of words, and words in a row, whatever is between them', () => {
  expect(marked('Deployed the deployment, not redeployed', 'deploy')).toEqual(['Deployed', 'deployment']);
  expect(marked('a log.ts, log-ts and log of ts', 'log.ts')).toEqual(['log.ts', 'log-ts']);
  expect(marked('exact words, exactly', '"exact"')).toEqual(['exact']);
  expect(marked('Über straße', 'über or straße')).toEqual(['Über', 'straße']);
  expect(marked('good bad', 'good -bad')).toEqual(['good']);
});

it('cuts an excerpt around the first match, on one line and at whole characters', () => {
  const text = `${'before '.repeat(50)}\nneedle\n${'😀'.repeat(200)}`;
  const { text: excerpt, highlights } = excerptOf(text, termsOf('needle'));
  expect(highlights).toHaveLength(1);
  const [{ start, length }] = highlights as [{ start: number; length: number }];
  expect(excerpt.slice(start, start + length)).toBe('needle');
  expect(excerpt).toMatch(/^…before .*needle 😀+…$/u);
  expect(excerpt.length).toBeLessThanOrEqual(242);
  expect(excerpt.isWellFormed?.() ?? true).toBe(true);
  expect(excerptOf('short', termsOf('absent'))).toEqual({ text: 'short', highlights: [] });
});
