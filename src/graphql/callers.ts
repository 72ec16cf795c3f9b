import type { IncomingHttpHeaders } from 'node:http';
import { authenticateConsole } from '../auth/authenticate.ts';
import { readToken } from '../auth/tokens.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { Services } from '../domain/context.ts';
import { DomainError } from '../domain/errors.ts';
import { authenticateLimited } from '../domain/limits/authenticate-limited.ts';
import { readConsoleCookie } from '../http/console-cookie.ts';
import { isFromConsole, isOwnOrigin } from '../http/same-origin.ts';

/**
 * With which sign-in of the browser a page of the console began. Its cookie may have become another's since, by a sign-in in
 * another tab: nothing is then done in the name of somebody whom the page does not show.
 */
export const signInHeader = 'switchyard-sign-in';

// Pages that have not heard yet, and programs, do not say.
function isOf(signIn: unknown): (viewer: Viewer) => Viewer {
  return (viewer) => {
    if (typeof signIn !== 'string' || signIn === viewer.consoleSessionId) return viewer;
    throw new DomainError('UNAUTHENTICATED', 'This browser was signed in anew: load the page again.');
  };
}

/** Who calls. Both reject with UNAUTHENTICATED. */
export interface Callers {
  ofRequest(headers: Headers, address: string | null): Promise<Viewer>;
  /** `params`: what the client said when it opened the connection. */
  ofSocket(
    headers: IncomingHttpHeaders,
    params: Record<string, unknown> | undefined,
    address: string | null,
  ): Promise<Viewer>;
}

/**
 * A caller is known by a token or, a page of the console, by its cookie. Browsers send the cookie for whatever page asks:
 * so it counts only with a header that pages of other origins may not send, and on a socket, which has no such headers,
 * only where the browser says that a page of this service opens it.
 */
export function createCallers(services: Services): Callers {
  const byToken = (token: string | null, address: string | null) => authenticateLimited(services, token, address);
  return {
    ofRequest(headers, address) {
      const authorization = headers.get('authorization');
      const cookie =
        authorization === null && isFromConsole(headers)
          ? readConsoleCookie(headers.get('cookie'), services.baseUrl)
          : null;
      const origin = headers.get('origin');
      const isOwn = origin === null || isOwnOrigin(origin, headers.get('host'), services.baseUrl);
      if (cookie !== null && isOwn) {
        return authenticateConsole(services, cookie, address).then(isOf(headers.get(signInHeader)));
      }
      return byToken(readToken(authorization, false), address);
    },
    ofSocket(headers, params, address) {
      const given = params?.authorization ?? params?.Authorization;
      if (typeof given === 'string') return byToken(readToken(given, true), address);
      const cookie = headers.authorization === undefined ? readConsoleCookie(headers.cookie, services.baseUrl) : null;
      if (cookie !== null && isOwnOrigin(headers.origin, headers.host, services.baseUrl))
        return authenticateConsole(services, cookie, address).then(isOf(params?.signIn));
      return byToken(readToken(headers.authorization, false), address);
    },
  };
}
