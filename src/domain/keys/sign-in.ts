import { findViewers, noGoodKey } from '../../auth/authenticate.ts';
import type { Viewer } from '../../auth/viewer.ts';
import type { Services } from '../context.ts';
import { DomainError, RateLimitedError } from '../errors.ts';
import { authenticateLimited } from '../limits/authenticate-limited.ts';
import { networkOf } from '../limits/network.ts';
import { type ConsoleSession, createConsoleSession, redeemConsoleLink } from './console-sessions.ts';

/** With what a browser signs in: a token, or the code of a link. */
export type SignInInput = { readonly token: string | null } | { readonly link: string };

/** Signs a browser in to the console. UNAUTHENTICATED; RATE_LIMITED for an address that has tried too often in vain. */
export async function signIn(services: Services, input: SignInInput, address: string | null): Promise<ConsoleSession> {
  const viewer =
    'link' in input
      ? await viewerOfLink(services, input.link, address)
      : await authenticateLimited(services, input.token, address);
  return createConsoleSession({ ...services, viewer, address });
}

async function viewerOfLink(services: Services, code: string, address: string | null): Promise<Viewer> {
  const apiKeyId = await redeemConsoleLink(services, code);
  const [viewer] = apiKeyId === null ? [] : await findViewers(services, [{ apiKeyId, address }]);
  if (viewer) return viewer;
  const spending = address === null ? null : await services.limits.login.spend(networkOf(address));
  const refusal = new DomainError('UNAUTHENTICATED', noGoodKey);
  if (spending === null || spending.isAllowed) throw refusal;
  const said = 'Too many tokens from this address were not good. Wait and try again.';
  throw new RateLimitedError(said, { resetSeconds: spending.resetSeconds, cause: refusal });
}
