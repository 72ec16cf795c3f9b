import { setTimeout as wait } from 'node:timers/promises';
import * as oauth from 'openid-client';
import { parseUrl } from '../../common/parse-url.ts';
import { isToken } from './environment.ts';
import { plain } from './plain.ts';
import { answerSeconds, fetchAnswer, rootMessage } from './request.ts';

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
async function discover(address: string, timeout: number): Promise<oauth.Configuration> {
  const execute = address.startsWith('http:') ? [oauth.allowInsecureRequests] : [];
  const options = { algorithm: 'oauth2', execute, timeout, [oauth.customFetch]: fetchAnswer } as const;
  try {
    return await oauth.discovery(new URL(address), clientId, undefined, oauth.None(), options);
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
  if (code !== undefined && code !== timedOut) return `${address} isn’t a Switchyard that supports this sign-in.`;
  return `${address} doesn’t answer: ${rootMessage(error)}`;
}

/** The longest wait between two requests, in seconds. */
const maxInterval = 60;
/** The longest time for which a code can be valid, in seconds. */
const maxValidity = 3_600;

const within = (value: number | undefined, min: number, max: number): number =>
  Math.min(Math.max(value ?? 5, min), max);

/** Begins the sign-in. The values of a service that misbehaves are brought into the limits of this program, or refused. */
async function begin(configuration: oauth.Configuration, address: string, clientName: string) {
  const begun = await oauth.initiateDeviceAuthorization(configuration, { 'client_name': clientName }).catch(refuse);
  const page = parseUrl(begun.verification_uri);
  // The page is opened in the browser, so that it could also be a file or a program.
  if (page === null || page.origin !== new URL(address).origin) {
    throw new SignInError(`${address} names a page of another service for the code: ${begun.verification_uri}.`);
  }
  return {
    ...begun,
    'verification_uri': page.href,
    'expires_in': within(begun.expires_in, 0, maxValidity),
    interval: within(begun.interval, 1, maxInterval),
  };
}

/**
 * Signs in to a service by the device authorization grant: calls `show` with the code, and waits until the person has decided. Continues
 * after lost connections. Throws {@link SignInError}.
 */
export async function signInByDevice(
  address: string,
  clientName: string,
  show: (code: ShownCode) => Promise<void>,
  timeoutSeconds: number = answerSeconds,
): Promise<GrantedToken> {
  const configuration = await discover(address, timeoutSeconds);
  const begun = await begin(configuration, address, clientName);
  const end = Date.now() + begun.expires_in * 1_000;
  await show({ userCode: plain(begun.user_code), page: begun.verification_uri });
  for (;;) {
    try {
      return granted(await oauth.pollDeviceAuthorizationGrant(configuration, begun));
    } catch (error) {
      if (!isLost(error) || Date.now() > end) return refuse(error);
      await wait(begun.interval * 1_000);
    }
  }
}

/** The last time of a date. */
const maxTime = 8.64e15;

function granted(response: oauth.TokenEndpointResponse): GrantedToken {
  const { 'access_token': token, 'expires_in': seconds } = response;
  if (!isToken(token)) throw new SignInError('The sign-in failed: the service sent a token that cannot be one.');
  const end = seconds === undefined ? Number.POSITIVE_INFINITY : Date.now() + seconds * 1_000;
  return { token, tokenExpiresAt: end > maxTime ? null : new Date(end).toISOString() };
}

const timedOut = 'OAUTH_TIMEOUT';

/** True if no answer of the service arrived, or the answer of a proxy or of a service that starts. */
const isLost = (error: unknown): boolean =>
  error instanceof TypeError ||
  (error as { readonly cause?: { readonly status?: number } }).cause?.status === 503 ||
  (error as { readonly code?: string }).code === timedOut;

function refuse(error: unknown): never {
  if (error instanceof SignInError) throw error;
  if (error instanceof oauth.ResponseBodyError) {
    if (error.error === 'access_denied') throw new SignInError('Access was denied.', { cause: error });
    if (error.error === 'expired_token') {
      throw new SignInError('The code has expired. Run the command again to get a new one.', { cause: error });
    }
    throw new SignInError(error.error_description ?? error.error, { cause: error });
  }
  throw new SignInError(`The sign-in failed: ${rootMessage(error)}`, { cause: error });
}

/** Revokes a token. Throws {@link SignInError}. */
export async function revokeToken(address: string, token: string): Promise<void> {
  await oauth.tokenRevocation(await discover(address, answerSeconds), token).catch(refuse);
}
