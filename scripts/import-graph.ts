import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Which files each file loads: paths from the root of the repository. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

const statement = /^(?:import|export)\s(?!type\b)(?:[^;']*?\sfrom\s+)?'(\.[^']+)'|import\(\s*'(\.[^']+)'/gm;

/** Reads the relative imports of files by their text; those of types alone are left out, because they load nothing. */
export function readImportGraph(root: string, files: readonly string[]): ImportGraph {
  return new Map(
    files.map((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      const names = [...text.matchAll(statement)].map(([, fixed, dynamic]) => (fixed ?? dynamic) as string);
      return [file, names.map((name) => normalize(join(dirname(file), name)))];
    }),
  );
}

/** All files that a file loads, and that these load. A file that `stop` accepts is among them; what it loads is not. */
export function loadedBy(graph: ImportGraph, file: string, stop: (path: string) => boolean = () => false): Set<string> {
  const found = new Set<string>();
  const open = [file];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    for (const next of stop(path) ? [] : (graph.get(path) ?? [])) {
      if (!found.has(next)) {
        found.add(next);
        open.push(next);
      }
    }
  }
  return found;
}
