import fc from 'fast-check';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import ReactMarkdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { describe, expect, it } from 'vitest';
import { MarkdownBlocks, settleMarkdown, withDefinitions } from '../../../web/src/ui/markdown-blocks.ts';

const htmlOf = (text: string) =>
  renderToStaticMarkup(createElement(ReactMarkdown, { remarkPlugins: [remarkGfm] }, text)).replace(/\s*\n\s*/g, '\n');
// Definitions of links apply to all blocks, as in the component.
const blocksHtml = (text: string) => {
  const reader = new MarkdownBlocks();
  return reader
    .of(text)
    .map((block) => htmlOf(withDefinitions(block.text, reader.definitions(false))))
    .join('\n')
    .replace(/\n+/g, '\n');
};

const long = 'word '.repeat(250);
const lines = fc.constantFrom(
  ...[
    '',
    '',
    '',
    'words',
    long,
    '- item',
    '* item',
    '1. one',
    '  more',
    '    far',
    '```',
    '```ts',
    ' ```',
    '~~~',
    '> quote',
  ],
  ...[
    '# head',
    '---',
    '| a | b |',
    '| - | - |',
    '<!-- note',
    '-->',
    '<pre>',
    '</pre>',
    '[x]: https://x.example',
    '  - sub',
    'see [x]',
    '\tx',
  ],
);

describe('the blocks of a Markdown text', () => {
  it('mean together what the whole text means', () => {
    fc.assert(
      fc.property(fc.array(lines, { maxLength: 14 }), (all) => {
        const text = all.join('\n');
        expect(blocksHtml(text).trim()).toBe(htmlOf(text).replace(/\n+/g, '\n').trim());
      }),
      { numRuns: 300 },
    );
  });

  it('do not change while the text grows, except for the last one', () => {
    const text = [
      long,
      '',
      '- a',
      '',
      `- ${long}`,
      '',
      long,
      '```ts',
      'const a = 1;',
      '',
      'b',
      '```',
      long,
      '',
      long,
    ].join('\n');
    const growing = new MarkdownBlocks();
    let before: readonly { readonly text: string }[] = [];
    for (let end = 0; end <= text.length; end += 7) {
      const now = growing.of(text.slice(0, end));
      const closed = before.slice(0, -1);
      expect(now.slice(0, closed.length).every((block, n) => block === closed[n])).toBe(true);
      before = now;
    }
    expect(growing.of(text)).toEqual(new MarkdownBlocks().of(text));
    expect(growing.of(text).map(({ code }) => code)).toEqual([null, null, null, 'const a = 1;\n\nb\n', null]);
    expect(growing.of('another')).toEqual([{ text: 'another', code: null }]);
  });

  it('know the definitions of links, but not too many', () => {
    const blocks = new MarkdownBlocks();
    blocks.of('see [x]\n\n[x]: https://x.example\n');
    expect(blocks.definitions(true)).toBe('[x]: https://x.example\n');
    blocks.of('[x]: https://x.example\n'.repeat(1_000));
    expect(blocks.definitions(true)).toBe('');
  });
});

it.each([
  ['a list that begins with spaces', `  - one\n${long}\n\n- two`],
  ['a definition in the last line', `see [x]\n\n${long}\n\n${long}\n\n[x]: https://x.example`],
  ['a definition before an open block of code', `[x]: https://x.example\n\n\`\`\`\n\`\`\`\n \`\`\`\n[x] in code`],
  ['no definition within a paragraph', `words\n[x]: https://x.example\n\`\`\`\n\`\`\`\nsee [x]`],
])('the blocks of a text with %s mean what it means', (_what, text) => {
  expect(blocksHtml(text).trim()).toBe(htmlOf(text).replace(/\n+/g, '\n').trim());
});

describe('a text that is still being written', () => {
  it.each([
    ['See [the docs](https://exam', 'See the docs'],
    ['See [the do', 'See the do'],
    ['See https://exam', 'See '],
    ['It is **very imp', 'It is **very imp**'],
    ['It is **very**', 'It is **very**'],
    ['Run `npm te', 'Run `npm te`'],
    ['A list:\n-', 'A list:\n'],
    ['A list:\n- a\n- b', 'A list:\n- a\n- b'],
    ['![a picture](http', 'a picture'],
    ['a[0] = 1 and [x](https://x.example) too', 'a[0] = 1 and [x](https://x.example) too'],
  ])('%j is shown as %j', (text, shown) => {
    expect(settleMarkdown(text)).toBe(shown);
  });
});
