import { findViewers, notSignedInMessage } from '../../../auth/authenticate.ts';
import type { Viewer } from '../../../auth/viewer.ts';
import { DomainError } from '../../../common/errors.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Services } from '../../context.ts';
import { authenticateLimited, countFailure } from '../../limits/authenticate-limited.ts';
import { findConsoleLink, invalidLinkError, type LinkUse } from '../keys/console-links.ts';
import { type ConsoleSession, createConsoleSession } from '../keys/console-sessions.ts';
import { requireTokenAllowed } from './token-policy.ts';
import { useSignInLink } from './use-sign-in-link.ts';

/**
 * Credential of a browser that signs in: a token, or the code of a link. With the same `attempt`, a random text, a tab may
 * use the same link again for a minute if it did not get the answer. `userLink`: the code of a link for a user.
 */
export type SignInInput =
  | { readonly token: string | null }
  | { readonly link: string; readonly attempt: string | null }
  | { readonly userLink: string };

/**
 * Signs a browser in to the console. A token also confirms the sign-in, and so does the link for a user; another link does not. Throws UNAUTHENTICATED;
 * RATE_LIMITED for an address with too many failed attempts; FORBIDDEN for a user who has to sign in at an identity provider.
 */
export async function signIn(services: Services, input: SignInInput, address: string | null): Promise<ConsoleSession> {
  if ('userLink' in input) return useSignInLink(services, input.userLink, address);
  if (!('link' in input)) {
    const viewer = await authenticateLimited(services, input.token, address);
    requireTokenAllowed(services, viewer);
    return createConsoleSession({ ...services, viewer, address });
  }
  const { viewer, use } = await readLink(services, input, address);
  requireTokenAllowed(services, viewer);
  return createConsoleSession({ ...services, viewer, address }, use).catch(async (error: unknown) => {
    const isUsed = error instanceof DomainError && error.code === 'UNAUTHENTICATED';
    throw isUsed ? await countFailure(services, address, error) : error;
  });
}

async function readLink(
  services: Services,
  { link: code, attempt }: Extract<SignInInput, { readonly link: string }>,
  address: string | null,
): Promise<{ readonly viewer: Viewer; readonly use: LinkUse }> {
  const link = await findConsoleLink(services, code, attempt);
  const [viewer] = link === null ? [] : await findViewers(services, [{ apiKeyId: link.apiKeyId, address }]);
  if (link === null || !viewer) throw await countFailure(services, address, invalidLinkError());
  return { viewer, use: { id: link.id, attempt } };
}

// A user's session acts in all of the user's organizations. So does a personal access token, and no other key of a user.
function isTokenOf(viewer: Viewer, ofToken: Viewer): boolean {
  if (viewer.apiKeyId !== null) return ofToken.apiKeyId === viewer.apiKeyId;
  return ofToken.keyKind === 'PERSONAL_ACCESS_TOKEN' && ofToken.principal.id === viewer.principal.id;
}

/**
 * Confirms the sign-in of a console viewer by the token of the key that it signed in with, and writes an audit entry. A user who
 * signed in at an identity provider confirms with a personal access token, or there (complete-sign-on.ts).
 * Throws FORBIDDEN with the same message for an invalid token and for one of another key; RATE_LIMITED as {@link
 * signIn}; UNAUTHENTICATED if the sign-in has ended meanwhile.
 */
export async function confirmSignIn(
  services: Services,
  viewer: Viewer,
  token: string | null,
  address: string | null,
): Promise<void> {
  const refusal = new DomainError(
    'FORBIDDEN',
    'That token isn’t valid, or it belongs to another key than the one you are signed in with.',
  );
  const tokenViewer = await authenticateLimited(services, token, address).catch((error: unknown) => {
    if (error instanceof DomainError && error.code === 'UNAUTHENTICATED') throw refusal;
    throw error;
  });
  if (!isTokenOf(viewer, tokenViewer)) throw await countFailure(services, address, refusal);
  await services.store.transact(async (tx) => {
    const confirmed = await tx.query(
      'update console_session set confirmed_at = $2::timestamptz where id = $1 returning id',
      [viewer.consoleSessionId, services.now()],
    );
    if (confirmed.length === 0) throw new DomainError('UNAUTHENTICATED', notSignedInMessage);
    await audit({ ...services, viewer, address }, tx, 'login', {
      organizationId: viewer.homeOrganizationId,
      ...(viewer.apiKeyId === null ? {} : { targetId: viewer.apiKeyId }),
      data: { kind: viewer.keyKind, isConfirmation: true },
    });
  });
}
