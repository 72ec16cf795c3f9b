/** The CORS headers for pages of other origins. */
export interface Cors {
  /** The response to a preflight request; null for every other request. */
  preflight(request: Request): Response | null;
  /** The headers by which {@link Cors.allow} lets a page of an origin read a response. */
  headersFor(origin: string | null): Readonly<Record<string, string>>;
  /** Lets the page that sent the request read the response, whatever its status. */
  allow(request: Request, response: Response): Response;
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
  const headersOf = (origin: string | null): Record<string, string> => ({
    // Also sent without an `Origin`: otherwise a cache could serve that response to a page.
    ...(!isAny && allowedOrigins.size > 0 ? { vary: 'Origin' } : {}),
    ...(origin === null || !(isAny || allowedOrigins.has(origin))
      ? {}
      : { 'access-control-allow-origin': isAny ? '*' : origin }),
  });
  const appendCorsHeaders = (request: Request, headers: Headers): boolean => {
    const corsHeaders = headersOf(request.headers.get('origin'));
    for (const [name, value] of Object.entries(corsHeaders)) headers.append(name, value);
    return 'access-control-allow-origin' in corsHeaders;
  };
  return {
    preflight(request) {
      if (request.method !== 'OPTIONS' || !request.headers.has('access-control-request-method')) return null;
      const headers = new Headers();
      if (!appendCorsHeaders(request, headers)) return null;
      headers.append('vary', 'Access-Control-Request-Headers');
      headers.set('access-control-allow-methods', methods);
      headers.set(
        'access-control-allow-headers',
        request.headers.get('access-control-request-headers') ?? defaultHeaders,
      );
      headers.set('access-control-max-age', preflightMaxAge);
      return new Response(null, { status: 204, headers });
    },
    headersFor(origin) {
      const corsHeaders = headersOf(origin);
      return 'access-control-allow-origin' in corsHeaders
        ? { ...corsHeaders, 'access-control-expose-headers': exposedHeaders }
        : corsHeaders;
    },
    allow(request, response) {
      if (appendCorsHeaders(request, response.headers))
        response.headers.set('access-control-expose-headers', exposedHeaders);
      return response;
    },
  };
}
