import type { IncomingMessage } from 'node:http';
import { parseUrl } from '../common/parse-url.ts';

/** Refuses a request with an invalid path or `Host`. */
export function refuseAddress(): Response {
  return refuse(
    'The address of the request is none: its path must begin with "/" and be without "\\", and "Host" must be a host, with its port if it has one.',
  );
}

/**
 * Refuses a request whose address is not valid or not normalized; null for every other. Addresses are normalized before
 * they are routed: "/a/./b" becomes "/a/b". Clients normalize them too. But a path that only becomes the one that revokes
 * every key (docs/wire/v2.md#revoke-all-keys) must not revoke them.
 */
export function refuseNonCanonicalTarget(request: Request, { url = '' }: IncomingMessage): Response | null {
  // @hono/node-server accepts most invalid targets.
  if (parseUrl(request.url) === null) return refuseAddress();
  const [path = ''] = url.split('?');
  const isCanonical = !/[\\#]/.test(url) && !/(^|\/)(\.|%2e){1,2}(\/|$)/i.test(path);
  return isCanonical ? null : refuse('A path must be sent as it is meant: without ".", "..", "\\" and "#".');
}

// A problem of RFC 9457. Clients of every version read its `detail`.
function refuse(detail: string): Response {
  const body = JSON.stringify({ type: 'about:blank', title: 'Bad Request', status: 400, detail });
  return new Response(body, { status: 400, headers: { 'content-type': 'application/problem+json' } });
}
