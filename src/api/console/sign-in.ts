import { authenticateConsole, notSignedInMessage } from '../../auth/authenticate.ts';
import { readToken } from '../../auth/tokens.ts';
import type { Services } from '../../domain/context.ts';
import { endConsoleSession } from '../../domain/identity/keys/console-sessions.ts';
import { confirmSignIn, type SignInInput, signIn } from '../../domain/identity/sign-on/sign-in.ts';
import { signOutAddress } from '../../domain/identity/sign-on/sign-out.ts';
import {
  consoleCookie,
  noConsoleCookies,
  pageSecretHeader,
  readConsoleCookies,
  readPageSecret,
} from '../../http/console-cookie.ts';
import { readJson } from '../../http/read-body.ts';
import { jsonReply, Reply } from '../../http/reply.ts';
import type { RequestView } from '../../http/request-view.ts';
import { answerConsole, errorReply, type MethodHandlers } from './replies.ts';

const needsInput =
  'A JSON object with "token", with "userLink", or with "link" and an optional "attempt" of 32 hexadecimal digits, is needed, of at most 4 KiB.';
const attemptPattern = /^[0-9a-f]{32}$/;
const needsToken = 'A JSON object with "token" is needed, of at most 4 KiB.';

/**
 * Handles `/console/session`: POST `{token}`, `{userLink}` or `{link, attempt?}` (32 hexadecimal digits) signs a browser in and answers `{pageSecret}`; DELETE signs it
 * out, and answers `{address}` if the identity provider has a page that ends its session too. Handles `/console/session/confirmation`: POST `{token}` confirms the sign-in with the token of its key. Accepts
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
      const ended = pageSecret === null ? null : await endConsoleSession(services, pageSecret);
      // The browser drops the cookie in both cases. A cookie alone ends no sign-in: other servers on the host see it
      // too.
      const address = ended === null ? null : await signOutAddress(services, ended.providerId);
      const done = address === null ? new Reply(204) : jsonReply(200, { address });
      const reply =
        ended === null
          ? errorReply(401, 'UNAUTHENTICATED', notSignedInMessage)
          : done.with({ 'cache-control': 'no-store' });
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
  return (request) => {
    const handlers = routes.get(request.path);
    return handlers ? answerConsole(services, handlers, request) : null;
  };
}

/** The page secret in the header of a request. */
export const pageSecretOf = (request: RequestView) => readPageSecret(request.header(pageSecretHeader));

function readSignIn(body: Readonly<Record<string, unknown>> | null): SignInInput | null {
  const { token, link, attempt, userLink } = body ?? {};
  if (typeof userLink === 'string') return { userLink };
  if (typeof link === 'string') {
    if (attempt === undefined) return { link, attempt: null };
    return typeof attempt === 'string' && attemptPattern.test(attempt) ? { link, attempt } : null;
  }
  // "Bearer " may precede the token, as elsewhere. A text that cannot be a token counts as an invalid token.
  return typeof token === 'string' ? { token: readToken(token, true) } : null;
}
