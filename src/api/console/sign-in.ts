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
import { jsonReply, Reply } from '../../http/reply.ts';
import type { RequestView } from '../../http/request-view.ts';
import { isFromConsole, isOwnOrigin } from '../../http/same-origin.ts';
import { readJson } from './read-json.ts';

type SignInHandler = (request: RequestView) => Promise<Reply>;
type MethodHandlers = Readonly<Record<string, SignInHandler>>;

const invalidToken =
  "That token isn't valid. Check for typos, or create a new one: it may have expired or been revoked.";
const needsInput =
  'A JSON object with "token", or with "link" and an optional "attempt" of 32 hexadecimal digits, is needed, of at most 4 KiB.';
const attemptPattern = /^[0-9a-f]{32}$/;
const needsToken = 'A JSON object with "token" is needed, of at most 4 KiB.';

/**
 * Handles `/console/session`: POST `{token}` or `{link, attempt?}` (32 hexadecimal digits) signs a browser in and answers `{pageSecret}`; DELETE signs it
 * out. Handles `/console/session/confirmation`: POST `{token}` confirms the sign-in with the token of its key. Accepts
 * requests of this service's pages only: they have the header `Switchyard-Client: console` and the service's own
 * origin. Returns null for other paths.
 */
export function createSignIn(services: Services): (request: RequestView) => Promise<Reply> | null {
  const session: MethodHandlers = {
    async POST(request) {
      const input = readSignIn(await readJson(request));
      if (input === null) return errorReply(400, 'INVALID_INPUT', needsInput);
      const { code, pageSecret, expiresAt } = await signIn(services, input, request.address);
      // A browser has one sign-in. The previous one ends, together with everything that other tabs have open.
      const replaced = pageSecretOf(request);
      if (replaced !== null) await endConsoleSession(services, replaced);
      const seconds = Math.round((expiresAt.getTime() - services.now().getTime()) / 1_000);
      const headers = { 'cache-control': 'no-store', 'set-cookie': consoleCookie(code, seconds, services.baseUrl) };
      return jsonReply(200, { pageSecret }, headers);
    },
    async DELETE(request) {
      const pageSecret = pageSecretOf(request);
      const isEnded = pageSecret !== null && (await endConsoleSession(services, pageSecret));
      // The browser drops the cookie in both cases. A cookie alone ends no sign-in: other servers on the host see it
      // too.
      const reply = isEnded
        ? new Reply(204, { 'cache-control': 'no-store' })
        : errorReply(401, 'UNAUTHENTICATED', notSignedInMessage);
      return reply.with({ 'set-cookie': noConsoleCookies });
    },
  };
  const confirmation: MethodHandlers = {
    async POST(request) {
      const { address } = request;
      const cookies = readConsoleCookies(request.header('cookie'), services.baseUrl);
      const viewer = await authenticateConsole(services, { cookies, pageSecret: pageSecretOf(request) }, address);
      const token = (await readJson(request))?.token;
      if (typeof token !== 'string') return errorReply(400, 'INVALID_INPUT', needsToken);
      await confirmSignIn(services, viewer, readToken(token, true), address);
      return new Reply(204, { 'cache-control': 'no-store' });
    },
  };
  const routes = new Map([
    ['/console/session', session],
    ['/console/session/confirmation', confirmation],
  ]);
  const answer = async (handlers: MethodHandlers, request: RequestView) => {
    const handler = handlers[request.method];
    if (!handler) {
      const names = Object.keys(handlers);
      const message = `Allowed methods: ${names.join(', ')}.`;
      return errorReply(405, 'INVALID_INPUT', message, { allow: names.join(', ') });
    }
    const isOwn = isOwnOrigin(request.header('origin'), request.header('host'), services.baseUrl);
    if (!isFromConsole(request) || !isOwn) {
      return errorReply(403, 'FORBIDDEN', 'Only pages of the console can sign in and out here.');
    }
    return handler(request).catch((error: unknown) => failureReply(services, error));
  };
  return (request) => {
    const handlers = routes.get(request.path);
    return handlers ? answer(handlers, request) : null;
  };
}

const pageSecretOf = (request: RequestView) => readPageSecret(request.header(pageSecretHeader));

function readSignIn(body: Readonly<Record<string, unknown>> | null): SignInInput | null {
  const { token, link, attempt } = body ?? {};
  if (typeof link === 'string') {
    if (attempt === undefined) return { link, attempt: null };
    return typeof attempt === 'string' && attemptPattern.test(attempt) ? { link, attempt } : null;
  }
  // "Bearer " may precede the token, as elsewhere. A text that cannot be a token counts as an invalid token.
  return typeof token === 'string' ? { token: readToken(token, true) } : null;
}

function failureReply(services: Services, failure: unknown): Reply {
  const error = asRefusal(failure);
  if (error instanceof RateLimitedError || error instanceof UnavailableError) {
    const status = error instanceof RateLimitedError ? 429 : 503;
    return errorReply(status, error.code, error.message, { 'retry-after': String(error.retryAfterSeconds) });
  }
  if (error instanceof DomainError && error.code === 'UNAUTHENTICATED') {
    // The message for an invalid request header does not fit a form.
    return errorReply(401, error.code, error.message === invalidKeyMessage ? invalidToken : error.message);
  }
  if (error instanceof DomainError && error.code === 'FORBIDDEN') return errorReply(403, error.code, error.message);
  services.log.error({ err: error }, 'A sign-in to the console failed.');
  return errorReply(500, 'INTERNAL_SERVER_ERROR', 'Unexpected error.');
}

function errorReply(status: number, code: string, message: string, headers: Record<string, string> = {}): Reply {
  return jsonReply(status, { code, message }, { 'cache-control': 'no-store', ...headers });
}
