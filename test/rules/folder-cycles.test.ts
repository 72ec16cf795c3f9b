import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { readText, treeFiles } from '../support/tree.ts';

/** The folder that a source file counts for: of the domain and of the APIs the second level, of the rest the first. */
function folderOf(path: string): string {
  const [, first = '', second = '', third] = path.split('/');
  if (!['domain', 'api'].includes(first)) return second === '' ? '.' : first;
  return third === undefined ? first : `${first}/${second}`;
}

const importPattern = /(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g;

/** For each folder the folders that it imports, with one import as an example. */
function folderImports(): Map<string, Map<string, string>> {
  const graph = new Map<string, Map<string, string>>();
  for (const file of treeFiles().filter((each) => /^src\/.*\.ts$/.test(each))) {
    for (const [, specifier = ''] of readText(file).matchAll(importPattern)) {
      const target = join(dirname(file), specifier);
      const [from, to] = [folderOf(file), folderOf(target)];
      if (from === to || !target.startsWith('src/')) continue;
      const targets = graph.get(from) ?? new Map<string, string>();
      graph.set(from, targets.set(to, `${file} imports ${target}`));
    }
  }
  return graph;
}

/** A cycle through the folders of a graph, as the imports that form it; null: there is none. */
function findCycle(graph: ReturnType<typeof folderImports>): string[] | null {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (folder: string): string[] | null => {
    if (done.has(folder)) return null;
    const start = path.indexOf(folder);
    if (start >= 0) {
      const cycle = [...path.slice(start), folder];
      return cycle.slice(1).map((to, n) => graph.get(cycle[n] ?? '')?.get(to) ?? to);
    }
    path.push(folder);
    for (const to of graph.get(folder)?.keys() ?? []) {
      const cycle = visit(to);
      if (cycle) return cycle;
    }
    path.pop();
    done.add(folder);
    return null;
  };
  for (const folder of graph.keys()) {
    const cycle = visit(folder);
    if (cycle) return cycle;
  }
  return null;
}

test('no folders of src import each other in a cycle', () => {
  const graph = folderImports();
  expect(graph.size).toBeGreaterThan(20);
  const cycle = findCycle(graph);
  expect(cycle, `Move what both need into a folder below them:\n${cycle?.join('\n')}`).toBeNull();
});
