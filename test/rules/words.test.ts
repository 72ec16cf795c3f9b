import { expect, test } from 'vitest';
import { type Scanned, type ScannedCode, scanCode } from '../support/scan-code.ts';
import { readText, treeFiles } from '../support/tree.ts';

/**
 * Old words in names, with the terms that replace them. Several words are a sequence of parts: `go on` stands for `goOn`.
 * A name is checked with all its parts, and a file by its kebab-case name.
 */
const names: Readonly<Record<string, string>> = {
  'place|places|placed|placement':
    'scope, cursor, position, path, depth, slot, sort key, row number, location; as a verb: wrap, spawn',
  'door|doors': 'api, transport',
  'doorbell|bell|bells|ring|rings|rung|rang': 'notifier, notify, subscribe, missed notification',
  'plain way|short way|long way|plain request': 'pipeline',
  'untidy': 'non-canonical request target',
  'hang up|hung up|ended by whom': 'destroy, abortable body',
  'gathering|gatherings': 'batcher',
  'arrival|arrivals': 'request context, receivedAt',
  'in hand|at hand': 'current',
  'stray|strays': 'orphan processes',
  'looker|lookers': 'poller',
  'lane|lanes': 'queue group, concurrency',
  'walker|walked|walks': 'paging snapshot, visitor',
  'dear|too dear': 'expensive, over budget',
  'condemn|condemned|condemns': 'kill reason',
  'verdict|verdicts': 'result, decision, outcome',
  'complaint|complaints': 'problem, validation error',
  'excess|excesses': 'limit exceeded',
  'liar|liars': 'misreporting server',
  'most|longest': 'max',
  'least|shortest': 'min',
  'usual': 'default',
  'said|told': 'message, output, response, notified',
  'given': 'input',
  'asked|heard|blame|blamed|tell|tells': 'requested, received, record, notify',
  'go on|goes on': 'resume, continue',
  'purse|keeper|patient|firing|anew|mended|whoever|kin|planter|havoc|crowd|joiner': 'the usual technical term',
};

/** Standard uses of these words: the whole name, and why it stays. */
const standardNames: Readonly<Record<string, string>> = {
  bell: 'a picture of a bell (web/src/ui/icons.tsx)',
  givenName: 'an attribute of SCIM (RFC 7643)',
  spellCheck: 'an attribute of HTML',
};

/** Files that must name the words themselves. */
const exempt = new Set(['test/rules/words.test.ts']);

const isCode = (path: string) =>
  /^(?:src|web\/src|test|bench|scripts)\//.test(path) && /\.(?:[cm]?[jt]s|tsx)$/.test(path) && !exempt.has(path);

/** The parts of a name in lower case, with a space around each. */
const partsOf = (name: string): string =>
  ` ${name
    .replaceAll(/([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])/g, '$1$3 $2$4')
    .replaceAll(/[\W_]+/g, ' ')
    .trim()
    .toLowerCase()} `;

const rules = Object.entries(names).map(([words, term]) => ({ words, term }));
const anyWord = new RegExp(` (${rules.map(({ words }) => words).join('|')}) `);

const scanned = new Map<string, ScannedCode>();

/** The names and comments of a file of code, which is read once for all tests. */
function scan(path: string): ScannedCode {
  const found = scanned.get(path) ?? scanCode(readText(path), path.endsWith('x'));
  scanned.set(path, found);
  return found;
}

/** The old words in names, with their replacements; null: none. */
const known = new Map<string, string | null>();

function oldWordIn(name: string): string | null {
  const cached = known.get(name);
  if (cached !== undefined) return cached;
  const word = Object.hasOwn(standardNames, name) ? undefined : anyWord.exec(partsOf(name))?.[1];
  const term = rules.find(({ words }) => word !== undefined && words.split('|').includes(word))?.term;
  const problem = word === undefined ? null : `"${word}" in ${name}: use ${term}`;
  known.set(name, problem);
  return problem;
}

