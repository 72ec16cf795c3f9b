import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** The root of the repository. */
export const root = join(import.meta.dirname, '../..');

/** Returns every file of the project, committed or new; paths from the root. Ignored files are excluded. */
export function treeFiles(): string[] {
  // CI often checks out as one user and tests as another; git refuses that by default.
  const options = ['-c', 'safe.directory=*', 'ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const listed = execFileSync('git', options, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
  return [...new Set(listed.split('\0'))].filter((path) => path !== '' && existsSync(join(root, path))).sort();
}

/** Returns the text of a file by its path from the root. */
export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** Returns our own TypeScript under src/, parsed, with parents set. */
export function sourceFiles(): ts.SourceFile[] {
  return treeFiles()
    .filter((path) => path.startsWith('src/') && /\.tsx?$/.test(path))
    .map((path) => ts.createSourceFile(path, readText(path), ts.ScriptTarget.Latest, true));
}

/** Returns `path:line` of a node, as editors and terminals understand it. */
export function sourceLocation(file: ts.SourceFile, node: ts.Node): string {
  return `${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1}`;
}
