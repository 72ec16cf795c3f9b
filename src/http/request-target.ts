import type { IncomingMessage } from 'node:http';
import { parseUrl } from '../common/parse-url.ts';
import { Reply } from './reply.ts';

/** The address of a request. */
export interface RequestTarget {
  /** Normalized and percent-encoded. */
  readonly path: string;
  /** The query without its "?"; '' if there is none. */
  readonly search: string;
}

// Most requests: nothing to normalize or decode. A host that ends in a number is parsed as an IPv4 address, and "xn--"
// as Unicode, so not all of them are valid hosts.
const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const hostName = '(?!(?:.*\\.)?xn--)(?:[a-z0-9_-]+\\.)*[a-z_-][a-z0-9_-]*';
const canonicalHost = new RegExp(`^(?:${hostName}|${octet}(?:\\.${octet}){3})(?::\\d{1,4}|:[1-5]\\d{4})?$`);
const canonicalTarget = /^((?:\/[\w-]+)+)(?:\?([!-"$-[\]-~]*))?$/;

/**
 * Reads the address of a request, or returns the refusal of one that is not valid or not canonical. Addresses are
 * normalized before they are routed: "/a/./b" becomes "/a/b". Clients normalize them too. But a path that only becomes
 * the one that revokes every key (docs/wire/v2.md#revoke-all-keys) must not revoke them.
 */
export function readTarget({ url = '', headers: { host = '' } }: IncomingMessage): RequestTarget | Reply {
  const [, canonicalPath, canonicalSearch = ''] = canonicalTarget.exec(url) ?? [];
  if (canonicalPath !== undefined && canonicalHost.test(host)) return { path: canonicalPath, search: canonicalSearch };
  const [path = ''] = url.split('?', 1);
  const parsed = path.includes('\\') ? null : parseTarget(url, host);
  if (parsed === null) return refuseAddress();
  const isCanonical = !/[\\#]/.test(url) && !/(^|\/)(\.|%2e){1,2}(\/|$)/i.test(path);
  if (!isCanonical) return refuse('The path must be normalized: without the segments "." and "..", "\\" and "#".');
  return { path: parsed.pathname, search: parsed.search.slice(1) };
}

/** A host in lower case with a port that is not a scheme's own. */
const plainHost = /^[a-z0-9._-]+(?::(?:[1-5]\d{3,4}|[6-9]\d{3}))?$/;

function parseTarget(url: string, host: string): URL | null {
  if (/^https?:\/\//.test(url)) return parseUrl(url);
  const parsed = url.startsWith('/') && host !== '' ? parseUrl(`http://${host}${url}`) : null;
  if (parsed === null || plainHost.test(host)) return parsed;
  // Otherwise a part of "Host" could become the path or a user's name.
  const name = host.replace(/:\d+$/, '').toLowerCase();
  return parsed.hostname.length === host.length || parsed.hostname === name ? parsed : null;
}

/** Refuses a request with an invalid path or `Host`. */
function refuseAddress(): Reply {
  return refuse(
    'The address of the request is invalid: the path must begin with "/" and must not contain "\\", and "Host" must be a host with an optional port.',
  );
}

// A problem of RFC 9457. Clients of every version read its `detail`.
function refuse(detail: string): Reply {
  const body = JSON.stringify({ type: 'about:blank', title: 'Bad Request', status: 400, detail });
  return new Reply(400, { 'content-type': 'application/problem+json' }, body);
}
