import { lineComments as texts } from '../texts/comments.ts';
import { visible } from '../ui/visible.ts';

/** The version of a file in a diff that a line belongs to. */
export type Side = 'old' | 'new';

/** Lines of one version of a changed file. */
export interface CommentedLines {
  /** The directory of the repository in the workspace. */
  readonly directory: string;
  /** True if the session has no other repository. */
  readonly isOnlyRepository: boolean;
  /** The turn whose changes are shown; null: all turns. */
  readonly turn: number | null;
  readonly path: string;
  readonly side: Side;
  readonly start: number;
  readonly end: number;
  /** The first lines as the diff shows them. */
  readonly quoted: readonly string[];
}

/** A comment on lines of a diff, which is not sent yet. */
export interface LineComment extends CommentedLines {
  readonly id: string;
  readonly text: string;
  /** True if the newest diff that was shown does not have the lines. */
  readonly isOutdated: boolean;
}

/** A longer range quotes only its first lines. */
export const maxQuoted = 20;

/** Names the lines for people: `lines 4–6, old version`. */
export function nameLines({ side, start, end }: Pick<CommentedLines, 'side' | 'start' | 'end'>): string {
  const lines = start === end ? texts.line({ line: start }) : texts.lines({ start, end });
  return texts.linesOfVersion({ lines, version: side === 'new' ? texts.newVersion : texts.oldVersion });
}

/** Names the file and the lines for people. */
export const nameLocation = (comment: CommentedLines): string => `${visible(comment.path)}, ${nameLines(comment)}`;
