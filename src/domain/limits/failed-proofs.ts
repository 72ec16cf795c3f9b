import { RateLimitedError } from '../../common/errors.ts';
import type { Limits } from './limits.ts';
import { networkOf } from './network.ts';

/** Counts a wrong secret or signature of a webhook for its address, as failed tokens are. Throws RATE_LIMITED beyond the limit. */
export async function countFailedProof(
  { limits }: { readonly limits: Pick<Limits, 'login'> },
  address: string | null,
): Promise<null> {
  const failures = address === null ? null : await limits.login.spend(networkOf(address));
  if (failures?.isAllowed === false) {
    const message = 'Too many secrets or signatures from this address were wrong. Wait and try again.';
    throw new RateLimitedError(message, failures);
  }
  return null;
}
