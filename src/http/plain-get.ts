import type { IncomingMessage } from 'node:http';

/** What is asked for by a GET that every layer reads alike. */
export interface PlainGet {
  readonly path: string;
  /** What stands behind the "?"; '' where nothing does. */
  readonly search: string;
}

/** Of a version, with nothing in it that is tidied, decoded or refused on its way to a door. */
const plainTarget = /^(\/v\d(?:\/[\w-]+)+)(?:\?([!-"$-[\]-~]*))?$/;
const plainHost = /^[a-z0-9._-]+(?::\d{1,4}|:[1-5]\d{4})?$/;

/** Whether a `Host` is one that every reader of addresses takes as it is. */
export const isPlainHost = (host: string | undefined): boolean => plainHost.test(host ?? '');

/** Null for what is to take the long way, where whatever is wrong with a request, or only unusual, is dealt with. */
export function readPlainGet({ method, url = '', headers, rawHeaders }: IncomingMessage): PlainGet | null {
  if (method !== 'GET' || 'content-length' in headers || 'transfer-encoding' in headers) return null;
  if (!isPlainHost(headers.host) || !isNamedOnce('authorization', rawHeaders)) return null;
  const [, path, search = ''] = plainTarget.exec(url) ?? [];
  return path === undefined ? null : { path, search };
}

/** Whether a header, by its name in small letters, came once: of some that come twice Node takes the first, others all. */
export function isNamedOnce(name: string, rawHeaders: readonly string[]): boolean {
  let times = 0;
  for (let n = 0; n < rawHeaders.length; n += 2) {
    const given = rawHeaders[n] as string;
    if (given.length === name.length && given.toLowerCase() === name) times += 1;
  }
  return times === 1;
}
