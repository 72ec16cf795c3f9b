import { authenticateConsole, type ConsoleCredentials, notSignedInMessage } from '../../../auth/authenticate.ts';
import type { Viewer } from '../../../auth/viewer.ts';
import { DomainError } from '../../../common/errors.ts';
import type { Identity } from '../../../oidc/identity.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Services } from '../../context.ts';
import { countFailure } from '../../limits/authenticate-limited.ts';
import type { ConsoleSession } from '../keys/console-sessions.ts';
import { findProvider, redirectUriOf, refuseFailure } from './begin-sign-on.ts';
import { linkIdentity } from './link-identity.ts';
import { SignOnError } from './refusals.ts';
import { openTransaction, type SignOnTransaction } from './transactions.ts';
import { useOnce } from './used-values.ts';
import { createUserSession } from './user-sessions.ts';

/** The answer of a provider, as the page sends it on. All of it is untrusted. */
export interface CompleteSignOnInput {
  /** The provider whose page of the console got the answer. */
  readonly providerId: string;
  /** See {@link SignOnTransaction}. */
  readonly transaction: string;
  /** The codes in the cookies of the browser that begin a sign-in. */
  readonly cookies: readonly string[];
  readonly parameters: URLSearchParams;
  /** The session of the browser, for a sign-in that confirms one. */
  readonly halves: ConsoleCredentials;
}

/** A sign-in that is complete. `session` is null if it confirmed the session that the browser has. */
export interface CompletedSignOn {
  readonly session: ConsoleSession | null;
  readonly returnTo: string;
}

/**
 * Completes a sign-in at an identity provider: checks the answer, finds or creates the user, and creates or confirms a session. An
 * answer counts once. Throws a {@link SignOnError}; RATE_LIMITED for an address with too many failures.
 */
export async function completeSignOn(
  services: Services,
  input: CompleteSignOnInput,
  address: string | null,
): Promise<CompletedSignOn> {
  try {
    return await complete(services, input, address);
  } catch (error) {
    const isAttempt = error instanceof SignOnError && error.code === 'UNAUTHENTICATED';
    throw isAttempt ? await countFailure(services, address, error) : error;
  }
}

async function complete(
  services: Services,
  { providerId, transaction: sealed, cookies, parameters, halves }: CompleteSignOnInput,
  address: string | null,
): Promise<CompletedSignOn> {
  const provider = findProvider(services, providerId);
  const transaction = openTransaction(services, sealed, { cookies, state: parameters.get('state') });
  // The answer came to the page of another provider than the one that was asked.
  if (transaction.providerId !== providerId) throw new SignOnError('INVALID');
  const { state, expiresAt, returnTo, confirms } = transaction;
  if (!(await useOnce(services, `state ${state}`, expiresAt))) throw new SignOnError('USED');
  const secrets = { ...transaction, redirectUri: redirectUriOf(services, providerId) };
  const identity = await provider
    .readIdentity(secrets, parameters)
    .catch((error: unknown) => refuseFailure(services, providerId, error));
  if (confirms === null) {
    const { user, identityId } = await linkIdentity(services, provider, identity, address);
    const { sessionHours } = provider.settings;
    const session = await createUserSession(services, {
      user,
      identityId,
      identity,
      providerId,
      sessionHours,
      address,
    });
    return { session, returnTo };
  }
  const viewer = await authenticateConsole(services, halves, address);
  await confirmSession(services, viewer, transaction, identity, address);
  return { session: null, returnTo };
}

async function confirmSession(
  services: Services,
  viewer: Viewer,
  { confirms, providerId, createdAt }: SignOnTransaction,
  { issuer, subject, authenticatedAt }: Identity,
  address: string | null,
): Promise<void> {
  const { clockToleranceSeconds } = findProvider(services, providerId).settings;
  // Providers may ignore the request for credentials, and then report the time of an earlier sign-in, or none.
  const earliest = createdAt - clockToleranceSeconds * 1_000;
  if (authenticatedAt === null || authenticatedAt.getTime() < earliest) throw new SignOnError('NOT_FRESH');
  await services.store.transact(async (tx) => {
    const confirmed = await tx.query(
      `update console_session c set confirmed_at = $3::timestamptz from user_identity i
        where c.id = $1 and c.id = $2 and i.id = c.user_identity_id and i.issuer = $4 and i.subject = $5 returning c.id`,
      [viewer.consoleSessionId, confirms, authenticatedAt, issuer, subject],
    );
    if (confirmed.length === 0) {
      const [own] = await tx.query('select id from console_session where id = $1', [viewer.consoleSessionId]);
      throw own === undefined ? new DomainError('UNAUTHENTICATED', notSignedInMessage) : new SignOnError('OTHER_USER');
    }
    const data = { provider: providerId, isConfirmation: true };
    await audit({ ...services, viewer, address }, tx, 'login', { organizationId: null, data });
  });
}
