/** What browsers are told about pages of other origins. */
export interface Cors {
  /** The answer to a browser that asks before it sends; null for every other request. */
  preflight(request: Request): Response | null;
  /** The headers by which {@link Cors.allow} lets a page of an origin read an answer. */
  headersFor(origin: string | null): Readonly<Record<string, string>>;
  /** Lets the page that asked read the answer, whatever its status. */
  allow(request: Request, response: Response): Response;
}

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE';

/** What a page may send where it does not say itself what it would like to. */
const defaultHeaders = 'Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID';

/** What a page may read beside the few headers that browsers show anyway. */
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

/** How long a browser may remember a preflight, in seconds. */
const preflightMaxAge = '600';

/**
 * Pages of these origins may call every door; `*`: those of any. Never with the browser's own credentials: what lets a
 * page in is a token that it has, not who sits before it. No origins: nothing is said, and browsers let no page in.
 */
export function createCors(origins: readonly string[]): Cors {
  const isAny = origins.includes('*');
  const allowedOrigins = new Set(origins);
  const headersOf = (origin: string | null): Record<string, string> => ({
    // Also said to who has no origin: what a cache keeps of that answer is no answer to a page.
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
