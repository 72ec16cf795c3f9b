import type { FileChange } from '../../../git/diff/file-change.ts';

/** Writes files as lines of JSON, so that a page of them can be read without the others. */
export function writeChangedFiles(files: readonly FileChange[]): string {
  return files.map((file) => `${JSON.stringify(file)}\n`).join('');
}

/** Reads the files of {@link writeChangedFiles}. */
export function readChangedFiles(text: string): FileChange[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as FileChange);
}
