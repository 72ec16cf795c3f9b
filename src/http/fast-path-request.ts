import type { IncomingMessage } from 'node:http';

/** What is asked for by a GET, or a POST whose body has a length, that every layer reads alike. */
export interface FastPathRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** What stands behind the "?"; '' where nothing does. */
  readonly search: string;
}

/** Of a version, with nothing in it that is tidied, decoded or refused on its way to a door. */
const fastPathTarget = /^(\/v\d(?:\/[\w-]+)+)(?:\?([!-"$-[\]-~]*))?$/;
// What ends in a number is read as an IPv4 address, and "xn--" as Unicode: not every one of these is a host.
const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const hostName = '(?!(?:.*\\.)?xn--)(?:[a-z0-9_-]+\\.)*[a-z_-][a-z0-9_-]*';
const canonicalHost = new RegExp(`^(?:${hostName}|${octet}(?:\\.${octet}){3})(?::\\d{1,4}|:[1-5]\\d{4})?$`);

/** Whether a `Host` is one that every reader of addresses takes as it is. */
export const isCanonicalHost = (host: string | undefined): boolean => canonicalHost.test(host ?? '');

/**
 * Null for what is to take the long way, where whatever is wrong with a request, or only unusual, is dealt with: a body of more
 * than `mostBytes` too.
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

/** Whether a header, by its name in small letters, came once: of some that come twice Node takes the first, others all. */
export function hasHeaderOnce(name: string, rawHeaders: readonly string[]): boolean {
  let times = 0;
  for (let n = 0; n < rawHeaders.length; n += 2) {
    const rawName = rawHeaders[n] as string;
    if (rawName.length === name.length && rawName.toLowerCase() === name) times += 1;
  }
  return times === 1;
}

/** The whole body of a request, also when the connection has ended after it. Rejects when it does not come to its end. */
export function readIncomingBody(incoming: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const end = () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    // A client that goes away at once has had its say: what waits to be read still is.
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
    // Then nothing more is told of it.
    if (incoming.destroyed) close();
  });
}
