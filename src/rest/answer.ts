import { createHash } from 'node:crypto';

/**
 * A value as JSON. One that is read has a validator, and is 304 without a body for who has it already (RFC 9110, 13). The
 * validator is weak, because the same value may be sent as it is or compressed.
 */
export function jsonAnswer(request: Request, value: unknown, status: number = 200): Response {
  const text = JSON.stringify(value);
  // Said here because an answer to HEAD has no body of which the length could be taken.
  const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) };
  if (status !== 200 || !isRead(request)) return new Response(text, { status, headers });
  const etag = `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  const isKnown = names(request.headers.get('if-none-match'), etag);
  return isKnown
    ? new Response(null, { status: 304, headers: { etag } })
    : new Response(text, { headers: { ...headers, etag } });
}

/**
 * What caches must know of an answer that its endpoint says nothing of: it is for this caller alone and is asked about
 * before it is used again; a refusal, or what may hold a token that is shown once, is not kept at all.
 */
export function withCaching(request: Request, response: Response, negotiates: boolean): Response {
  const { headers, status } = response;
  if (!headers.has('cache-control')) {
    headers.set('cache-control', isRead(request) && status < 400 ? 'private, no-cache' : 'no-store');
  }
  headers.append('vary', negotiates ? 'Authorization, Accept' : 'Authorization');
  return response;
}

const isRead = ({ method }: Request): boolean => method === 'GET' || method === 'HEAD';

// Compared weakly, as RFC 9110 has it for this header: clients and proxies add and drop the "W/".
function names(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const [, opaque] = /^W\/(".*")$/.exec(etag) ?? [];
  return (ifNoneMatch.match(/"[^"]*"/g) ?? []).some((tag) => tag === opaque);
}
