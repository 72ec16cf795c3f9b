import { newConsoleCode } from '../../../auth/tokens.ts';
import type { Viewer } from '../../../auth/viewer.ts';
import { OidcError } from '../../../oidc/errors.ts';
import type { OidcProvider } from '../../../oidc/provider.ts';
import type { Services } from '../../context.ts';
import { refusalOfFailure, SignOnError } from './refusals.ts';
import { safeReturnTo, sealTransaction } from './transactions.ts';

/** A sign-in to begin. */
export interface BeginSignOnInput {
  readonly providerId: string;
  /** Where the browser was; untrusted. */
  readonly returnTo: unknown;
  /** The code in the cookie of an earlier sign-in of this browser, which another tab may be in; null: none. */
  readonly cookie: string | null;
  /** The viewer whose session the sign-in confirms; null: it creates a session. */
  readonly confirms: Viewer | null;
}

/** A sign-in that has begun. */
export interface BegunSignOn {
  /** The page of the provider. */
  readonly address: string;
  /** For the page alone, which sends it back with the provider's answer. */
  readonly transaction: string;
  /** For the cookie of the browser. */
  readonly cookie: string;
}

/** The page of the console to which a provider returns. Each provider has its own, so that none can answer for another. */
export const redirectUriOf = ({ baseUrl }: Pick<Services, 'baseUrl'>, providerId: string): string =>
  `${baseUrl}/sign-in/callback/${providerId}`;

/** Returns a provider of the configuration. Throws UNKNOWN_PROVIDER. */
export function findProvider({ identityProviders }: Pick<Services, 'identityProviders'>, id: string): OidcProvider {
  const provider = identityProviders.get(id);
  if (provider === undefined) throw new SignOnError('UNKNOWN_PROVIDER');
  return provider;
}

/** Begins a sign-in at an identity provider. Throws UNKNOWN_PROVIDER, UNREACHABLE. */
export async function beginSignOn(services: Services, input: BeginSignOnInput): Promise<BegunSignOn> {
  const { providerId, confirms } = input;
  const provider = findProvider(services, providerId);
  const cookie = input.cookie ?? newConsoleCode();
  const secrets = { state: newConsoleCode(), nonce: newConsoleCode(), verifier: newConsoleCode() };
  const redirectUri = redirectUriOf(services, providerId);
  const address = await provider
    .authorizationAddress({ ...secrets, redirectUri }, confirms !== null)
    .catch((error: unknown) => refuseFailure(services, providerId, error));
  const transaction = sealTransaction(services, {
    ...secrets,
    providerId,
    returnTo: safeReturnTo(input.returnTo, services.baseUrl),
    cookieHash: services.keyring.hashToken(cookie),
    confirms: confirms?.consoleSessionId ?? null,
    createdAt: services.now().getTime(),
  });
  return { address, transaction, cookie };
}

/** Logs the failure of a provider and throws its refusal; throws any other error as it is. */
export function refuseFailure({ log }: Pick<Services, 'log'>, providerId: string, error: unknown): never {
  if (!(error instanceof OidcError)) throw error;
  const { failure, message } = error;
  log.warn({ provider: providerId, failure, reason: message }, 'A sign-in at an identity provider failed.');
  throw refusalOfFailure(error);
}
