import { expect, it } from 'vitest';
import { namesIn } from '../../../src/domain/mentions/names-in.ts';

const isNamed = (text: string) => namesIn(text).has('switchyard');

it.each([
  '@switchyard fix this',
  'Please, @Switchyard, fix this.',
  'Could you do it @switchyard?',
  '(@switchyard)',
  'one\n@switchyard',
  '> a question\n\n@switchyard answer it',
  '```\ncode\n```\n@switchyard fix it',
  'Run `npm test`, @switchyard.',
  '- @switchyard fix it',
  'the `` ` `` character, @switchyard',
])('names the service: %j', (text) => {
  expect(isNamed(text)).toBe(true);
});

it.each([
  'switchyard',
  'me@switchyard.example',
  '@switchyard/team look',
  '@switchyard-other look',
  '@switchyards/team look',
  '@switchyard-/team look',
  '@switchyard@example.com',
  'x@switchyard',
  '\\@switchyard',
  '`@switchyard`',
  '`` `@switchyard` ``',
  '```\n@switchyard\n```',
  '```\n@switchyard',
  '```js\nf();\n``` js\n@switchyard\n```',
  '~~~sh\n@switchyard\n```\n@switchyard',
  '> @switchyard fix this',
  '>> @switchyard',
  '- > @switchyard',
  '> quoted\n@switchyard continues the quotation',
  '    @switchyard',
  '\t@switchyard',
  '<!-- @switchyard -->',
  '<!-- @switchyard',
  '<code>@switchyard</code>',
  '<pre>\n@switchyard',
  'https://example.com/@switchyard',
  '',
])('does not name the service: %j', (text) => {
  expect(isNamed(text)).toBe(false);
});

it('reads a long hostile text', () => {
  for (const text of [
    '`'.repeat(10_000),
    '<!--'.repeat(2_500),
    '`a'.repeat(5_000),
    '<code>'.repeat(1_600),
    '@'.repeat(10_000),
  ]) {
    expect(namesIn(`${text}\n`).has('switchyard')).toBe(false);
  }
});
