import { errorOf } from './git-errors.ts';
import { type GitOutcome, type RunGitOptions, runGit } from './run-git.ts';

/** Runs git, and rejects with RepositoryError if it fails. */
export async function checkedGit(args: readonly string[], options: RunGitOptions): Promise<GitOutcome> {
  const outcome = await runGit(args, options);
  if (outcome.code !== 0) throw errorOf(outcome);
  return outcome;
}
