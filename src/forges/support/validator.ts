import { createHash } from 'node:crypto';
import type { PullRequestStatus } from '../interface/pull-requests.ts';

/** Adds the validator of its content to a pull request; null if it equals the one of an earlier read. */
export function withValidator(
  status: Omit<PullRequestStatus, 'validator'>,
  earlier: string | undefined,
): PullRequestStatus | null {
  const validator = createHash('sha256').update(JSON.stringify(status)).digest('base64url');
  return validator === earlier ? null : { ...status, validator };
}
