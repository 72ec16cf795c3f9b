import type { EntryOf } from './entry.ts';
import type { Row } from './transcript-rows.ts';

type Step = EntryOf<'RepositoryEvent'>;

/** Returns true if a step continues the clone of the step before: a new clone of the same repository is another row. */
export function isSameStep(before: Step, { repositoryState }: Step): boolean {
  return before.repositoryState === 'CLONING' || before.repositoryState === repositoryState;
}

/** Returns true for the error that repeats the failure of a repository in the row before. */
export function repeatsFailure(row: Row | undefined, { failure }: EntryOf<'ErrorEvent'>): boolean {
  return failure === 'REPOSITORY_UNAVAILABLE' && row?.type === 'repository' && row.entry.repositoryState === 'FAILED';
}

/** Says what happened in a push, in one line. */
export function pushTitle({ branch, repository, newCommit, pushOutcome, subjects }: EntryOf<'PushEvent'>): string {
  if (pushOutcome === 'UNKNOWN') return `Push to ${branch} of ${repository} with unknown outcome`;
  if (pushOutcome !== 'ACCEPTED') return `Push to ${branch} of ${repository} refused`;
  if (newCommit == null) return `Deleted ${branch} of ${repository}`;
  const count = subjects.length;
  const commits = count === 0 ? '' : ` ${count} ${count === 1 ? 'commit' : 'commits'}`;
  return `Pushed${commits} to ${branch} of ${repository}`;
}
