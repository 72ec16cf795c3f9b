import type { ForgeAccount } from './account.ts';

/** The state of a pull request. `draft` is open too. */
export type PullRequestState = 'draft' | 'open' | 'merged' | 'closed';

/** A pull request, or a merge request of GitLab. */
export interface PullRequest {
  /** GitLab: the `iid`. */
  readonly number: number;
  /** Of its page at the host of the connection. */
  readonly url: string;
  readonly title: string;
  readonly body: string;
  readonly state: PullRequestState;
  readonly author: ForgeAccount | null;
  readonly headBranch: string;
  readonly headCommit: string | null;
  /** The path of the repository of the head; null if it is gone or the forge does not say. */
  readonly headRepository: string | null;
  readonly baseBranch: string;
  readonly labels: readonly string[];
  /** The logins that a review is requested from. */
  readonly reviewers: readonly string[];
  readonly createdAt: Date | null;
  readonly updatedAt: Date | null;
  readonly mergedAt: Date | null;
  readonly closedAt: Date | null;
  readonly mergeCommit: string | null;
}

/**
 * Tells if a pull request can be merged. `blocked`: a rule forbids it, such as a missing review or a failed check. `unknown`:
 * the forge still computes it; ask again.
 */
export type Mergeability = 'mergeable' | 'conflicting' | 'blocked' | 'unknown';

/** The state of a check. `action_required`: a person has to start or approve it. */
export type CheckState =
  | 'queued'
  | 'running'
  | 'passed'
  | 'failed'
  | 'cancelled'
  | 'skipped'
  | 'neutral'
  | 'action_required';

/** A check of a commit: a check run, a job of a pipeline, or a commit status. */
export interface Check {
  /** Opaque; `checkLogTail` takes it. */
  readonly id: string;
  readonly name: string;
  readonly state: CheckState;
  readonly summary: string | null;
  readonly url: string | null;
  /** True if `checkLogTail` may find a log. */
  readonly hasLog: boolean;
  readonly completedAt: Date | null;
}

/** The state of a review. */
export type ReviewState = 'approved' | 'changes_requested' | 'commented' | 'dismissed' | 'pending';

/** A review of a pull request. */
export interface Review {
  readonly id: string;
  readonly author: ForgeAccount | null;
  readonly state: ReviewState;
  readonly body: string;
  readonly commit: string | null;
  readonly submittedAt: Date | null;
  readonly url: string | null;
}

/** A pull request with everything that follow-ups need. */
export interface PullRequestStatus extends PullRequest {
  readonly mergeable: Mergeability;
  readonly checks: readonly Check[];
  readonly reviews: readonly Review[];
  /** True if there are more checks or reviews than are read (300 of each). */
  readonly isTruncated: boolean;
  /** Equal for equal content. */
  readonly validator: string;
}

/** A comment on a pull request: in its conversation, or on a line. */
export interface PullRequestComment {
  readonly id: string;
  /** `reply` and `resolveThread` take it; null: a comment without a thread. */
  readonly threadId: string | null;
  /** The review that the comment belongs to; null: none. */
  readonly reviewId: string | null;
  readonly author: ForgeAccount | null;
  readonly body: string;
  readonly url: string | null;
  readonly createdAt: Date | null;
  readonly updatedAt: Date | null;
  /** Null: not on a file. */
  readonly location: CommentLocation | null;
}

/** The lines that a comment is about. */
export interface CommentLocation {
  readonly path: string;
  /** Null: the file as a whole, or a line that no longer exists. */
  readonly line: number | null;
  /** `old`: a line of the base. */
  readonly side: 'old' | 'new';
  readonly commit: string | null;
  /** The part of the diff before the line; null if the forge does not send it. */
  readonly diffHunk: string | null;
}

/** One page of comments, oldest first. */
export interface CommentPage {
  readonly comments: readonly PullRequestComment[];
  /** True if there are more comments than are read (500). */
  readonly isTruncated: boolean;
}

/** Labels and reviewers for a pull request. */
export interface Additions {
  readonly labels?: readonly string[] | undefined;
  /** Logins, and teams as `organization/team`. */
  readonly reviewers?: readonly string[] | undefined;
}

/** A pull request to create. */
export interface NewPullRequest extends Additions {
  readonly title: string;
  readonly body: string;
  readonly headBranch: string;
  readonly baseBranch: string;
  readonly isDraft?: boolean | undefined;
}

