import { pushes as texts } from '../texts/session-transcript.ts';
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
  const name = tag ?? branch;
  const kind = tag === undefined ? texts.branch : texts.tag;
  if (pushOutcome === 'UNKNOWN') return kind.unknown({ name, repository });
  if (pushOutcome !== 'ACCEPTED') return kind.refused({ name, repository });
  if (newCommit == null) return kind.deleted({ name, repository });
  if (tag !== undefined) return texts.tagPushed({ name, repository });
  const count = subjects.length;
  if (count === 0) return isForced ? texts.forced({ name, repository }) : texts.pushed({ name, repository });
  return isForced ? texts.commitsForced({ count, name, repository }) : texts.commitsPushed({ count, name, repository });
}
