import { createContext, useContext, useEffect, useMemo } from 'react';
import { useComments } from '../comments/comment-draft.ts';
import type { CommentedLines, LineComment } from '../comments/line-comment.ts';
import { type FileLine, findLines } from './comment-lines.ts';

/** The changes that a diff is a part of. */
export type Comparison = Pick<CommentedLines, 'directory' | 'isOnlyRepository' | 'turn'>;

/** The changes that the page shows. */
export const ComparisonContext = createContext<Comparison>({ directory: '', isOnlyRepository: true, turn: null });

/** Returns true for a comment on a part of these changes. */
export const isIn = (comparison: Comparison, comment: CommentedLines): boolean =>
  comment.directory === comparison.directory && comment.turn === comparison.turn;

const toLocations = (comments: readonly LineComment[], lines: readonly FileLine[]) =>
  new Map(comments.map((comment) => [comment.id, findLines(lines, comment)]));

/** The comments on a file of the shown changes, which get the locations of the lines in its diff. */
export function useFileComments(path: string, lines: readonly FileLine[]) {
  const { comments, open, draft } = useComments();
  const comparison = useContext(ComparisonContext);
  const own = useMemo(
    () => comments.filter((each) => each.path === path && isIn(comparison, each)),
    [comments, path, comparison],
  );
  const isOpenHere = open?.path === path && open.at === 'diff' && isIn(comparison, open);
  const ownOpen = isOpenHere ? open : null;
  useEffect(() => {
    if (draft && (own.length > 0 || ownOpen))
      draft.relocate(toLocations(ownOpen?.isNew ? [...own, ownOpen] : own, lines));
  }, [draft, own, ownOpen, lines]);
  return { comments: own, open: ownOpen, draft, comparison };
}

/** Makes comments outdated if the changes no longer have their file. `files`: all of them; null while they are not known. */
export function useMissingFiles(comparison: Comparison, files: readonly { readonly path: string }[] | null): void {
  const { comments, draft } = useComments();
  useEffect(() => {
    if (files === null || !draft || comments.length === 0) return;
    const paths = new Set(files.map(({ path }) => path));
    const missing = comments.filter((each) => isIn(comparison, each) && !paths.has(each.path));
    draft.relocate(new Map(missing.map(({ id }) => [id, null])));
  }, [comparison, files, comments, draft]);
}
