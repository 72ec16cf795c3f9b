import { DomainError, RateLimitedError } from '../../../common/errors.ts';
import { OidcError } from '../../../oidc/errors.ts';
import type { Services } from '../../context.ts';
import { countFailure } from '../../limits/authenticate-limited.ts';
import { useOnce } from './used-values.ts';
import { endSessionsOfProvider } from './user-sessions.ts';

/**
 * The result of a back-channel logout. `refused`: the token is wrong or was used before. `limited`: too many wrong tokens came from the
 * address. `failed`: the token could not be checked; the provider may send it again.
 */
export type LogoutOutcome = 'done' | 'refused' | 'limited' | 'failed';

/** Ends the console sessions that a logout token of a provider names. A token counts once. */
export async function logOutByProvider(
  services: Services,
  providerId: string,
  token: string,
  address: string | null,
): Promise<LogoutOutcome> {
  const { identityProviders, log } = services;
  try {
    const provider = identityProviders.get(providerId);
    if (provider === undefined) return await refused(services, address);
    const logout = await provider.readLogoutToken(token);
    if (!(await useOnce(services, `logout ${logout.issuer} ${logout.jti}`, logout.expiresAt))) {
      return await refused(services, address);
    }
    const sessions = await endSessionsOfProvider(services, providerId, logout);
    log.info({ provider: providerId, sessions }, 'An identity provider ended sessions of the console.');
    return 'done';
  } catch (error) {
    const isInvalid = error instanceof OidcError && error.failure === 'INVALID';
    log.warn({ provider: providerId, err: error }, 'A logout by an identity provider failed.');
    return isInvalid ? refused(services, address) : 'failed';
  }
}

async function refused(services: Services, address: string | null): Promise<LogoutOutcome> {
  const refusal = new DomainError('UNAUTHENTICATED', 'The logout token is not valid.');
  return (await countFailure(services, address, refusal)) instanceof RateLimitedError ? 'limited' : 'refused';
}
