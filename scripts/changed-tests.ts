import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type ImportGraph, loadedBy, readImportGraph } from './import-graph.ts';
import { wireTests } from './wire-tests.ts';

const isTest = (path: string) => /^test\/.*\.test\.ts$/.test(path);
const isUnitTest = (path: string) => path.startsWith('test/unit/');

/**
 * The test files to run for changed files; all are paths from the root. Of `files`, which are those of the repository: changed
 * test files; unit tests that load a changed file; other tests that import one themselves, or by a helper of the tests; and for
 * sources the row of {@link wireTests}.
 */
export function changedTests(root: string, files: readonly string[], changed: readonly string[]): string[] {
  const code = files.filter((path) => /\.tsx?$/.test(path) && existsSync(join(root, path)));
  const graph = readImportGraph(root, code);
  const tests = code.filter(isTest);
  const selected = new Set(changed.filter((path) => tests.includes(path)));
  for (const test of testsThatLoad(graph, tests, new Set(changed))) selected.add(test);
  for (const test of changed.flatMap((path) => testsOfRow(tests, path))) selected.add(test);
  return [...selected].sort();
}

// Other than unit tests nearly all load the whole service, which tells nothing about what they are about.
function testsThatLoad(graph: ImportGraph, tests: readonly string[], changed: ReadonlySet<string>): string[] {
  const isOurs = (path: string) => path.startsWith('test/');
  return tests.filter((test) => {
    const all = [...loadedBy(graph, test, (path) => !isUnitTest(test) && !isOurs(path))];
    const counted = isUnitTest(test) ? all : [...all.filter(isOurs), ...(graph.get(test) ?? [])];
    return counted.some((path) => changed.has(path));
  });
}

/** The tests of the longest row of the table that a changed file begins with. */
function testsOfRow(tests: readonly string[], path: string): string[] {
  const row = Object.keys(wireTests)
    .filter((prefix) => path.startsWith(prefix))
    .sort((a, b) => b.length - a.length)[0];
  return (row === undefined ? [] : (wireTests[row] ?? [])).flatMap((name) => matching(tests, name));
}

/** The test files of a name of the table. */
export function matching(tests: readonly string[], name: string): string[] {
  const pattern = new RegExp(`^test/${name.replaceAll('*', '[^/]*')}\\.test\\.ts$`);
  return tests.filter((test) => pattern.test(test));
}
