import { findViewers, notSignedInMessage } from '../../../auth/authenticate.ts';
import type { Viewer } from '../../../auth/viewer.ts';
import { DomainError } from '../../../common/errors.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Services } from '../../context.ts';
import { authenticateLimited, countFailure } from '../../limits/authenticate-limited.ts';
import { type ConsoleSession, createConsoleSession, redeemConsoleLink } from './console-sessions.ts';

const invalidLink =
  "That link isn't valid. A link signs in once, within 15 minutes. Create a new one, or sign in with a token.";

/** Credential of a browser that signs in: a token, or the code of a link. */
export type SignInInput = { readonly token: string | null } | { readonly link: string };

/**
 * Signs a browser in to the console. A token also confirms the sign-in; a link does not. Throws UNAUTHENTICATED;
 * RATE_LIMITED for an address with too many failed attempts.
 */
export async function signIn(services: Services, input: SignInInput, address: string | null): Promise<ConsoleSession> {
  const isLink = 'link' in input;
  const viewer = isLink
    ? await viewerOfLink(services, input.link, address)
    : await authenticateLimited(services, input.token, address);
  return createConsoleSession({ ...services, viewer, address }, { isConfirmed: !isLink });
}

async function viewerOfLink(services: Services, code: string, address: string | null): Promise<Viewer> {
  const apiKeyId = await redeemConsoleLink(services, code);
  const [viewer] = apiKeyId === null ? [] : await findViewers(services, [{ apiKeyId, address }]);
  if (viewer) return viewer;
  throw await countFailure(services, address, new DomainError('UNAUTHENTICATED', invalidLink));
}

/**
 * Confirms the sign-in of a console viewer by the token of the key that it signed in with, and writes an audit entry.
 * Throws FORBIDDEN with the same message for an invalid token and for one of another key; RATE_LIMITED as {@link
 * signIn}; UNAUTHENTICATED if the sign-in has ended meanwhile.
 */
export async function confirmSignIn(
  services: Services,
  viewer: Viewer,
  token: string | null,
  address: string | null,
): Promise<void> {
  const refusal = new DomainError('FORBIDDEN', 'This is not the token that this browser signed in with.');
  const tokenViewer = await authenticateLimited(services, token, address).catch((error: unknown) => {
    if (error instanceof DomainError && error.code === 'UNAUTHENTICATED') throw refusal;
    throw error;
  });
  if (tokenViewer.apiKeyId !== viewer.apiKeyId) throw await countFailure(services, address, refusal);
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
