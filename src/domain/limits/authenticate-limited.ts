import { type AuthServices, authenticate } from '../../auth/authenticate.ts';
import type { Viewer } from '../../auth/viewer.ts';
import { DomainError, RateLimitedError } from '../../common/errors.ts';
import type { Limits } from './limits.ts';
import { networkOf } from './network.ts';

type LoginLimit = { readonly limits: Pick<Limits, 'login'> };

/**
 * Authenticates a token with a limit on failures, for every API. Invalid tokens are counted for their address, and
 * beyond the limit answered with RATE_LIMITED; a valid one is never refused because of others from its address. A
 * request without a token does not count.
 */
export async function authenticateLimited(
  services: AuthServices & LoginLimit,
  token: string | null,
  address: string | null,
): Promise<Viewer> {
  try {
    return await authenticate(services, token, address);
  } catch (error) {
    if (token === null) throw error;
    if (!(error instanceof DomainError) || error.code !== 'UNAUTHENTICATED') throw error;
    throw await countFailure(services, address, error);
  }
}

/** Counts a failed token, link or confirmation for its address. Returns the error to throw: `refusal`, or RATE_LIMITED. */
export async function countFailure(
  services: LoginLimit,
  address: string | null,
  refusal: DomainError,
): Promise<DomainError> {
  const spending = address === null ? null : await services.limits.login.spend(networkOf(address));
  if (spending === null || spending.isAllowed) return refusal;
  const message = 'Too many invalid tokens from this address. Wait and try again.';
  return new RateLimitedError(message, { resetSeconds: spending.resetSeconds, cause: refusal });
}
