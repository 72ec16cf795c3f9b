import fc from 'fast-check';
import { expect, it } from 'vitest';
import { inertLine, inertMarkdown } from '../../src/common/inert-markdown.ts';
import { runs, seed } from '../support/property-runs.ts';

const cases: [string, string, string][] = [
  ['mentions', 'Hi @all, **@team/core** and _@ann_', 'Hi @&#8203;all, **@&#8203;team/core** and _@&#8203;ann_'],
  [
    'an entity for the sign or the name',
    '&#64;all &commat;all @&#97;ll',
    '&#64;&#8203;all &commat;&#8203;all @&#8203;&#97;ll',
  ],
  ['a mention after a backslash', '\\@all', '\\@&#8203;all'],
  ['an email address', 'ann@example.com', 'ann@example.com'],
  ['addresses and links', 'https://x.test/@a [t](http://x.test/@a)', 'https://x.test/@a [t](http://x.test/@a)'],
  ['words that close an issue', 'closes #1, Fixes: a/b!2', 'closes&#8203; #1, Fixes&#8203;: a/b!2'],
  ['an address that is closed', 'resolves https://x.test/a/b/issues/3', 'resolves&#8203; https://x.test/a/b/issues/3'],
  ['a comment that hides the rest', '<!-- a\n\n@all', '&lt;!-- a\n\n@&#8203;all'],
  ['a comment in a line', 'a <!-- b --> c <!-- d', 'a &lt;!-- b --> c &lt;!-- d'],
  ['HTML with Markdown in it', '<p>\n![x](//e)\n</p>', '&lt;p>\n\\![x](//e)\n&lt;/p>'],
  ['images', '[![x](//e)](//f) ![y][z]\n\n[z]: //g', '[\\![x](//e)](//f) \\![y][z]\n\n[z]: //g'],
  [
    'code',
    '`@all <b>`\n\n```suggestion\n@Input() <!-- closes #1\n```',
    '`@all <b>`\n\n```suggestion\n@Input() <!-- closes #1\n```',
  ],
];
it.each(cases)('makes %s harmless, or keeps it', (_what, text, expected) => {
  expect(inertMarkdown(text)).toBe(expected);
  expect(inertMarkdown(expected)).toBe(expected);
});

const own = { host: 'git.test', path: 'acme/site' };
it.each([
  'Closes #1',
  'fixes: Acme/Site#2, and #3.',
  'Resolves https://git.test/acme/site/issues/4',
  'closes issues !5 and https://git.test/acme/site/-/work_items/6, see acme/lib#7',
])('lets "%s" close issues of the own repository', (text) => {
  expect(inertMarkdown(text, own)).toBe(text);
  expect(inertLine(text, own)).toBe(text);
  expect(inertMarkdown(text)).not.toBe(text);
});

it.each([
  'Closes acme/lib#1',
  'closes #1, acme/lib#2',
  'fixes #1 and issue acme/lib#2',
  'Resolves https://git.test/acme/site/x/issues/4',
  'Resolves https://git.test/evil/acme/site/issues/4',
  'Resolves https://evil.test/acme/site/issues/4',
  'Resolves https://git.test@evil.test/acme/site/issues/4',
  'closes &#35;1',
])('lets "%s" close nothing', (text) => {
  expect(inertMarkdown(text, own)).toContain('&#8203;');
  expect(inertLine(text, own)).toContain('\u200b');
});

it('lets a text close issues of the own repository beside others', () => {
  expect(inertMarkdown('Closes #1 and closes a/b#2', own)).toBe('Closes #1 and closes&#8203; a/b#2');
});

it('changes mentions in a line by invisible spaces, once', () => {
  const line = inertLine('Ask @team/core <b> ![x](y)', own);
  expect(line).toBe('Ask @\u200bteam/core <b> ![x](y)');
  expect(inertLine(line, own)).toBe(line);
});

it('makes a block of code of a text that is nested too deeply', () => {
  const text = `${'> '.repeat(10_000)}\`\`\`\`@all`;
  expect(inertMarkdown(text)).toBe(`\`\`\`\`\`text\n${text}\n\`\`\`\`\``);
});

it('changes nothing a second time', () => {
  const part = fc.constantFrom(
    '@',
    'all',
    '<',
    '!--',
    '-->',
    '![',
    '](',
    ')',
    '`',
    '```',
    '\n',
    ' ',
    '> ',
    '- ',
    '\\',
    'fixes #1',
    ' and a/b#2',
    '&#64;',
    '<b>',
    '|',
    '*',
    '_',
    '&lt;',
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), fc.boolean(), (parts, isOwn) => {
      const closable = isOwn ? own : null;
      const once = inertMarkdown(parts.join(''), closable);
      expect(inertMarkdown(once, closable)).toBe(once);
    }),
    { ...runs(1_000), seed },
  );
});
