import { parseUrl } from '../parse-url.ts';

/**
 * Whether a request was sent by a page of this service, as far as browsers say: by the header `Origin`, which they send
 * with every POST, DELETE and WebSocket, and which no page can change. `baseUrl`: the service's address, where a proxy
 * tells it another host than the browser's; of that host only its own scheme is taken.
 */
export function isOwnOrigin(
  origin: string | null | undefined,
  host: string | null | undefined,
  baseUrl: string,
): boolean {
  const parsedOrigin = origin ? parseUrl(origin) : null;
  if (!parsedOrigin) return false;
  const own = parseUrl(baseUrl);
  if (own && parsedOrigin.hostname === own.hostname && parsedOrigin.protocol !== own.protocol) return false;
  return parsedOrigin.origin === own?.origin || (Boolean(host) && parsedOrigin.host === host?.toLowerCase());
}

/** What a page of the console says with all it sends; other origins' pages would have to be allowed to send it. */
export function isFromConsole(headers: Headers): boolean {
  return headers.get('switchyard-client') === 'console';
}