/** The folders whose comments a rule applies to. */
type Folder = 'src' | 'web' | 'test' | 'bench' | 'scripts' | 'docs';
const code: readonly Folder[] = ['src', 'web', 'test', 'bench', 'scripts'];
const everywhere: readonly Folder[] = [...code, 'docs'];

/** Words that comments and pages do not use, with the terms that replace them. */
const phrases: readonly { readonly pattern: RegExp; readonly term: string; readonly in: readonly Folder[] }[] = [
  {
    pattern: /\b(?:kin|or not any more|at most so|good no more|more than one likes|unless said otherwise)\b/gi,
    term: 'plain English',
    in: everywhere,
  },
  { pattern: /\b(?:verdicts?|condemn\w*)\b/gi, term: 'result, decision, kill reason', in: everywhere },
  { pattern: /\b(?:strays?|lookers?|purses?)\b/gi, term: 'orphan process, poller, budget', in: everywhere },
  { pattern: /\b(?:untidy|plain requests?)\b/gi, term: 'non-canonical request target, pipeline', in: everywhere },
  { pattern: /\bliars?\b/gi, term: 'misreporting server', in: everywhere },
  { pattern: /\b(?:in|at) hand\b/gi, term: 'current', in: everywhere },
  { pattern: /\bas one of many such lists\b/gi, term: 'nested list', in: everywhere },
  { pattern: /\bcomplaints?\b/gi, term: 'problem, validation error', in: everywhere },
  { pattern: /\blanes?\b/gi, term: 'queue group, concurrency', in: everywhere },
  { pattern: /\bmend(?:s|ed|ing)?\b/gi, term: 'repair, correct', in: everywhere },
  { pattern: /\bdear(?:er|est)?\b/gi, term: 'expensive', in: everywhere },
  { pattern: /\bblot(?:s|ted)? out\b/gi, term: 'mask', in: everywhere },
  { pattern: /\b(?:anew|whoever|reckons?|told of|hears? of)\b/gi, term: 'plain English', in: everywhere },
  { pattern: /\b(?:doors?|doorbells?)\b/gi, term: 'API, transport, notifier', in: everywhere },
  { pattern: /\b(?:bells?|rings?|rung)\b/gi, term: 'notifier, notification', in: everywhere },
  {
    pattern: /(?<!in )\bplaces? (?:of|in|for)\b/gi,
    term: 'scope, cursor, position, path, slot',
    in: ['src', 'test', 'bench', 'scripts', 'docs'],
  },
  { pattern: /\bbare (?:ids?|form)\b/gi, term: 'unprefixed id', in: ['src', 'web', 'test', 'scripts', 'docs'] },
];

/** Words with which no comment begins: it begins with a verb, or with a noun that says what the thing is. */
const openings = { pattern: /^(?:What|Whose|Who|Whether|That|How)\b/, in: code };

