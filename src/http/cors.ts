import { appended, Reply } from './reply.ts';
import type { RequestView } from './request-view.ts';

/** The CORS headers for pages of other origins. */
export interface Cors {
  /** The response to a preflight request; null for every other request. */
  preflight(request: RequestView): Reply | null;
  /** Lets the page that sent the request read the response, of any status. */
  allow(request: RequestView, reply: Reply): Reply;
}

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE';

/** The allowed request headers if the preflight request names none. */
const defaultHeaders = 'Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID';

/** The response headers that a page may read, besides those that browsers always expose. */
const exposedHeaders = [
  'Allow',
  'Content-Disposition',
  'Content-Range',
  'Deprecation',
  'ETag',
  'Link',
  'Location',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'Sunset',
  'WWW-Authenticate',
  'X-Request-Id',
].join(', ');

/** The time that a browser may cache a preflight response, in seconds. */
const preflightMaxAge = '600';

/**
 * Allows pages of these origins to call every API; `*` allows any origin. Never allows the browser's own credentials: a
 * page needs a token, and the cookies of its user do not count. Without origins, no header is sent and browsers refuse
 * every page.
 */
export function createCors(origins: readonly string[]): Cors {
  const isAny = origins.includes('*');
  const allowedOrigins = new Set(origins);
  /** The value of `Access-Control-Allow-Origin`; null if the page may not read the response. */
  const allowedOrigin = (request: RequestView): string | null => {
    const origin = request.header('origin');
    if (origin === null || !(isAny || allowedOrigins.has(origin))) return null;
    return isAny ? '*' : origin;
  };
  return {
    preflight(request) {
      if (request.method !== 'OPTIONS' || request.header('access-control-request-method') === null) return null;
      const origin = allowedOrigin(request);
      if (origin === null) return null;
      return new Reply(204, {
        'vary': isAny ? 'Access-Control-Request-Headers' : 'Origin, Access-Control-Request-Headers',
        'access-control-allow-origin': origin,
        'access-control-allow-methods': methods,
        'access-control-allow-headers': request.header('access-control-request-headers') ?? defaultHeaders,
        'access-control-max-age': preflightMaxAge,
      });
    },
    allow(request, reply) {
      if (allowedOrigins.size === 0) return reply;
      const origin = allowedOrigin(request);
      return reply.with({
        // Also sent without an `Origin`: otherwise a cache could serve that response to a page.
        ...(isAny ? {} : { vary: appended(reply.headers.vary, 'Origin') }),
        ...(origin === null
          ? {}
          : { 'access-control-allow-origin': origin, 'access-control-expose-headers': exposedHeaders }),
      });
    },
  };
}
