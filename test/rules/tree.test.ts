import { expect, test } from 'vitest';
import { readText, treeFiles } from '../support/tree.ts';

/** The limit of biome.json, which covers only the languages that it lints. */
const maxLines = 400;

const isProse = (path: string) => /(?:^|\/)(?:LICENSE|.*\.(?:md|txt))$/.test(path);
const isGenerated = (path: string) =>
  /(?:^|\/)package-lock\.json$|\.graphql$|graphql-env\.d\.ts$|^prisma\/migrations\/|^deploy\/grafana\//.test(path);
const isBinary = (path: string) => /\.(?:png|jpe?g|gif|ico|woff2?|wasm|zip|gz)$/.test(path);

test('no file is longer than 400 lines', () => {
  const tooLong = treeFiles()
    .filter((path) => !isProse(path) && !isGenerated(path) && !isBinary(path) && !/\.(?:svg|csv)$/.test(path))
    .map((path) => ({ path, lines: readText(path).split('\n').length - 1 }))
    .filter(({ lines }) => lines > maxLines)
    .map(({ path, lines }) => `${path} has ${lines} lines`);
  expect(tooLong, `Split these along what they do; ${maxLines} lines is the most:\n${tooLong.join('\n')}`).toEqual([]);
});

test('nothing names a path of a single machine', () => {
  const folders = ['work', 'root', 'farm', 'tmp/bash_jobs', 'home/[a-z]+', 'Users/[A-Za-z]+'];
  const path = new RegExp(`(?<![\\w.})/-])/(?:${folders.join('|')})/`);
  const found = treeFiles()
    .filter((file) => !isBinary(file))
    .flatMap((file) =>
      readText(file)
        .split('\n')
        .flatMap((line, index) => (path.test(line) ? [`${file}:${index + 1}: ${line.trim().slice(0, 120)}`] : [])),
    );
  expect(found, `Use a path relative to the repository, or a temporary folder:\n${found.join('\n')}`).toEqual([]);
});
