import { createHash } from 'node:crypto';
import type { JsonAnswer } from '../../http/response-finalizer.ts';

/** The parts of a request on which the response to a read depends, besides the value itself. */
export interface Reading {
  readonly method: string;
  /** The header `If-None-Match`. */
  readonly ifNoneMatch: string | null | undefined;
}

/**
 * Encodes a value as JSON. The response to a read has a validator, and becomes a 304 without a body if the client
 * already has the value (RFC 9110, 13). The validator is weak because the same value may be sent compressed or not.
 */
export function jsonAnswer({ method, ifNoneMatch }: Reading, value: unknown, status: number = 200): JsonAnswer {
  const text = JSON.stringify(value);
  const headers = { 'content-type': 'application/json' };
  if (status !== 200 || !isRead(method)) return { status, headers, text };
  const etag = `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  return names(ifNoneMatch, etag)
    ? { status: 304, headers: { etag }, text: null }
    : { status, headers: { ...headers, etag }, text };
}

/** Converts a response to a Fetch API `Response`. */
export function toResponse({ status, headers, text }: JsonAnswer): Response {
  if (text === null) return new Response(null, { status, headers: { ...headers } });
  // Set explicitly: the response to a HEAD request has no body from which the length could be derived.
  return new Response(text, { status, headers: { ...headers, 'content-length': String(Buffer.byteLength(text)) } });
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

// Weak comparison, as RFC 9110 requires for this header: clients and proxies add and drop the "W/".
function names(ifNoneMatch: string | null | undefined, etag: string): boolean {
  if (ifNoneMatch == null) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const [, opaque] = /^W\/(".*")$/.exec(etag) ?? [];
  return (ifNoneMatch.match(/"[^"]*"/g) ?? []).some((tag) => tag === opaque);
}
