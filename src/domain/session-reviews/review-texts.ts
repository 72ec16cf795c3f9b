import { plainLine, shorten } from '../../common/plain-text.ts';
import type { DiffFile } from '../../forges/interface/pull-requests.ts';
import { findDiffLine } from '../../forges/support/read-diff.ts';
import type { ReviewLineComment, ReviewRequest } from './reviews.ts';

/** A review as the agent submits it, with harmless texts. */
export interface SubmittedReview {
  readonly body: string;
  readonly comments: readonly SubmittedComment[];
}

/** A comment of a review as the agent submits it. */
export interface SubmittedComment {
  readonly path: string;
  readonly line: number;
  readonly side: 'old' | 'new';
  readonly body: string;
}

/** The facts that a review is composed with. */
export interface ReviewFacts {
  /** Says who asked for the review, and where. */
  readonly requester: string;
  /** The commit that the agent read. */
  readonly commit: string;
  /** True if the pull request has another head by now. */
  readonly isOutdated: boolean;
  /** Null: unknown; then every comment stays on its line. */
  readonly diff: readonly DiffFile[] | null;
}

/** Maximum length of a text at the forges, in characters, less some room. */
const maxText = 65_000;

/** Composes the texts of a review. A comment on a line that the diff does not show becomes a part of the body. */
export function composeReview(
  { body, comments }: SubmittedReview,
  { requester, commit, isOutdated, diff }: ReviewFacts,
): ReviewRequest {
  const onLines: ReviewLineComment[] = [];
  const elsewhere: SubmittedComment[] = [];
  for (const { path, line, side, body: text } of comments) {
    const found = diff === null ? { oldPath: path, otherLine: null } : findDiffLine(diff, { path, line, side });
    if (found === null) elsewhere.push({ path, line, side, body: text });
    else onLines.push({ path, line, side, body: `Comment of an agent.\n\n${text}\n`, ...found });
  }
  const outdated = isOutdated ? `\n\nThis review is of the commit ${commit}. The pull request has newer commits.` : '';
  const head = `Review of an agent. ${requester}${outdated}\n\n${body}`;
  return {
    ...{ body: whole(head, elsewhere, 'Comments on lines that the diff does not show'), comments: onLines, commit },
    wholeBody: whole(head, comments, 'Comments'),
  };
}

function whole(head: string, comments: readonly SubmittedComment[], title: string): string {
  const parts = comments.map(({ path, line, side, body }) => {
    const location = `${plainLine(path, 500).replaceAll('`', "'")}:${line}${side === 'old' ? ' (before the change)' : ''}`;
    return `\`${location}\`\n\n${body}`;
  });
  const rest = parts.length === 0 ? [] : [`**${title}**`, ...parts];
  return shorten([head, ...rest].join('\n\n'), maxText).concat('\n');
}
