import type { FileChange } from '../../../git/diff/file-change.ts';

/** Writes files as lines of JSON, so that a page of them can be read without the others. */
export function writeChangedFiles(files: readonly FileChange[]): string {
  return files.map((file) => `${JSON.stringify(file)}\n`).join('');
}

/** Reads the files from one number up to another of {@link writeChangedFiles}. */
export function readChangedFiles(text: string, from: number, to: number): FileChange[] {
  const found: FileChange[] = [];
  let start = 0;
  for (let n = 0; n < to; n++) {
    const end = text.indexOf('\n', start);
    if (end < 0) break;
    if (n >= from) found.push(JSON.parse(text.slice(start, end)) as FileChange);
    start = end + 1;
  }
  return found;
}
