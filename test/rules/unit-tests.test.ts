import { expect, it } from 'vitest';
import { loadedBy, readImportGraph } from '../../scripts/import-graph.ts';
import { readText, root, treeFiles } from '../support/tree.ts';

const files = treeFiles().filter((path) => /\.tsx?$/.test(path));
const graph = readImportGraph(root, files);
const unitTests = files.filter((path) => /^test\/unit\/.*\.test\.ts$/.test(path));

/** Imports that open a database, or start an app, a process or a build. The description of the tables is none of them. */
const heavy =
  /^src\/(app|main|open-worker|store\/(store|pglite|postgres|prisma))\.ts$|^test\/support\/(app|test-store|server|built|programs|browser)\.ts$/;

it('keeps apps, stores, processes and builds out of unit tests', () => {
  expect(unitTests.length).toBeGreaterThan(20);
  const found = unitTests.flatMap((test) =>
    [...loadedBy(graph, test)].filter((path) => heavy.test(path)).map((path) => `${test} loads ${path}`),
  );
  expect(found).toEqual([]);
});

it('starts no process and reads no build in unit tests', () => {
  const found = unitTests.filter((path) => /node:child_process|['"`/]dist\//.test(readText(path)));
  expect(found).toEqual([]);
});
