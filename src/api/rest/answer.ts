import { createHash } from 'node:crypto';
import type { JsonAnswer } from '../../http/response-finalizer.ts';

/** What an answer to a request for a value depends on, beside the value. */
export interface Reading {
  readonly method: string;
  /** The header `If-None-Match`. */
  readonly ifNoneMatch: string | null | undefined;
}

/**
 * A value as JSON. One that is read has a validator, and is 304 without a body for who has it already (RFC 9110, 13). The
 * validator is weak, because the same value may be sent as it is or compressed.
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

/** An answer as an object of the platform. */
export function toResponse({ status, headers, text }: JsonAnswer): Response {
  if (text === null) return new Response(null, { status, headers: { ...headers } });
  // Said here because an answer to HEAD has no body of which the length could be taken.
  return new Response(text, { status, headers: { ...headers, 'content-length': String(Buffer.byteLength(text)) } });
}

/**
 * What caches must know of an answer that its endpoint says nothing of: it is for this caller alone and is asked about
 * before it is used again; a refusal, or what may hold a token that is shown once, is not kept at all.
 */
export function cachingOf(method: string, status: number, negotiates: boolean) {
  return {
    'cache-control': isRead(method) && status < 400 ? 'private, no-cache' : 'no-store',
    vary: negotiates ? 'Authorization, Accept' : 'Authorization',
  } as const;
}

const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD';

// Compared weakly, as RFC 9110 has it for this header: clients and proxies add and drop the "W/".
function names(ifNoneMatch: string | null | undefined, etag: string): boolean {
  if (ifNoneMatch == null) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const [, opaque] = /^W\/(".*")$/.exec(etag) ?? [];
  return (ifNoneMatch.match(/"[^"]*"/g) ?? []).some((tag) => tag === opaque);
}
