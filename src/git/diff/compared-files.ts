import type { FileStatus } from './file-change.ts';

/** A file as `git diff-tree --raw --numstat -z` compares it. Names have one character for each byte. */
export interface ComparedFile {
  readonly name: string;
  readonly oldName: string | null;
  readonly status: FileStatus;
  readonly oldMode: string | null;
  readonly mode: string | null;
  /** The object of the new version, or of the old one if the file is deleted. */
  readonly objectId: string;
  /** Null: binary. */
  readonly additions: number | null;
  readonly deletions: number | null;
}

const statuses: Readonly<Record<string, FileStatus>> = {
  A: 'ADDED',
  C: 'ADDED',
  M: 'MODIFIED',
  D: 'DELETED',
  R: 'RENAMED',
  T: 'TYPE_CHANGED',
};

/** Reads the output of `git diff-tree -r -z --raw --numstat --no-abbrev`. Throws an Error if it has another form. */
export function readComparedFiles(output: string): ComparedFile[] {
  const fields = output.split('\0');
  let at = 0;
  const next = (): string => {
    const field = fields[at++];
    if (field === undefined) throw new Error('The output of git is incomplete.');
    return field;
  };
  const files: Omit<ComparedFile, 'additions' | 'deletions'>[] = [];
  while (fields[at]?.startsWith(':')) {
    const [oldMode = '', mode = '', oldId = '', newId = '', letters = ''] = next().slice(1).split(' ');
    const status = statuses[letters[0] ?? ''];
    if (status === undefined) throw new Error(`Git names an unknown status: ${letters}`);
    const first = next();
    const isPair = letters[0] === 'R' || letters[0] === 'C';
    files.push({
      name: isPair ? next() : first,
      oldName: status === 'RENAMED' ? first : null,
      status,
      oldMode: status === 'ADDED' ? null : oldMode,
      mode: status === 'DELETED' ? null : mode,
      objectId: status === 'DELETED' ? oldId : newId,
    });
  }
  return files.map((file) => {
    const [additions = '', deletions = '', name = ''] = splitAtTabs(next());
    if (name === '') at += 2;
    return { ...file, additions: countOf(additions), deletions: countOf(deletions) };
  });
}

// A name may contain tabs.
function splitAtTabs(field: string): string[] {
  const [, additions, deletions, name] = /^(\d+|-)\t(\d+|-)\t([\s\S]*)$/.exec(field) ?? [];
  if (additions === undefined || deletions === undefined) throw new Error('The output of git is incomplete.');
  return [additions, deletions, name ?? ''];
}

function countOf(text: string): number | null {
  return text === '-' ? null : Number(text);
}
