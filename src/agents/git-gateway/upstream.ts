import { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isTlsMissing } from '../../common/missing-tls.ts';
import { parseUrl } from '../../common/parse-url.ts';
import type { ConnectionAgents } from '../gateway/connection-agents.ts';
import { adviceToTest, connectionText } from './connection-text.ts';
import { RefusedError } from './refusals.ts';
import type { AddressRules, GitCredential } from './repositories.ts';

/** The parts that all requests of one gateway to forges share. */
export interface Upstream {
  readonly addresses: AddressRules;
  /** Opens the connections, one for each request. */
  readonly connections: ConnectionAgents;
  /** The time without any data after which a request fails. */
  readonly idleTimeoutMs: number;
}

/** A request to a forge, or to the object store that it names. */
export interface UpstreamRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: OutgoingHttpHeaders;
  /** Sent to the origin of `url` only; null: none. */
  readonly credential: GitCredential | null;
  /** Ends the request at once. */
  readonly signal: AbortSignal;
}

/** A started request. The caller writes its body and ends it. */
export interface StartedRequest {
  readonly request: ClientRequest;
  /** Rejects with RefusedError if there is no response. */
  readonly response: Promise<IncomingMessage>;
}

/** As many as git itself follows. */
const maxRedirects = 5;

/** Starts a request. Throws RefusedError if its address is not allowed. */
export function startRequest(
  { addresses, connections, idleTimeoutMs }: Upstream,
  { method, url, headers, credential, signal }: UpstreamRequest,
): StartedRequest {
  if (!['https:', 'http:'].includes(url.protocol) || url.username !== '' || !addresses.isAllowed(url))
    throw new RefusedError(`The gateway may not connect to ${url.host}.`);
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const lookup = addresses.lookup === null ? {} : { lookup: addresses.lookup };
  const request = send(url, {
    method,
    agent: connections.for(url),
    insecureHTTPParser: false,
    // Pass-through parts of a response are checked byte by byte, and git compresses packs itself.
    headers: { ...headers, 'accept-encoding': 'identity', ...authorization(credential) },
    signal,
    ...lookup,
  });
  const by = credential === null ? '' : ` by ${connectionText(credential)}`;
  let reason = `${url.host} could not be reached${by}.`;
  request.setTimeout(idleTimeoutMs, () => {
    reason = `${url.host} sent nothing for ${Math.round(idleTimeoutMs / 1_000)} s.`;
    request.destroy(new Error(reason));
  });
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', (received) => {
      received.on('error', () => undefined);
      resolve(received);
    });
    // Omits Node's message: it names addresses behind the host's name.
    request.on('error', (error) => {
      if (isTlsMissing(error)) reason = `${url.host} does not answer with TLS. ${adviceToTest(credential)}`;
      reject(new RefusedError(reason, 502));
    });
    request.once('close', () => reject(new RefusedError(reason, 502)));
  });
  // Those who write the body notice the end of the request first.
  response.catch(() => undefined);
  return { request, response };
}

/** A response, and the address that sent it. */
export interface UpstreamResponse {
  readonly response: IncomingMessage;
  readonly url: URL;
}

/**
 * Sends a request with a short body, or none, and follows redirects with the same method. The credential and
 * `ownHeaders` stay with the first origin. Rejects with RefusedError.
 */
export async function sendRequest(
  upstream: Upstream,
  first: UpstreamRequest & { readonly body: Buffer | null; readonly ownHeaders?: OutgoingHttpHeaders },
): Promise<UpstreamResponse> {
  let { url } = first;
  for (let count = 0; count <= maxRedirects; count++) {
    const isOwn = url.origin === first.url.origin;
    const { request, response } = startRequest(upstream, {
      ...first,
      url,
      headers: { ...first.headers, ...(isOwn ? first.ownHeaders : {}) },
      credential: isOwn ? first.credential : null,
    });
    request.end(first.body ?? undefined);
    const received = await response;
    if (!isRedirect(received.statusCode ?? 0)) return { response: received, url };
    received.destroy();
    url = redirectOf(received, url);
  }
  throw new RefusedError(`${first.url.host} redirected the request too often.`, 502);
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

function redirectOf({ headers }: IncomingMessage, url: URL): URL {
  const next = headers.location === undefined ? null : parseUrl(headers.location, url);
  if (next === null) throw new RefusedError(`${url.host} redirected the request to nowhere.`, 502);
  if (url.protocol === 'https:' && next.protocol !== 'https:')
    throw new RefusedError(`${url.host} redirected the request to an address without encryption.`, 502);
  next.hash = '';
  return next;
}

function authorization(credential: GitCredential | null): OutgoingHttpHeaders {
  return credential === null ? {} : { authorization: `Basic ${basicOf(credential)}` };
}

/** Encodes a credential as the header "Authorization" contains it. */
export function basicOf({ username, password }: GitCredential): string {
  return Buffer.from(`${username}:${password}`).toString('base64');
}
