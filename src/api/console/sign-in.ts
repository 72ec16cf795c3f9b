import { authenticateConsole, invalidKeyMessage, notSignedInMessage } from '../../auth/authenticate.ts';
import { readToken } from '../../auth/tokens.ts';
import { DomainError, RateLimitedError, UnavailableError } from '../../common/errors.ts';
import type { Services } from '../../domain/context.ts';
import { endConsoleSession } from '../../domain/identity/keys/console-sessions.ts';
import { confirmSignIn, type SignInInput, signIn } from '../../domain/identity/keys/sign-in.ts';
import { asRefusal } from '../../domain/unavailable.ts';
import {
  consoleCookie,
  noConsoleCookies,
  pageSecretHeader,
  readConsoleCookies,
  readPageSecret,
} from '../../http/console-cookie.ts';
import { isFromConsole, isOwnOrigin } from '../../http/same-origin.ts';
import { readJson } from './read-json.ts';

type SignInHandler = (request: Request, address: string | null) => Promise<Response>;
type MethodHandlers = Readonly<Record<string, SignInHandler>>;

const invalidToken =
  "That token isn't valid. Check for typos, or create a new one: it may have expired or been revoked.";
const needsInput = 'A JSON object with "token" or "link" is needed, of at most 4 KiB.';
const needsToken = 'A JSON object with "token" is needed, of at most 4 KiB.';

/**
 * Handles `/console/session`: POST `{token}` or `{link}` signs a browser in and answers `{pageSecret}`; DELETE signs it
 * out. Handles `/console/session/confirmation`: POST `{token}` confirms the sign-in with the token of its key. Accepts
 * requests of this service's pages only: they have the header `Switchyard-Client: console` and the service's own
 * origin. Returns null for other paths.
 */
export function createSignIn(
  services: Services,
): (request: Request, address: string | null) => Promise<Response> | null {
  const session: MethodHandlers = {
    async POST(request, address) {
      const input = readSignIn(await readJson(request));
      if (input === null) return errorResponse(400, 'INVALID_INPUT', needsInput);
      const { code, pageSecret, expiresAt } = await signIn(services, input, address);
      // A browser has one sign-in. The previous one ends, together with everything that other tabs have open.
      const replaced = pageSecretOf(request);
      if (replaced !== null) await endConsoleSession(services, replaced);
      const seconds = Math.round((expiresAt.getTime() - services.now().getTime()) / 1_000);
      const headers = { 'cache-control': 'no-store', 'set-cookie': consoleCookie(code, seconds, services.baseUrl) };
      return Response.json({ pageSecret }, { headers });
    },
    async DELETE(request) {
      const pageSecret = pageSecretOf(request);
      const isEnded = pageSecret !== null && (await endConsoleSession(services, pageSecret));
      // The browser drops the cookie in both cases. A cookie alone ends no sign-in: other servers on the host see it
      // too.
      const response = isEnded
        ? new Response(null, { status: 204, headers: { 'cache-control': 'no-store' } })
        : errorResponse(401, 'UNAUTHENTICATED', notSignedInMessage);
      for (const cookie of noConsoleCookies) response.headers.append('set-cookie', cookie);
      return response;
    },
  };
  const confirmation: MethodHandlers = {
    async POST(request, address) {
      const cookies = readConsoleCookies(request.headers.get('cookie'), services.baseUrl);
      const viewer = await authenticateConsole(services, { cookies, pageSecret: pageSecretOf(request) }, address);
      const token = (await readJson(request))?.token;
      if (typeof token !== 'string') return errorResponse(400, 'INVALID_INPUT', needsToken);
      await confirmSignIn(services, viewer, readToken(token, true), address);
      return new Response(null, { status: 204, headers: { 'cache-control': 'no-store' } });
    },
  };
  const routes = new Map([
    ['/console/session', session],
    ['/console/session/confirmation', confirmation],
  ]);
  const answer = async (handlers: MethodHandlers, request: Request, address: string | null) => {
    const handler = handlers[request.method];
    if (!handler) {
      const names = Object.keys(handlers);
      const message = `Only ${names.join(' and ')} can be asked for here.`;
      return errorResponse(405, 'INVALID_INPUT', message, { allow: names.join(', ') });
    }
    const { headers } = request;
    if (!isFromConsole(headers) || !isOwnOrigin(headers.get('origin'), headers.get('host'), services.baseUrl)) {
      return errorResponse(403, 'FORBIDDEN', 'Only pages of the console sign in and out here.');
    }
    return handler(request, address).catch((error: unknown) => failureResponse(services, error));
  };
  return (request, address) => {
    const handlers = routes.get(new URL(request.url).pathname);
    return handlers ? answer(handlers, request, address) : null;
  };
}

const pageSecretOf = ({ headers }: Request) => readPageSecret(headers.get(pageSecretHeader));

function readSignIn(body: Readonly<Record<string, unknown>> | null): SignInInput | null {
  const { token, link } = body ?? {};
  if (typeof link === 'string') return { link };
  // "Bearer " may precede the token, as elsewhere. A text that cannot be a token counts as an invalid token.
  return typeof token === 'string' ? { token: readToken(token, true) } : null;
}

function failureResponse(services: Services, failure: unknown): Response {
  const error = asRefusal(failure);
  if (error instanceof RateLimitedError || error instanceof UnavailableError) {
    const status = error instanceof RateLimitedError ? 429 : 503;
    return errorResponse(status, error.code, error.message, { 'retry-after': String(error.retryAfterSeconds) });
  }
  if (error instanceof DomainError && error.code === 'UNAUTHENTICATED') {
    // The message for an invalid request header does not fit a form.
    return errorResponse(401, error.code, error.message === invalidKeyMessage ? invalidToken : error.message);
  }
  if (error instanceof DomainError && error.code === 'FORBIDDEN') return errorResponse(403, error.code, error.message);
  services.log.error({ err: error }, 'Somebody could not sign in to the console.');
  return errorResponse(500, 'INTERNAL_SERVER_ERROR', 'Unexpected error.');
}

function errorResponse(status: number, code: string, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ code, message }, { status, headers: { 'cache-control': 'no-store', ...headers } });
}
