import { ForgeError, isForgeError } from '../interface/errors.ts';
import type { CreatedPullRequest, NewPullRequest, PullRequest } from '../interface/pull-requests.ts';
import { isBranchName } from './text.ts';

/** The steps of a forge that creates a pull request. */
export interface CreateSteps {
  find(): Promise<PullRequest | null>;
  /** Adds sentences about refused parts to `warnings`. */
  create(warnings: string[]): Promise<PullRequest>;
  /** Adds labels and reviewers: `extend` of PullRequests. */
  extend(pullRequest: PullRequest): Promise<readonly string[]>;
}

/**
 * Finds the open pull request of head and base, or creates it, and then adds labels and reviewers, which an earlier attempt may not
 * have reached. After a failed creation it looks once more: another process may have created it, or the forge may have, without a
 * response that arrived.
 */
export async function createOnce(request: NewPullRequest, steps: CreateSteps): Promise<CreatedPullRequest> {
  for (const branch of [request.headBranch, request.baseBranch]) {
    if (!isBranchName(branch)) throw new ForgeError('REJECTED', 'The name of a branch is not valid.');
  }
  const warnings: string[] = [];
  const { pullRequest, isNew } = await findOrCreate(request, steps, warnings);
  warnings.push(...(await steps.extend(pullRequest)));
  return { pullRequest, isNew, warnings };
}

async function findOrCreate(
  { headBranch, baseBranch }: NewPullRequest,
  { find, create }: CreateSteps,
  warnings: string[],
): Promise<Pick<CreatedPullRequest, 'pullRequest' | 'isNew'>> {
  const existing = await find();
  if (existing) return { pullRequest: existing, isNew: false };
  try {
    const pullRequest = await create(warnings);
    if (pullRequest.headBranch === headBranch && pullRequest.baseBranch === baseBranch) {
      return { pullRequest, isNew: true };
    }
    throw new ForgeError('INVALID_RESPONSE', 'The forge answered with a pull request of other branches.');
  } catch (error) {
    if (!isForgeError(error, 'REJECTED', 'UNREACHABLE', 'INVALID_RESPONSE')) throw error;
    const created = await find().catch(() => null);
    if (!created) throw error;
    return { pullRequest: created, isNew: false };
  }
}
