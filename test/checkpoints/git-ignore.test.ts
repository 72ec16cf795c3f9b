import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseIgnoreFile } from '../../src/checkpoints/save/ignore-patterns.ts';
import { type IgnoreRules, isIgnored } from '../../src/checkpoints/save/ignore-rules.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ignore-'));
  execFileSync('git', ['init', '-q', dir]);
});
afterEach(() => rmSync(dir, { recursive: true }));

const paths = [
  ...['a', 'b.txt', 'ab', 'A', 'a b', '#x', '!y', 'x]', 'a-b', 'é', 'b.log '],
  ...['d/a', 'd/b.txt', 'd/e/a', 'd/e/f/b.txt', 'd/e/ab', 'build/out', 'd/build/x', 'foo/bar/baz', 'e/f/g/h'],
];

/** The paths that git ignores. */
function ignoredByGit(files: readonly string[]): string[] {
  const { stdout } = spawnSync('git', ['check-ignore', '--no-index', '-z', '--stdin'], {
    cwd: dir,
    input: files.join('\0'),
  });
  return stdout.toString().split('\0').filter(Boolean);
}

/** The paths that our rules ignore, with the directories above them as a scan visits them. */
function ignoredByRules(files: readonly string[], contents: Record<string, string>): string[] {
  const identity = { ino: 0, size: 0, mtimeMs: 0, ctimeMs: 0, isRacy: false };
  return files.filter((path) => {
    const names = Buffer.from(path).toString('latin1').split('/');
    let rules: IgnoreRules | null = null;
    for (let depth = 0; depth < names.length; depth++) {
      const content: string | undefined = contents[[...names.slice(0, depth), '.gitignore'].join('/')];
      if (content !== undefined) {
        const patterns = parseIgnoreFile(Buffer.from(content).toString('latin1'));
        rules = { parent: rules, files: [{ identity, patterns, bytes: 0 }], from: depth, bytes: 0 };
      }
      if (rules !== null && isIgnored(rules, names.slice(0, depth + 1), depth < names.length - 1)) return true;
    }
    return false;
  });
}

function compare(contents: Record<string, string>): void {
  for (const path of paths) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), '');
  }
  for (const path of ['.gitignore', 'd/.gitignore']) rmSync(join(dir, path), { force: true });
  for (const [path, content] of Object.entries(contents)) writeFileSync(join(dir, path), content);
  expect({ contents, ignored: ignoredByRules(paths, contents) }).toEqual({ contents, ignored: ignoredByGit(paths) });
}

it('ignores what git ignores: patterns of the manual', () => {
  const patterns = [
    ...['a', '/a', 'a/', 'd/', '/d/a', 'd/a', '**/a', 'd/**', 'd/**/b.txt', '**/e/**', 'e/**/h', '*.txt', '!b.txt'],
    ...['\\#x', '#x', '\\!y', '!y', '[ab]*', '[!a]', '[^a]', '[a-c]', '[[:upper:]]', '[]]', 'x[]]', '?', '??', 'a\\ b'],
    ...[
      'a ',
      'a\\ ',
      'a b',
      'b.log\\ ',
      '*',
      '!d',
      '/*\n!/d',
      'd/*\n!d/e',
      'foo/*',
      'foo/**/baz',
      '***',
      'd**a',
      'a*/',
    ],
    ...['[', '[a', 'a\\', '/', '//', '**', '**/', '/**', 'd/e/', 'é', '\\a', 'a\r', '[[:wrong:]]', '[a-]b', 'build'],
  ];
  for (const pattern of patterns) compare({ '.gitignore': `${pattern}\n` });
});

it('ignores what git ignores: any patterns, in two directories', () => {
  const part = fc.constantFrom(
    'a',
    'b',
    'd',
    'e',
    'f',
    '*',
    '**',
    '?',
    '/',
    '/',
    '.txt',
    '[ab]',
    '[!e]',
    '\\',
    ' ',
    'build',
  );
  const line = fc
    .tuple(fc.constantFrom('', '', '!', '/'), fc.array(part, { minLength: 1, maxLength: 5 }))
    .map(([start, parts]) => start + parts.join(''))
    // Git compares addresses of two texts here, so it may match or not.
    .filter((text) => !/[^/!]\*\*|\*\*[^/]/.test(text));
  const file = fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(file, fc.option(file), (root, inner) => {
      compare({ '.gitignore': root, ...(inner === null ? {} : { 'd/.gitignore': inner }) });
    }),
    { numRuns: 150, seed: 1 },
  );
});
