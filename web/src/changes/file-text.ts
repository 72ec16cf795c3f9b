import { fileText as texts } from '../texts/changes.ts';
import { writeSize } from '../ui/size.ts';
import type { ListedFile } from './files-store.ts';

/** The letter of each kind of change, as git writes it, and its name. */
const statuses: Readonly<Record<string, { readonly letter: string; readonly label: string; readonly tone: string }>> = {
  ADDED: { letter: 'A', label: texts.added, tone: 'good' },
  MODIFIED: { letter: 'M', label: texts.modified, tone: 'info' },
  DELETED: { letter: 'D', label: texts.deleted, tone: 'bad' },
  RENAMED: { letter: 'R', label: texts.renamed, tone: 'warn' },
  TYPE_CHANGED: { letter: 'T', label: texts.typeChanged, tone: 'warn' },
};

/** Returns the letter and the name of a change. */
export const statusOf = (status: string) => statuses[status] ?? { letter: '?', label: status, tone: 'plain' };

/** Diffs with more lines are opened by the user. */
const maxOpenLines = 500;

/** The number of changed lines; null: unknown. */
export const linesOf = ({ additions, deletions }: ListedFile): number | null =>
  additions == null || deletions == null ? null : additions + deletions;

/** Returns true if the diff of a file is shown without a click. */
export const isOpenAtFirst = (file: ListedFile): boolean => (linesOf(file) ?? 0) <= maxOpenLines;

/** Describes the mode of a file if it changed: `100644 → 100755`. Null: it did not. */
export function modeChange({ oldMode, mode }: ListedFile): string | null {
  return oldMode != null && mode != null && oldMode !== mode ? `${oldMode} → ${mode}` : null;
}

/** Returns the sentence in place of a diff; null: there is a diff. */
export function noDiffText(file: ListedFile): string | null {
  const { status, isBinary, isTruncated, size } = file;
  const bytes = size == null ? null : writeSize(size);
  if (isTruncated) return bytes === null ? texts.notStored : texts.notStoredWithSize({ bytes });
  if (isBinary && bytes !== null) {
    return status === 'DELETED' ? texts.binaryDeletedWithSize({ bytes }) : texts.binaryWithSize({ bytes });
  }
  if (isBinary) return status === 'DELETED' ? texts.binaryDeleted : texts.binary;
  if (linesOf(file) !== 0) return null;
  if (status === 'RENAMED') return texts.renamedWithoutOtherChanges;
  const modes = modeChange(file);
  if (modes !== null) return texts.onlyMode({ modes });
  if (status === 'ADDED' || status === 'DELETED') return texts.emptyFile;
  return null;
}
