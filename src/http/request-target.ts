import type { IncomingMessage } from 'node:http';
import { parseUrl } from '../parse-url.ts';

/** Refuses a request with an invalid path or `Host`. */
export function refuseAddress(): Response {
  return refuse(
    'The address of the request is none: its path must begin with "/" and be without "\\", and "Host" must be a host, with its port if it has one.',
  );
}

/**
 * Refuses a request whose address is none, or is not what was sent; null for every other. What an address says is tidied
 * before any door sees it: "/a/./b" and "/a/b" are the same there. Clients tidy it themselves. Where one path revokes every
 * key (pinned 2), another that only becomes it must not.
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
