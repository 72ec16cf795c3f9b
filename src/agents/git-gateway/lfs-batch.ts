import type { IncomingMessage } from 'node:http';
import type { LfsAction } from './action-seal.ts';
import { readBody, readWhole } from './bodies.ts';
import { baseOf, below, credentialFor, type GitExchange, type GitGatewayParts, ownCredential } from './exchange.ts';
import { gitHeaders } from './git-headers.ts';
import { type BatchAction, batchRequestSchema, batchResponseSchema } from './lfs-schema.ts';
import { cleanText, lfsType, RefusedError } from './refusals.ts';
import { isGitRefusal } from './repositories.ts';
import { lfsActionPath } from './routes.ts';
import { sendRequest } from './upstream.ts';
import { readError } from './upstream-errors.ts';

/**
 * Passes on a batch request of LFS. The addresses in the response lead to the gateway, and the forge's own addresses
 * and headers stay outside, sealed in the addresses. Rejects with RefusedError.
 */
export async function passLfsBatch(parts: GitGatewayParts, exchange: GitExchange): Promise<void> {
  const { repository, incoming, outgoing, signal } = exchange;
  const { maxJsonBytes } = parts.limits;
  const text = await readWhole(readBody(incoming, { pace: parts.pace, signal }), maxJsonBytes);
  const batch = batchRequestSchema.safeParse(readJson(text));
  if (!batch.success) throw new RefusedError('The batch request of LFS cannot be read.', 422);
  const { operation, ref, objects } = batch.data;
  if (operation === 'upload') {
    const rules = await parts.access.rulesFor(repository);
    if (isGitRefusal(rules)) throw new RefusedError(rules.message);
  }
  const { credential, mask } = await credentialFor(parts, repository, operation === 'upload' ? 'write' : 'read');
  const url = lfsBase(baseOf(parts, repository), 'objects/batch');
  const sent = await sendRequest(parts.upstream, {
    method: 'POST',
    url,
    headers: { ...gitHeaders(incoming.headers), accept: lfsType, 'content-type': lfsType },
    credential: ownCredential(credential, repository, url),
    signal,
    body: Buffer.from(JSON.stringify({ operation, transfers: ['basic'], ...(ref ? { ref } : {}), objects })),
  });
  if (sent.response.statusCode !== 200) throw await readError(sent.response, repository, { credential, mask });
  const answered = batchResponseSchema.safeParse(readJson(await readResponse(sent.response, maxJsonBytes)));
  if (!answered.success) throw new RefusedError(`${repository.host} did not answer as an LFS server.`, 502);
  const sizes = new Map(objects.map(({ oid, size }) => [oid, size]));
  const found = answered.data.objects.map(({ oid, actions, error }) => {
    const size = sizes.get(oid);
    if (size === undefined) throw new RefusedError(`${repository.host} named an object that nobody asked for.`, 502);
    if (error) return { oid, size, error: { code: error.code, message: cleanText(mask(error.message)) } };
    const rewritten = Object.entries(actions ?? {}).map(
      ([kind, action]) =>
        [kind, rewrite(parts, exchange, { oid, size, kind: kind as LfsAction['kind'] }, action)] as const,
    );
    return { oid, size, authenticated: true, actions: Object.fromEntries(rewritten) };
  });
  const body = { transfer: 'basic', objects: found, 'hash_algo': 'sha256' };
  outgoing.writeHead(200, { 'content-type': lfsType }).end(JSON.stringify(body));
}

function rewrite(
  { seal, limits }: GitGatewayParts,
  { repository, incoming }: GitExchange,
  { oid, size, kind }: Pick<LfsAction, 'oid' | 'size' | 'kind'>,
  { href, header, expires_in, expires_at }: BatchAction,
) {
  if (size > limits.maxObjectBytes)
    throw new RefusedError(`An LFS object may take at most ${limits.maxObjectBytes} bytes; ${oid} has ${size}.`, 413);
  const token = seal.seal(repository.id, { kind, oid, size, href, header: header ?? {} });
  if (token === null) throw new RefusedError(`${repository.host} named an address for LFS that is too long.`, 502);
  const path = [repository.host, ...`${repository.path}.git`.split('/')].map(encodeURIComponent).join('/');
  return {
    href: `http://${incoming.headers.host}/${path}/${lfsActionPath}${token}`,
    header: {},
    ...(expires_in === undefined ? {} : { expires_in }),
    ...(expires_at === undefined ? {} : { expires_at }),
  };
}

// By the rules of git-lfs for repositories without a configured server.
function lfsBase(base: URL, path: string): URL {
  const url = below(base, '');
  const repositoryPath = url.pathname.replace(/\/+$/, '').replace(/\.git$/, '');
  url.pathname = `${repositoryPath}.git/info/lfs/${path}`;
  return url;
}

function readJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return null;
  }
}

async function readResponse(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) break;
      chunks.push(chunk);
    }
  } catch {
    // It is not complete, so it is no JSON.
  }
  response.destroy();
  return Buffer.concat(chunks);
}
