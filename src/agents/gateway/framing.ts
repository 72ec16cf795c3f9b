import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';

/** Framing of a request body: none, a known length in bytes, or chunks; or the reason for which it is refused. */
export type Framing =
  | { readonly type: 'none' }
  | { readonly type: 'length'; readonly bytes: number }
  | { readonly type: 'chunked' }
  | { readonly type: 'invalid'; readonly reason: string };

/** The parts of a request that decide its framing. */
export type FramedRequest = Pick<IncomingMessage, 'method' | 'rawHeaders' | 'httpVersion'>;

/**
 * Reads the framing of a request body. Only POST may have a body. Stricter than RFC 9112: a request that two programs
 * could interpret differently is refused.
 */
export function framingOf({ method, rawHeaders, httpVersion }: FramedRequest): Framing {
  const lengths = valuesOf(rawHeaders, 'content-length');
  const codings = valuesOf(rawHeaders, 'transfer-encoding');
  const [length] = lengths;
  const [coding] = codings;
  if (httpVersion !== '1.0' && httpVersion !== '1.1') return invalid('It must be HTTP/1.1.');
  if (lengths.length + codings.length > 1) return invalid('Its length is given more than once.');
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion !== '1.1'))
    return invalid('"chunked", in HTTP/1.1, is the only transfer coding that is accepted.');
  if (length !== undefined && !/^\d{1,15}$/.test(length)) return invalid('Its Content-Length is not a number.');
  const bytes = Number(length ?? 0);
  if (method !== 'POST' && (coding !== undefined || bytes > 0)) return invalid('Only POST may have a body.');
  if (coding !== undefined) return { type: 'chunked' };
  return bytes > 0 ? { type: 'length', bytes } : { type: 'none' };
}

/** The headers by which the gateway frames the same body. */
export function framingHeaders(method: string, framing: Exclude<Framing, { type: 'invalid' }>): OutgoingHttpHeaders {
  if (framing.type === 'chunked') return { 'transfer-encoding': 'chunked' };
  if (framing.type === 'length') return { 'content-length': framing.bytes };
  return method === 'POST' ? { 'content-length': 0 } : {};
}

function invalid(reason: string): Framing {
  return { type: 'invalid', reason: `The framing of the request is invalid. ${reason}` };
}

// From the raw headers: Node joins or drops repeated ones.
function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.filter((_, n) => n % 2 === 1 && rawHeaders[n - 1]?.toLowerCase() === name);
}
