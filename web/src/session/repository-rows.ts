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
export function pushTitle({
  branch,
  repository,
  newCommit,
  pushOutcome,
  isForced,
  subjects,
}: EntryOf<'PushEvent'>): string {
  const tag = /^refs\/tags\/(.+)$/s.exec(branch)?.[1];
  const [name, push] = tag === undefined ? [branch, `Push to ${branch} of`] : [`tag ${tag}`, `Push of tag ${tag} to`];
  if (pushOutcome === 'UNKNOWN') return `${push} ${repository} with unknown outcome`;
  if (pushOutcome !== 'ACCEPTED') return `${push} ${repository} refused`;
  if (newCommit == null) return `Deleted ${name} of ${repository}`;
  if (tag !== undefined) return `Pushed tag ${tag} to ${repository}`;
  const count = subjects.length;
  const commits = count === 0 ? '' : ` ${count} ${count === 1 ? 'commit' : 'commits'}`;
  return `${isForced ? 'Force-pushed' : 'Pushed'}${commits} to ${branch} of ${repository}`;
}
