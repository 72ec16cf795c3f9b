import { framingHeaders } from '../gateway/framing.ts';
import { closeAfter } from '../gateway/refusals.ts';
import { readBody, tooLarge, writeBody } from './bodies.ts';
import { baseOf, below, credentialFor, type GitExchange, type GitGatewayParts, ownCredential } from './exchange.ts';
import { gitHeaders, isGzip, serviceHeaders } from './git-headers.ts';
import { RefusedError } from './refusals.ts';
import { isGitRefusal } from './repositories.ts';
import { isGitResponse, sendResponse } from './respond.ts';
import type { GitService } from './routes.ts';
import { sendRequest, startRequest } from './upstream.ts';
import { readError } from './upstream-errors.ts';

const refsPath = 'info/refs';

/** Passes on the list of refs with which a fetch or push begins. Rejects with RefusedError. */
export async function passAdvertisement(
  parts: GitGatewayParts,
  exchange: GitExchange,
  service: GitService,
): Promise<void> {
  const { repository, incoming, signal } = exchange;
  if (service === 'receive-pack') {
    const rules = await parts.access.rulesFor(repository);
    if (isGitRefusal(rules)) throw new RefusedError(rules.message);
  }
  const { credential, secrets, mask } = await credentialFor(
    parts,
    repository,
    service === 'receive-pack' ? 'write' : 'read',
  );
  const url = below(new URL(repository.url), refsPath);
  url.search = `?service=git-${service}`;
  const headers = { ...gitHeaders(incoming.headers), accept: '*/*' };
  const sent = await sendRequest(parts.upstream, { method: 'GET', url, headers, credential, signal, body: null });
  const { response } = sent;
  const type = `${service}-advertisement`;
  if (response.statusCode !== 200) throw await readError(response, repository, { credential, mask });
  if (!isGitResponse(response, type) || !sent.url.pathname.endsWith(`/${refsPath}`)) {
    response.destroy();
    throw new RefusedError(`${repository.host} did not answer as a git server for ${repository.path}.`, 502);
  }
  const base = new URL(sent.url.pathname.slice(0, -refsPath.length), sent.url.origin);
  parts.moved.set(repository.url, base);
  await sendResponse(parts, exchange, { response, type, secrets });
}

/** Passes on a request to git-upload-pack: a part of a fetch. Rejects with RefusedError. */
export async function passFetch(parts: GitGatewayParts, exchange: GitExchange): Promise<void> {
  const { repository, incoming, outgoing, framing, signal } = exchange;
  const { maxRequestBytes } = parts.limits;
  const headers = {
    ...serviceHeaders(incoming.headers, 'upload-pack'),
    ...(isGzip(incoming.headers) ? { 'content-encoding': 'gzip' } : {}),
    ...framingHeaders('POST', framing),
  };
  const { credential, secrets, mask } = await credentialFor(parts, repository, 'read');
  const url = below(baseOf(parts, repository), 'git-upload-pack');
  const own = ownCredential(credential, repository, url);
  const { request, response: answer } = startRequest(parts.upstream, {
    method: 'POST',
    url,
    headers,
    credential: own,
    signal,
  });
  const body = readBody(incoming, { pace: parts.pace, signal });
  // `git http-backend` sends the head of its response first.
  const end = await writeBody(body, request, { maxBytes: maxRequestBytes, isAnsweredEarly: true });
  if (end !== 'complete') closeAfter(outgoing);
  if (end === 'too large') {
    request.destroy();
    throw new RefusedError(tooLarge(maxRequestBytes), 413);
  }
  const response = await answer;
  const type = 'upload-pack-result';
  if (!isGitResponse(response, type)) throw await readError(response, repository, { credential, mask });
  await sendResponse(parts, exchange, { response, type, secrets });
}
