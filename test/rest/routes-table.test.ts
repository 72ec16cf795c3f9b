import { expect, test } from 'vitest';
import { readText, treeFiles } from '../support/tree.ts';
import { useApp } from '../support/use-app.ts';

const app = useApp();

const page = 'docs/wire/routes.md';
const withoutFeature = 'test/rest/without-feature.test.ts';
const versions = ['v1', 'v2', 'v3'] as const;

interface Row {
  readonly route: string;
  /** The heading above the table. */
  readonly heading: string;
  readonly cells: readonly string[];
  /** The test file named in the row. */
  readonly file: string;
}

function readRows(): Row[] {
  let heading = '';
  return readText(page)
    .split('\n')
    .flatMap((line) => {
      heading = /^## (.*)$/.exec(line)?.[1] ?? heading;
      const [, route, rest = ''] = /^\| `([A-Z]+ \/\S*)` \|(.*)\|$/.exec(line) ?? [];
      if (route === undefined) return [];
      const cells = rest.split('|').map((cell) => cell.trim());
      return [{ route, heading, cells, file: /\]\(\.\.\/\.\.\/(\S+)\)/.exec(rest)?.[1] ?? '' }];
    });
}

const rows = readRows();
const aliases = rows.filter(({ heading }) => heading === 'Other names of the same routes');
const routes = rows.filter((row) => !aliases.includes(row));
const published = (version: string) => readText(`test/rest/published/${version}.txt`).trim().split('\n');

test.each(versions)('has a row for every published route of %s, and no other rows', (version) => {
  const listed = routes.filter(({ heading }) => heading === `Version ${version.slice(1)}`);
  expect(
    listed.map(({ route }) => route).toSorted(),
    `Correct ${page}: one row for each line of test/rest/published/${version}.txt, under "Version ${version.slice(1)}".`,
  ).toEqual(published(version).toSorted());
});

test('states the source and the response of the route in every row', () => {
  for (const { route, cells, file } of routes) {
    const [source, answered] = cells;
    const expected = file === withoutFeature ? 'without the feature' : 'served';
    expect({ route, answered }).toEqual({ route, answered: expected });
    expect({ route, source }).toEqual({ route, source: expect.stringMatching(/^(?:spec|reference|ours)$/) });
  }
});

test('names an existing test file that contains the route in every row', () => {
  const files = new Set(treeFiles());
  const wrong = rows.flatMap(({ route, file }) => {
    if (!files.has(file)) return [`${route}: there is no file "${file}"`];
    const [method = '', path = ''] = route.split(' ');
    const word = path.split('/').findLast((part) => part !== '' && !part.startsWith('{')) ?? '';
    const text = readText(file);
    const missing = [word, method].filter((each) => !text.includes(each));
    return missing.map((each) => `${route}: ${file} does not contain "${each}"`);
  });
  expect(wrong, `Name another test file in ${page}, or write the test:\n${wrong.join('\n')}`).toEqual([]);
});

test('has other names only for existing, unpublished routes', () => {
  const known = new Set(versions.flatMap(published));
  for (const { route, cells } of aliases) {
    expect({ route, is: known.has(cells[0]?.replaceAll('`', '') ?? '') }).toEqual({ route, is: true });
    expect({ route, isPublished: known.has(route) }).toEqual({ route, isPublished: false });
  }
});

test('lists only served routes and names: without a key they answer 401, not 404 or 405', async () => {
  const answers = await Promise.all(
    rows.map(async ({ route }) => {
      const [method = '', path = ''] = route.split(' ');
      const { status } = await fetch(app.url + path.replaceAll(/\{\w+\}/g, 'x'), { method });
      return [route, status];
    }),
  );
  expect(Object.fromEntries(answers)).toEqual(Object.fromEntries(rows.map(({ route }) => [route, 401])));
});

test('contains every served path of the earlier versions', () => {
  const known = new Set(rows.map(({ route }) => route.split(' ')[1]));
  const written = treeFiles()
    .filter((path) => /^src\/api\/rest\/v[12]\//.test(path))
    .flatMap((path) => [...readText(path).matchAll(/'(\/(?:v[12]\/|enterprise\/|sessions\/)[^']*)'/g)])
    .map(([, path]) => path);
  expect(written.length).toBeGreaterThan(20);
  expect(written.filter((path) => !known.has(path))).toEqual([]);
});
