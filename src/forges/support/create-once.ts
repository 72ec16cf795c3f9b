import { ForgeError, isForgeError } from '../interface/errors.ts';
import type { CreatedPullRequest, NewPullRequest, PullRequest } from '../interface/pull-requests.ts';
import { isBranchName } from './text.ts';

/** The steps of a forge that creates a pull request. */
export interface CreateSteps {
  find(): Promise<PullRequest | null>;
  /** Adds sentences about refused parts to `warnings`. */
  create(warnings: string[]): Promise<PullRequest>;
  /** Adds labels and reviewers. */
  complete(pullRequest: PullRequest, warnings: string[]): Promise<void>;
}

/**
 * Finds the open pull request of head and base, or creates it. After a failed attempt it looks once more: another process may have
 * created it, or the forge may have, without a response that arrived.
 */
export async function createOnce(request: NewPullRequest, steps: CreateSteps): Promise<CreatedPullRequest> {
  for (const branch of [request.headBranch, request.baseBranch]) {
    if (!isBranchName(branch)) throw new ForgeError('REJECTED', 'The name of a branch is not valid.');
  }
  const existing = await steps.find();
  if (existing) return { pullRequest: existing, isNew: false, warnings: [] };
  const warnings: string[] = [];
  let pullRequest: PullRequest;
  try {
    pullRequest = await steps.create(warnings);
  } catch (error) {
    if (!isForgeError(error, 'REJECTED', 'UNREACHABLE', 'INVALID_RESPONSE')) throw error;
    const created = await steps.find().catch(() => null);
    if (!created) throw error;
    return { pullRequest: created, isNew: false, warnings: [] };
  }
  await steps.complete(pullRequest, warnings);
  return { pullRequest, isNew: true, warnings };
}

/** Runs a step that may be refused without a loss: the refusal becomes a warning. */
export async function orWarn(warnings: string[], step: () => Promise<unknown>): Promise<void> {
  try {
    await step();
  } catch (error) {
    if (!isForgeError(error)) throw error;
    warnings.push(error.message);
  }
}