const folderOf = (path: string): Folder | null =>
  path.endsWith('.md')
    ? 'docs'
    : path.startsWith('prisma/schema/')
      ? 'src'
      : ((/^(src|web|test|bench|scripts)\//.exec(path)?.[1] ?? null) as Folder | null);

/** The prose of a page: without its code, with the same lines. */
const proseOf = (page: string): string =>
  page.replaceAll(/^```[\s\S]*?^```|`[^`\n]*`/gm, (code) => code.replaceAll(/[^\n]/g, ' '));

/** The text of a comment: without its marks and the code that it quotes, with the same lines. */
const textOf = (comment: string): string =>
  comment
    .replaceAll(/^\s*(?:\/\*+|\*+\/|\*|\/\/+)|\*+\/$/gm, '')
    .replaceAll(/`[^`]*`|\{@link [^}]*\}/g, (code) => code.replaceAll(/[^\n]/g, ' '));

/** The comments of a file, or the whole prose of a page. */
function proseIn(path: string): Scanned[] {
  const text = readText(path);
  if (path.endsWith('.md')) return [{ text: proseOf(text), line: 1 }];
  if (path.endsWith('.prisma')) {
    return text
      .split('\n')
      .flatMap((line, n) => (line.includes('//') ? [{ text: line.slice(line.indexOf('//') + 2), line: n + 1 }] : []));
  }
  return scan(path).comments.map(({ text: comment, line }) => ({
    text: textOf(comment),
    line,
  }));
}

/** The line of a match in a text that begins at a line. */
const lineOf = ({ text, line }: Scanned, index: number): number => line + text.slice(0, index).split('\n').length - 1;

test('no name has an old word', () => {
  const found = treeFiles()
    .filter(isCode)
    .flatMap((path) => {
      const file = oldWordIn((path.split('/').pop() ?? '').replace(/\.\w+$/, ''));
      const { names: inFile } = scan(path);
      const old = inFile.flatMap(({ text, line }) => {
        const problem = oldWordIn(text);
        return problem === null ? [] : [`${path}:${line}: ${problem}`];
      });
      return file === null ? old : [`${path}: ${file}`, ...old];
    });
  expect(found, `Use the standard terms:\n${found.join('\n')}`).toEqual([]);
});

test('no comment and no page uses an old word', () => {
  const found = treeFiles()
    .filter((path) => (isCode(path) || /^prisma\/schema\/|\.md$/.test(path)) && !exempt.has(path))
    .flatMap((path) => {
      const folder = folderOf(path);
      if (folder === null || path === 'CHANGELOG.md') return [];
      const mine = phrases.filter((phrase) => phrase.in.includes(folder));
      return proseIn(path).flatMap((prose) => {
        const problems = mine.flatMap(({ pattern, term }) =>
          [...prose.text.matchAll(pattern)].map(
            (match) => `${path}:${lineOf(prose, match.index)}: "${match[0]}": use ${term}`,
          ),
        );
        const opening =
          folder !== 'docs' && openings.in.includes(folder) ? openings.pattern.exec(prose.text.trim())?.[0] : undefined;
        return opening
          ? [...problems, `${path}:${prose.line}: begins with "${opening}": begin with a verb or a noun`]
          : problems;
      });
    });
  expect(found, `Use the standard terms:\n${found.join('\n')}`).toEqual([]);
});

/** Words that read as translated. Errors, descriptions, texts of the console and titles of tests do not use them. */
const translated = /\b(?:anew|mend(?:s|ed|ing)?|whoever|reckons?|hears? of|told of|kin|dear(?:er|est)?|is no name)\b/gi;

test('no title and no text for users has a word that reads as translated', () => {
  const found = treeFiles()
    .filter(isCode)
    .flatMap((path) =>
      scan(path)
        .strings.filter(({ text }) => text.includes(' '))
        .flatMap((string) =>
          [...string.text.matchAll(translated)].map((match) => `${path}:${lineOf(string, match.index)}: "${match[0]}"`),
        ),
    );
  expect(found, `Write plain English:\n${found.join('\n')}`).toEqual([]);
});

test('the scan finds names, comments and strings, and no names in strings', () => {
  const code = [
    'const oldPlace = `text place $' + '{first /* inner */ + `$' + '{deep}`} door`; // one',
    '  // two',
    '  // three',
    "call('bell', /ring's [/]/g, a / b);",
    'return <p title="lane">The most of it</p>;',
  ].join('\n');
  const { names: found, comments, strings } = scanCode(code, true);
  expect(strings.map(({ text }) => text)).toEqual([
    'text place ${',
    '${',
    '`',
    ' door`',
    "'bell'",
    '"lane"',
    '>The most of it',
  ]);
  expect(found.map(({ text }) => text)).toEqual([
    'const',
    'oldPlace',
    'first',
    'deep',
    'call',
    'a',
    'b',
    'return',
    'p',
    'title',
    'p',
  ]);
  expect(comments).toMatchObject([
    { text: '/* inner */', line: 1 },
    { text: '// one', line: 1 },
    { text: '// two\n// three', line: 2 },
  ]);
  expect(['oldPlace', 'goOn', 'isTooDear', 'mostBytes'].map((name) => oldWordIn(name) !== null)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(['placeholder', 'doorway', 'almost'].map(oldWordIn)).toEqual([null, null, null]);
});
