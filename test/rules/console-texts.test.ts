import { expect, test } from 'vitest';
import { catalogueIn, textsIn, textUsesIn } from '../support/console-texts.ts';
import { readText, treeFiles } from '../support/tree.ts';

/** Strings that look like texts but are code. U+FFFC stands for a value. */
const code = new Set([
  '.composer textarea',
  'Authorization: Bearer $TOKEN',
  'The session stopped with an error: \u{FFFC}',
  'day \u{FFFC}',
  'fold \u{FFFC}',
  'text \u{FFFC}',
  'title status statusDetail acusConsumed structuredOutput messages(last: 50) { nodes { type body createdAt } }',
  '\u{FFFC} Alt+\u{FFFC}',
  '#main search input[type="search"]',
  "-H 'Content-Type: application/json'",
  '.dialog-body button, footer button',
  ':is(input:not([type="hidden"], [type="file"], [hidden]), textarea, select):not(:disabled)',
  'Files',
  'git apply \u{FFFC}',
  'git fetch \u{FFFC} \u{FFFC}:\u{FFFC}',
  'input:not([type="checkbox"]), textarea, select, [contenteditable]',
  'li, tr',
  'noopener noreferrer',
]);

const catalogue = treeFiles().filter((path) => path.startsWith('web/src/texts/') && !path.endsWith('/kit.ts'));
const components = treeFiles().filter(
  (path) => /^web\/src\/(?!__generated__\/|texts\/).*\.tsx?$/.test(path) || path === 'web/src/texts/kit.ts',
);

const textsOf = (path: string) => textsIn(path, readText(path)).filter(({ text }) => !code.has(text));

test('no component of the console has a text of its own', () => {
  const found = components.flatMap((path) => textsOf(path).map(({ text, line }) => `${path}:${line}: ${text}`));
  expect(found, `Move these to web/src/texts (web/README.md, "Texts"):\n${found.join('\n')}`).toEqual([]);
});

test('every text of the catalogue is used', () => {
  const uses = components.flatMap((path) => textUsesIn(path, readText(path)));
  const used = new Set(uses.map(({ file, group, key }) => `${file}:${group}.${key ?? '*'}`));
  const unused = catalogue.flatMap((path) => {
    const file = path.split('/').pop() ?? '';
    return catalogueIn(path, readText(path))
      .filter(({ group, key }) => !used.has(`${file}:${group}.${key}`) && !used.has(`${file}:${group}.*`))
      .map(({ group, key }) => `${path}: ${group}.${key}`);
  });
  expect(unused, `Remove these:\n${unused.join('\n')}`).toEqual([]);
});

test('the exceptions are in use', () => {
  const all = new Set(components.flatMap((path) => textsIn(path, readText(path)).map(({ text }) => text)));
  expect([...code].filter((text) => !all.has(text))).toEqual([]);
});

test('the rule finds texts, and no code', () => {
  const source = [
    "import { more } from './more.ts';",
    'const label = isNew ? `Edit $' + "{name}` : 'New key';",
    "if (event.key === 'Enter' || kind === 'Session') toasts.say('Saved.');",
    'return <p className="row wide" title="delete it"><b>Two words</b><kbd>Ctrl</kbd>{texts.more}</p>;',
  ].join('\n');
  expect(textsIn('web/src/example.tsx', source).map(({ text }) => text)).toEqual([
    'Edit \u{FFFC}',
    'New key',
    'Saved.',
    'delete it',
    'Two words',
  ]);
});

test('the rule finds the uses of a group, of single keys and of all keys', () => {
  const source = [
    "import { keyForm as texts } from '../texts/model-keys.ts';",
    "import { common } from '../texts/common.ts';",
    'export const used = [texts.title, other.texts, common[name]];',
  ].join('\n');
  expect(textUsesIn('web/src/example.ts', source)).toEqual([
    { file: 'model-keys.ts', group: 'keyForm', key: 'title' },
    { file: 'common.ts', group: 'common', key: null },
  ]);
});
