import type { IncomingMessage } from 'node:http';

/** A GET, or a POST whose body has a length, that every layer interprets alike. */
export interface FastPathRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** The query without its "?"; '' if there is none. */
  readonly search: string;
}

/** A path of a version that needs no normalization or decoding, and that no other layer refuses. */
const fastPathTarget = /^(\/v\d(?:\/[\w-]+)+)(?:\?([!-"$-[\]-~]*))?$/;
// A host that ends in a number is parsed as an IPv4 address, and "xn--" as Unicode, so not all of them are valid hosts.
const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const hostName = '(?!(?:.*\\.)?xn--)(?:[a-z0-9_-]+\\.)*[a-z_-][a-z0-9_-]*';
const canonicalHost = new RegExp(`^(?:${hostName}|${octet}(?:\\.${octet}){3})(?::\\d{1,4}|:[1-5]\\d{4})?$`);

/** Returns true for a `Host` that every URL parser leaves unchanged. */
export const isCanonicalHost = (host: string | undefined): boolean => canonicalHost.test(host ?? '');

/**
 * Reads a request for the fast path. Null for a request with any problem or unusual feature, such as a body of more
 * than `maxBytes`: the normal path handles it.
 */
export function readFastPathRequest(
  { method, url = '', headers, rawHeaders }: IncomingMessage,
  maxBytes: number,
): FastPathRequest | null {
  const length = headers['content-length'];
  if ('transfer-encoding' in headers || !isCanonicalHost(headers.host)) return null;
  if (method !== 'GET' && method !== 'POST') return null;
  if (method === 'GET' ? length !== undefined : !(Number(length) <= maxBytes)) return null;
  if (!hasHeaderOnce('authorization', rawHeaders)) return null;
  const [, path, search = ''] = fastPathTarget.exec(url) ?? [];
  return path === undefined ? null : { method, path, search };
}

/**
 * Returns true if a header, given by its lower-case name, occurs exactly once. Of repeated headers, Node keeps the
 * first one for some names and all for others.
 */
export function hasHeaderOnce(name: string, rawHeaders: readonly string[]): boolean {
  let times = 0;
  for (let n = 0; n < rawHeaders.length; n += 2) {
    const rawName = rawHeaders[n] as string;
    if (rawName.length === name.length && rawName.toLowerCase() === name) times += 1;
  }
  return times === 1;
}

/** Reads the complete body of a request, even if the connection closes after it. Rejects if the body is incomplete. */
export function readIncomingBody(incoming: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const end = () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    // A client may disconnect right after its request; the buffered data is still read.
    const onInterrupted = (error: Error) => {
      if (!incoming.complete) return reject(error);
      for (let chunk = incoming.read(); chunk !== null; chunk = incoming.read()) chunks.push(chunk);
      end();
    };
    const close = () => onInterrupted(new Error('The connection ended within the body.'));
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', end);
    incoming.on('error', onInterrupted);
    incoming.on('close', close);
    // In that case no further event follows.
    if (incoming.destroyed) close();
  });
}
