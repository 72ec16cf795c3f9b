import { parseUrl } from '../common/parse-url.ts';
import type { RequestView } from './request-view.ts';

/**
 * Returns true if a page of this service sent the request. Browsers send the header `Origin` with every POST, DELETE
 * and WebSocket, and no page can change it. `baseUrl`: the service's address, for a proxy that passes on another host
 * than the browser's; for that host, only its own scheme is accepted.
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

/**
 * Returns true if the request has the header of the console's pages. Pages of other origins may not send it without
 * permission.
 */
export function isFromConsole(request: RequestView): boolean {
  return request.header('switchyard-client') === 'console';
}
