import type { LookupFunction } from 'node:net';
import { type Dispatcher, request } from 'undici';
import { RefusedAddressError } from '../common/addresses.ts';
import { createCheckedAgent } from '../common/checked-agent.ts';
import { errorsWithin } from '../common/errors-within.ts';
import { failureOfAnswer, type ProviderFailureCode, providerFailures } from './failures.ts';
import { type ModelProvider, providerApis } from './model-providers.ts';

/** A provider with the key to it. It contains a secret: never log it. */
export interface ProviderAccess {
  readonly provider: ModelProvider;
  /** Null: the provider's own address. */
  readonly baseUrl: string | null;
  /** Null: a server that needs no key. */
  readonly key: string | null;
}

/** Rules for requests of users. */
export interface RequestRules {
  /** Allows addresses of private networks. */
  readonly allowPrivate: boolean;
  /** For the whole request; 10 seconds if omitted. */
  readonly timeoutMs?: number;
  /** Resolves names; the system's resolver if omitted. */
  readonly lookup?: LookupFunction;
}

const defaultTimeoutMs = 10_000;
/** Maximum length of an answer, in bytes. */
const maxAnswerBytes = 2 * 1_024 * 1_024;

/** A failed request. The message is for users; it has neither the key nor anything that the server sent. */
export class ProviderRequestError extends Error {
  readonly code: ProviderFailureCode;
  /** The status of the answer; null: there was none. */
  readonly statusCode: number | null;

  constructor(message: string, { code, statusCode = null, cause }: ProviderFailure) {
    super(message, { cause });
    this.name = 'ProviderRequestError';
    this.code = code;
    this.statusCode = statusCode;
  }
}

interface ProviderFailure {
  readonly code: ProviderFailureCode;
  readonly statusCode?: number | null;
  readonly cause?: unknown;
}

/** Returns the base URL of an access, without a slash at the end. Throws for a compatible server without one. */
export function baseUrlOf({ provider, baseUrl }: Pick<ProviderAccess, 'provider' | 'baseUrl'>): string {
  const url = baseUrl ?? providerApis[provider].baseUrl;
  if (url === null) throw new Error('A compatible server has a base URL.');
  return url.replace(/\/+$/, '');
}

/**
 * Sends a GET request with the key and returns the JSON of the answer. `path` begins with a slash and is appended to the
 * base URL. It connects only to addresses that the rules allow, follows no redirect, and reads at most 2 MB. Throws
 * {@link ProviderRequestError}.
 */
export async function requestProvider(access: ProviderAccess, path: string, rules: RequestRules): Promise<unknown> {
  const { timeoutMs = defaultTimeoutMs, allowPrivate, lookup } = rules;
  const agent = createCheckedAgent({ allowPrivate, timeoutMs, lookup });
  const signal = AbortSignal.timeout(timeoutMs);
  const keyHeaders = access.key === null ? {} : providerApis[access.provider].keyHeaders(access.key);
  const headers = { accept: 'application/json', ...keyHeaders };
  try {
    const response = await request(`${baseUrlOf(access)}${path}`, { headers, dispatcher: agent, signal });
    const body = await readBody(response.body);
    const { statusCode } = response;
    const failure = failureOfAnswer({ statusCode, body: body ?? '' });
    if (failure !== null) throw new ProviderRequestError(messageOf(failure, statusCode), { code: failure, statusCode });
    return parseAnswer(body, statusCode);
  } catch (error) {
    if (error instanceof ProviderRequestError) throw error;
    const reason = signal.aborted ? `no answer came within ${timeoutMs / 1_000} seconds` : reasonOf(error);
    throw new ProviderRequestError(`The server cannot be reached: ${reason}.`, { code: 'NOT_REACHABLE', cause: error });
  } finally {
    void agent.destroy();
  }
}

/** Returns the body as text; null if it is too long. */
async function readBody(body: Dispatcher.ResponseData['body']): Promise<string | null> {
  const parts: Uint8Array[] = [];
  let length = 0;
  body.on('error', () => undefined);
  for await (const part of body) {
    parts.push(part);
    length += part.length;
    if (length > maxAnswerBytes) {
      body.destroy();
      return null;
    }
  }
  return new TextDecoder().decode(Buffer.concat(parts));
}

function parseAnswer(body: string | null, statusCode: number): unknown {
  try {
    if (body !== null) return JSON.parse(body);
  } catch {
    // Not JSON, as the message says.
  }
  const reason =
    body === null ? `the answer is longer than ${maxAnswerBytes / 1_024 / 1_024} MB` : 'the answer is not JSON';
  const message = `The server does not answer as a model provider: ${reason}.`;
  throw new ProviderRequestError(message, { code: 'UNEXPECTED_ANSWER', statusCode });
}

const messageOf = (failure: ProviderFailureCode, statusCode: number) =>
  providerFailures[failure].replace(/\.$/, ` (status ${statusCode}).`);

// A name without an address and a name with a private one give the same reason: users must not learn which names the
// service's own network has.
const noAddress = 'the host has no address that the service is allowed to connect to';
const reasons: Readonly<Record<string, string>> = {
  ENOTFOUND: noAddress,
  EAI_AGAIN: noAddress,
  ENODATA: noAddress,
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was broken off',
  UND_ERR_SOCKET: 'the connection was broken off',
  UND_ERR_CONNECT_TIMEOUT: 'no connection was made in time',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too long',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate is not from a known authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host',
};

// Messages of errors contain addresses: only known codes are passed on.
function reasonOf(error: unknown): string {
  for (const each of errorsWithin(error)) {
    if (each instanceof RefusedAddressError) return noAddress;
    if (each.name === 'HTTPParserError') return 'the answer is not HTTP';
    const { code } = each as { code?: unknown };
    if (typeof code === 'string' && Object.hasOwn(reasons, code)) return reasons[code] as string;
  }
  return 'the request failed';
}
