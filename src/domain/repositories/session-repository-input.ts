import { z } from 'zod';
import { isBranchName } from '../../forges/support/text.ts';
import { text } from '../input.ts';

/** Maximum number of repositories of a session. */
export const maxRepositories = 20;

const ref = (name: 'ref' | 'branch') =>
  text(name, { min: 1, max: 255 }).refine(isBranchName, {
    error: name === 'ref' ? '"ref" must be a branch, a tag or a commit.' : '"branch" must be a valid name of a branch.',
  });

/**
 * Tells if a text is a directory for a clone: one to four segments, none of them hidden. Hidden directories are the service's
 * (`.session`) and git's.
 */
export function isCloneDirectory(directory: string): boolean {
  return /^[A-Za-z0-9_][\w.+-]*(\/[A-Za-z0-9_][\w.+-]*){0,3}$/.test(directory);
}

/** A repository of a new session in inputs. */
export const sessionRepositorySchema = z.object({
  repository: text('repository', { min: 1, max: 1_000 }),
  ref: ref('ref').nullish(),
  branch: ref('branch')
    .refine((branch) => !/^refs\//i.test(branch), {
      error: '"branch" must be the name of a branch, without "refs/heads/".',
    })
    .nullish(),
  pullRequest: z
    .int({ error: '"pullRequest" must be an integer.' })
    .min(1, '"pullRequest" must be at least 1.')
    .max(2_147_483_647, '"pullRequest" must be at most 2147483647.')
    .nullish(),
  directory: text('directory', { min: 1, max: 100 })
    .refine(isCloneDirectory, {
      error:
        '"directory" must be a path inside the workspace: at most 4 names of letters, digits and "._+-", none beginning with "." or "-".',
    })
    .nullish(),
});

/** A repository of a new session, parsed. */
export type SessionRepositoryInput = z.output<typeof sessionRepositorySchema>;

/** The repositories of a new session in inputs. */
export const sessionRepositoriesSchema = z
  .array(sessionRepositorySchema, { error: '"repositories" must be a list.' })
  .max(maxRepositories, `"repositories" must have at most ${maxRepositories} items.`)
  .superRefine((list, check) => {
    for (const [n, { ref: named, pullRequest }] of list.entries()) {
      if (named == null || pullRequest == null) continue;
      const message = '"ref" and "pullRequest" must not both be given: a pull request has its own commits.';
      check.addIssue({ code: 'custom', path: [n, 'ref'], message });
    }
  });
