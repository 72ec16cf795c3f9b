import { writeSize } from '../ui/size.ts';
import type { ListedFile } from './files-store.ts';

/** The letter of each kind of change, as git writes it, and its name. */
const statuses: Readonly<Record<string, { readonly letter: string; readonly label: string; readonly tone: string }>> = {
  ADDED: { letter: 'A', label: 'Added', tone: 'good' },
  MODIFIED: { letter: 'M', label: 'Modified', tone: 'info' },
  DELETED: { letter: 'D', label: 'Deleted', tone: 'bad' },
  RENAMED: { letter: 'R', label: 'Renamed', tone: 'warn' },
  TYPE_CHANGED: { letter: 'T', label: 'Type changed', tone: 'warn' },
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
  const bytes = size == null ? '' : `, ${writeSize(size)}`;
  if (isTruncated)
    return `The diff is not stored, because a limit was exceeded${size == null ? '' : ` (${writeSize(size)})`}.`;
  if (isBinary) return `Binary file${status === 'DELETED' ? ', deleted' : ''}${bytes}.`;
  if (linesOf(file) !== 0) return null;
  if (status === 'RENAMED') return 'Renamed without other changes.';
  if (modeChange(file) !== null) return `Only the mode changed: ${modeChange(file)}.`;
  if (status === 'ADDED' || status === 'DELETED') return 'Empty file.';
  return null;
}
