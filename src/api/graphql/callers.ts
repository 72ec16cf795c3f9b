import type { IncomingHttpHeaders } from 'node:http';
import { authenticateConsole } from '../../auth/authenticate.ts';
import { readToken } from '../../auth/tokens.ts';
import type { Viewer } from '../../auth/viewer.ts';
import { DomainError } from '../../common/errors.ts';
import type { Services } from '../../domain/context.ts';
import { authenticateLimited } from '../../domain/limits/authenticate-limited.ts';
import { pageSecretHeader, readConsoleCookies, readPageSecret } from '../../http/console-cookie.ts';
import type { RequestView } from '../../http/request-view.ts';
import { isFromConsole, isOwnOrigin } from '../../http/same-origin.ts';

/**
 * The header with the browser sign-in under which a page of the console was loaded. A sign-in in another tab may have
 * replaced the cookie since. The check prevents operations by a user other than the one that the page shows.
 */
export const signInHeader = 'switchyard-sign-in';

// Programs, and pages that do not know their sign-in yet, send no such header.
function isOf(signIn: unknown): (viewer: Viewer) => Viewer {
  return (viewer) => {
    if (typeof signIn !== 'string' || signIn === viewer.consoleSessionId) return viewer;
    throw new DomainError('UNAUTHENTICATED', 'This browser has signed in again. Reload the page.');
  };
}

/** Identifies callers. Both functions reject with UNAUTHENTICATED. */
export interface Callers {
  ofRequest(request: RequestView): Promise<Viewer>;
  /** `params`: the payload of `connection_init`. */
  ofSocket(
    headers: IncomingHttpHeaders,
    params: Record<string, unknown> | undefined,
    address: string | null,
  ): Promise<Viewer>;
}

/**
 * Identifies callers by a token or, for a page of the console, by the two halves of its sign-in: the cookie and the
 * page secret. Browsers send the cookie to every port of the host, so any server there may know it; the cookie alone
 * gives no access. The page secret is in the storage of the console's origin, and only its pages send it. Other origins
 * are refused too: over HTTP by a header that their pages may not send, on a socket by the `Origin`.
 */
export function createCallers(services: Services): Callers {
  const byToken = (token: string | null, address: string | null) => authenticateLimited(services, token, address);
  return {
    ofRequest(request) {
      const { address } = request;
      const authorization = request.header('authorization');
      const isConsole = authorization === null && isFromConsole(request);
      const cookies = isConsole ? readConsoleCookies(request.header('cookie'), services.baseUrl) : [];
      const origin = request.header('origin');
      const isOwn = origin === null || isOwnOrigin(origin, request.header('host'), services.baseUrl);
      if (cookies.length > 0 && isOwn) {
        const halves = { cookies, pageSecret: readPageSecret(request.header(pageSecretHeader)) };
        return authenticateConsole(services, halves, address).then(isOf(request.header(signInHeader)));
      }
      return byToken(readToken(authorization, false), address);
    },
    ofSocket(headers, params, address) {
      const authorization = params?.authorization ?? params?.Authorization;
      if (typeof authorization === 'string') return byToken(readToken(authorization, true), address);
      const cookies = headers.authorization === undefined ? readConsoleCookies(headers.cookie, services.baseUrl) : [];
      if (cookies.length > 0 && isOwnOrigin(headers.origin, headers.host, services.baseUrl)) {
        const halves = { cookies, pageSecret: readPageSecret(params?.pageSecret) };
        return authenticateConsole(services, halves, address).then(isOf(params?.signIn));
      }
      return byToken(readToken(headers.authorization, false), address);
    },
  };
}
