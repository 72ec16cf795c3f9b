import { createHash } from 'node:crypto';
import { Reply } from '../../http/reply.ts';
import type { RequestView } from '../../http/request-view.ts';

/**
 * Encodes a value as JSON. The response to a read has a validator, and becomes a 304 without a body if the client
 * already has the value (RFC 9110, 13). The validator is weak because the same value may be sent compressed or not. `version`: the
 * validator of a value that has one of its own, which responses to writes have too.
 */
export function jsonAnswer(request: RequestView, value: unknown, status: number = 200, version?: string): Reply {
  const { method } = request;
  const text = JSON.stringify(value);
  const headers = { 'content-type': 'application/json', ...(version !== undefined && { etag: version }) };
  if (status !== 200 || !isRead(method)) return new Reply(status, headers, text);
  const etag = version ?? `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  if (namesEtag(request.header('if-none-match'), etag)) return new Reply(304, { etag });
  if (method === 'GET') return new Reply(status, { ...headers, etag }, text);
  return new Reply(status, { ...headers, etag, 'content-length': String(Buffer.byteLength(text)) });
}

/**
 * Cache headers of a response whose endpoint sets none. The response is private and must be revalidated before reuse.
 * Errors, and responses that may hold a token shown only once, are not stored at all.
 */
export function cachingOf(method: string, status: number, negotiates: boolean) {
  return {
    'cache-control': isRead(method) && status < 400 ? 'private, no-cache' : 'no-store',
    vary: negotiates ? 'Authorization, Accept' : 'Authorization',
  } as const;
}

const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD';

/**
 * Tells if a header such as `If-None-Match` names a validator, or all of them. Compares weakly, as RFC 9110 requires for this header:
 * clients and proxies add and drop the "W/".
 */
export function namesEtag(header: string | null, etag: string): boolean {
  if (header === null) return false;
  if (header.trim() === '*') return true;
  const [, opaque] = /^W\/(".*")$/.exec(etag) ?? [];
  return (header.match(/"[^"]*"/g) ?? []).some((tag) => tag === opaque);
}
