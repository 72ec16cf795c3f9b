import type { OutgoingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseUrl } from '../../common/parse-url.ts';
import { createChunkCoalescer } from '../gateway/chunk-coalescer.ts';
import { closeAfter } from '../gateway/refusals.ts';
import type { LfsAction } from './action-seal.ts';
import { createByteLimit, readBody, readWhole, tooLarge, writeBody } from './bodies.ts';
import { credentialFor, type GitExchange, type GitGatewayParts, ownCredential } from './exchange.ts';
import { gitHeaders } from './git-headers.ts';
import { lfsType, RefusedError } from './refusals.ts';
import { isGitRefusal } from './repositories.ts';
import { sendRequest, startRequest } from './upstream.ts';
import { readError } from './upstream-errors.ts';

/** The methods of the actions, as LFS defines them. */
const methods = { download: 'GET', upload: 'PUT', verify: 'POST' } as const;

/** Headers of an action that the gateway sets itself, or that belong to a connection. */
const ownHeaders =
  /^(host|connection|keep-alive|proxy-.*|te|trailer|upgrade|expect|content-length|transfer-encoding|accept-encoding)$/i;

/** The prepared request of an action. */
interface Prepared {
  readonly action: LfsAction;
  readonly url: URL;
  readonly headers: OutgoingHttpHeaders;
  readonly credential: Awaited<ReturnType<typeof credentialFor>>['credential'];
  mask(text: string): string;
}

/** Passes on a download, an upload or its confirmation, by the token of a batch response. Rejects with RefusedError. */
export async function passLfsAction(parts: GitGatewayParts, exchange: GitExchange, token: string): Promise<void> {
  const { repository, incoming } = exchange;
  const action = parts.seal.open(repository.id, token);
  if (action === null || incoming.method !== methods[action.kind])
    throw new RefusedError('The address is not from a batch response of this gateway.', 404);
  const url = parseUrl(action.href);
  if (url === null) throw new RefusedError(`${repository.host} named an invalid address for LFS.`, 502);
  if (action.kind !== 'download') {
    const rules = await parts.access.rulesFor(repository);
    if (isGitRefusal(rules)) throw new RefusedError(rules.message);
  }
  const isSigned = Object.keys(action.header).some((name) => name.toLowerCase() === 'authorization');
  const found = await credentialFor(parts, repository, action.kind === 'download' ? 'read' : 'write');
  const credential = isSigned || isPresigned(url) ? null : ownCredential(found.credential, repository, url);
  const headers = Object.fromEntries(Object.entries(action.header).filter(([name]) => !ownHeaders.test(name)));
  const prepared = { action, url, headers, credential, mask: found.mask };
  if (action.kind === 'download') return download(parts, exchange, prepared);
  if (action.kind === 'upload') return upload(parts, exchange, prepared);
  return verify(parts, exchange, prepared);
}

async function download(
  parts: GitGatewayParts,
  { incoming, outgoing, repository, signal }: GitExchange,
  { action, url, headers, credential, mask }: Prepared,
): Promise<void> {
  const { range } = incoming.headers;
  const isRange = range !== undefined && /^bytes=\d{1,15}-\d{0,15}$/.test(range);
  const { response } = await sendRequest(parts.upstream, {
    method: 'GET',
    url,
    headers: { ...gitHeaders(incoming.headers), ...(isRange ? { range } : {}) },
    ownHeaders: headers,
    credential,
    signal,
    body: null,
  });
  const { statusCode: status = 0 } = response;
  if (status !== 200 && !(isRange && status === 206)) throw await readError(response, repository, { credential, mask });
  const { 'content-length': length, 'content-range': contentRange = '' } = response.headers;
  outgoing.writeHead(status, {
    'content-type': 'application/octet-stream',
    ...(length !== undefined && /^\d{1,15}$/.test(length) ? { 'content-length': length } : {}),
    ...(/^bytes [\d/*-]{1,60}$/.test(contentRange) ? { 'content-range': contentRange } : {}),
  });
  const limit = createByteLimit(action.size);
  await pipeline([response, createChunkCoalescer(parts.pace), limit, outgoing as Writable]);
}

async function upload(
  parts: GitGatewayParts,
  { incoming, outgoing, repository, framing, signal }: GitExchange,
  { action, url, headers, credential, mask }: Prepared,
): Promise<void> {
  const length = framing.type === 'length' ? framing.bytes : 0;
  if (framing.type !== 'chunked' && length !== action.size) {
    closeAfter(outgoing);
    throw new RefusedError(`The object has ${length} bytes, and ${action.size} were announced.`, 422);
  }
  const { request, response: received } = startRequest(parts.upstream, {
    method: 'PUT',
    url,
    // An object store may not accept chunks, and the size is known.
    headers: {
      'content-type': 'application/octet-stream',
      ...gitHeaders(incoming.headers),
      ...headers,
      'content-length': action.size,
    },
    credential,
    signal,
  });
  const end = await writeBody(readBody(incoming, { pace: parts.pace, signal }), request, { maxBytes: action.size });
  if (end !== 'complete') closeAfter(outgoing);
  if (end === 'too large') {
    request.destroy();
    throw new RefusedError(tooLarge(action.size), 413);
  }
  const response = await received;
  const { statusCode: status = 0 } = response;
  if (status < 200 || status >= 300) throw await readError(response, repository, { credential, mask });
  response.destroy();
  outgoing.writeHead(200, { 'content-length': 0 }).end();
}

async function verify(
  parts: GitGatewayParts,
  { incoming, outgoing, repository, signal }: GitExchange,
  { action, url, headers, credential, mask }: Prepared,
): Promise<void> {
  await readWhole(readBody(incoming, { pace: parts.pace, signal }), parts.limits.maxJsonBytes);
  const { response } = await sendRequest(parts.upstream, {
    method: 'POST',
    url,
    headers: { ...gitHeaders(incoming.headers), accept: lfsType, 'content-type': lfsType },
    ownHeaders: headers,
    credential,
    signal,
    body: Buffer.from(JSON.stringify({ oid: action.oid, size: action.size })),
  });
  const { statusCode: status = 0 } = response;
  if (status < 200 || status >= 300) throw await readError(response, repository, { credential, mask });
  response.destroy();
  outgoing.writeHead(200, { 'content-length': 0 }).end();
}

// Object stores refuse a request that has both a signature in its address and another authorization.
function isPresigned({ searchParams }: URL): boolean {
  return [...searchParams.keys()].some((name) => /(^|-)sig(nature)?$/i.test(name));
}