/** The result of `createPullRequest`. */
export interface CreatedPullRequest {
  readonly pullRequest: PullRequest;
  /** False: an open pull request of this head and base existed before. */
  readonly isNew: boolean;
  /** Sentences about the parts that the forge refused, such as an unknown label. */
  readonly warnings: readonly string[];
}

/** The changes of an existing pull request; omitted values stay. */
export interface PullRequestChange {
  readonly title?: string | undefined;
  readonly body?: string | undefined;
  readonly isDraft?: boolean | undefined;
  readonly isClosed?: boolean | undefined;
}

/** A comment of a new review. */
export interface NewReviewComment {
  readonly path: string;
  readonly line: number;
  readonly side: 'old' | 'new';
  readonly body: string;
  /** The name of the file in the base; `path` if omitted. */
  readonly oldPath?: string | undefined;
  /** The number of the same line on the other side; null or omitted: the line is on one side only. */
  readonly otherLine?: number | null | undefined;
}

/** Lines of a file that a diff shows. */
export interface DiffHunk {
  readonly oldStart: number;
  readonly newStart: number;
  /** One character for each line: a space (on both sides), `-` (of the base only) or `+` (of the head only). */
  readonly marks: string;
}

/** A file of the diff of a pull request, without its content. */
export interface DiffFile {
  readonly path: string;
  /** Its name in the base. */
  readonly oldPath: string;
  /** Empty: binary, or too long for the forge. */
  readonly hunks: readonly DiffHunk[];
}

/** A review to submit. */
export interface NewReview {
  readonly body: string;
  readonly state: 'approved' | 'changes_requested' | 'commented';
  /** The commit that was reviewed. */
  readonly commit: string;
  readonly comments?: readonly NewReviewComment[] | undefined;
}

/** The end of the log of a check. */
export interface LogTail {
  /** Without control characters and escape sequences; at most 200 KB. */
  readonly text: string;
  /** True if the log has more lines before these. */
  readonly isTruncated: boolean;
}

/** The pull requests of the repositories of a connection. `path` is the path of the repository. */
export interface PullRequests {
  /** Finds the open pull request of a branch of this repository; null: none. */
  find(path: string, headBranch: string, baseBranch?: string): Promise<PullRequest | null>;
  /** Finds the open pull request of head and base, or creates it. Safe to repeat after any failure. */
  create(path: string, request: NewPullRequest): Promise<CreatedPullRequest>;
  /** Reads a pull request without its checks and reviews. */
  get(path: string, number: number): Promise<PullRequest>;
  update(path: string, number: number, change: PullRequestChange): Promise<PullRequest>;
  /**
   * Adds the labels and reviewers that the pull request lacks. Returns a sentence for each that the forge did not add. Safe to
   * repeat; it does not reject if the forge refuses some or all of them.
   */
  extend(path: string, pullRequest: PullRequest, additions: Additions): Promise<readonly string[]>;
  /** Reads state, checks, reviews and mergeability. Null: all equal to the `validator` of an earlier read. */
  read(path: string, number: number, validator?: string): Promise<PullRequestStatus | null>;
  /** Reads the lines that the forge shows as the difference of a pull request and its base. Files beyond 1,000 may be missing. */
  diff(path: string, number: number): Promise<readonly DiffFile[]>;
  /** Reads the comments of the conversation and on lines. */
  comments(path: string, number: number, since?: Date): Promise<CommentPage>;
  /** Reads the template for new pull requests from a branch; null: the repository has none. */
  template(path: string, ref: string): Promise<string | null>;
  /** Reads the last lines (200 if omitted) of the log of a check; null: there is no log. */
  checkLogTail(path: string, checkId: string, lines?: number): Promise<LogTail | null>;
  comment(path: string, number: number, body: string): Promise<PullRequestComment>;
  /** Comments on an issue, which is not a pull request. */
  commentOnIssue(path: string, number: number, body: string): Promise<void>;
  reply(path: string, number: number, threadId: string, body: string): Promise<PullRequestComment>;
  /** Marks a thread as resolved. Safe to repeat. Rejects with UNSUPPORTED if the forge has no API for it. */
  resolveThread(path: string, number: number, threadId: string): Promise<void>;
  submitReview(path: string, number: number, review: NewReview): Promise<Review>;
}
