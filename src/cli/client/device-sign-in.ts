import { setTimeout as wait } from 'node:timers/promises';
import * as oauth from 'openid-client';

const clientId = 'switchyard-cli';

/** The code that the person enters, and the page where. */
export interface ShownCode {
  readonly userCode: string;
  readonly page: string;
}

/** A token, and the time at which it expires in ISO 8601; null: never. */
export interface GrantedToken {
  readonly token: string;
  readonly tokenExpiresAt: string | null;
}

/** A failure that the person can read. */
export class SignInError extends Error {}

/** Returns the OAuth configuration of a service. `address`: as `readAddress` returns it. Throws {@link SignInError}. */
async function discover(address: string): Promise<oauth.Configuration> {
  const execute = address.startsWith('http:') ? [oauth.allowInsecureRequests] : [];
  try {
    return await oauth.discovery(new URL(address), clientId, undefined, oauth.None(), { algorithm: 'oauth2', execute });
  } catch (error) {
    throw new SignInError(discoveryProblem(address, error), { cause: error });
  }
}

function discoveryProblem(address: string, error: unknown): string {
  const { code, cause } = error as { readonly code?: string; readonly cause?: unknown };
  if (code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED') {
    const { body } = cause as { readonly body?: { readonly issuer?: unknown } };
    return `The service at ${address} has another address of its own: ${String(body?.issuer)}. Sign in there, or set BASE_URL of the service.`;
  }
  if (code !== undefined) return `${address} isn’t a Switchyard that supports this sign-in.`;
  return `${address} doesn’t answer: ${rootMessage(error)}.`;
}

/** Returns the innermost message of an error of `fetch`. */
export function rootMessage(error: unknown): string {
  let inner = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  return inner instanceof Error ? inner.message || String((inner as NodeJS.ErrnoException).code) : String(inner);
}

/**
 * Signs in to a service by the device authorization grant: calls `show` with the code, and waits until the person has decided. Continues
 * after lost connections. Throws {@link SignInError}.
 */
export async function signInByDevice(
  address: string,
  clientName: string,
  show: (code: ShownCode) => Promise<void>,
): Promise<GrantedToken> {
  const configuration = await discover(address);
  const begun = await oauth.initiateDeviceAuthorization(configuration, { 'client_name': clientName }).catch(refuse);
  const end = Date.now() + begun.expires_in * 1_000;
  await show({ userCode: begun.user_code, page: begun.verification_uri });
  for (;;) {
    try {
      const granted = await oauth.pollDeviceAuthorizationGrant(configuration, begun);
      const { 'access_token': token, 'expires_in': seconds } = granted;
      return {
        token,
        tokenExpiresAt: seconds === undefined ? null : new Date(Date.now() + seconds * 1_000).toISOString(),
      };
    } catch (error) {
      if (!isLost(error) || Date.now() > end) return refuse(error);
      await wait((begun.interval ?? 5) * 1_000);
    }
  }
}

/** True if no answer of the service arrived, or the answer of a proxy or of a service that starts. */
const isLost = (error: unknown): boolean =>
  error instanceof TypeError ||
  (error as { readonly cause?: { readonly status?: number } }).cause?.status === 503 ||
  (error as { readonly code?: string }).code === 'OAUTH_TIMEOUT';

function refuse(error: unknown): never {
  if (error instanceof oauth.ResponseBodyError) {
    if (error.error === 'access_denied') throw new SignInError('Access was denied.', { cause: error });
    if (error.error === 'expired_token') {
      throw new SignInError('The code has expired. Run the command again to get a new one.', { cause: error });
    }
    throw new SignInError(error.error_description ?? error.error, { cause: error });
  }
  throw new SignInError(`The sign-in failed: ${rootMessage(error)}.`, { cause: error });
}

/** Revokes a token. Throws {@link SignInError}. */
export async function revokeToken(address: string, token: string): Promise<void> {
  await oauth.tokenRevocation(await discover(address), token).catch(refuse);
}
