import { authenticateConsole, type ConsoleCredentials } from '../../auth/authenticate.ts';
import { DomainError } from '../../common/errors.ts';
import type { Services } from '../../domain/context.ts';
import { endConsoleSession } from '../../domain/identity/keys/console-sessions.ts';
import { beginSignOn } from '../../domain/identity/sign-on/begin-sign-on.ts';
import { completeSignOn } from '../../domain/identity/sign-on/complete-sign-on.ts';
import { findSignOnProvider, type ShownProvider } from '../../domain/identity/sign-on/own-provider.ts';
import { logOutByProvider } from '../../domain/identity/sign-on/provider-logout.ts';
import { consoleCookie, readConsoleCookies, readSignOnCookies, signOnCookie } from '../../http/console-cookie.ts';
import { readForm, readJson } from '../../http/read-body.ts';
import { jsonReply, type Reply } from '../../http/reply.ts';
import type { RequestView } from '../../http/request-view.ts';
import { answerConsole, errorReply, type MethodHandlers } from './replies.ts';
import { pageSecretOf } from './sign-in.ts';

/** The sealed sign-in, and the longest codes of providers. */
const maxBytes = 32_768;
/** As long as a sign-in may take. */
const cookieSeconds = 600;
const needsProvider = 'A JSON object with "provider" is needed, and optionally "returnTo" and "isConfirmation".';
const needsAnswer = 'A JSON object with "provider", "transaction" and "parameters" is needed, of at most 32 KiB.';
const logoutPath = /^\/console\/sign-on\/([^/]+)\/logout$/;
const noStore = { 'cache-control': 'no-store' };

/**
 * Handles the sign-in at identity providers (docs/sign-on.md). Pages of the console call `/console/sign-on`: GET lists the providers;
 * POST `{provider, returnTo?, isConfirmation?}` begins a sign-in and answers `{address, transaction}`. They send the answer of the
 * provider to `/console/sign-on/completion`: POST `{provider, transaction, parameters}` answers `{pageSecret, returnTo}`, without
 * `pageSecret` if it confirmed the session. Providers call `/console/sign-on/PROVIDER/logout`. Returns null for other paths.
 */
export function createSignOn(services: Services): (request: RequestView) => Promise<Reply> | null {
  const root: MethodHandlers = {
    async GET(request) {
      const providers = [...services.identityProviders.values()].map(
        ({ settings: { id, label } }): ShownProvider => ({ id, label }),
      );
      return jsonReply(200, { providers, provider: await ownProvider(services, request) }, noStore);
    },
    async POST(request) {
      const { provider, returnTo, isConfirmation } = (await readJson(request)) ?? {};
      if (typeof provider !== 'string') return errorReply(400, 'INVALID_INPUT', needsProvider);
      const isConfirming = isConfirmation === true;
      const confirms = isConfirming
        ? await authenticateConsole(services, halvesOf(services, request), request.address)
        : null;
      const [cookie = null] = readSignOnCookies(request.header('cookie'), services.baseUrl);
      const begun = await beginSignOn(services, { providerId: provider, returnTo, cookie, confirms });
      const { address, transaction } = begun;
      const headers = { ...noStore, 'set-cookie': signOnCookie(begun.cookie, cookieSeconds, services.baseUrl) };
      return jsonReply(200, { address, transaction }, headers);
    },
  };
  const completion: MethodHandlers = {
    async POST(request) {
      const { provider, transaction, parameters } = (await readJson(request, maxBytes)) ?? {};
      if ([provider, transaction, parameters].some((each) => typeof each !== 'string')) {
        return errorReply(400, 'INVALID_INPUT', needsAnswer);
      }
      const input = {
        providerId: provider as string,
        transaction: transaction as string,
        parameters: new URLSearchParams(parameters as string),
        cookies: readSignOnCookies(request.header('cookie'), services.baseUrl),
        halves: halvesOf(services, request),
      };
      const { session, returnTo } = await completeSignOn(services, input, request.address);
      if (session === null) return jsonReply(200, { returnTo }, noStore);
      const replaced = pageSecretOf(request);
      if (replaced !== null) await endConsoleSession(services, replaced);
      const seconds = Math.round((session.expiresAt.getTime() - services.now().getTime()) / 1_000);
      const cookies = [consoleCookie(session.code, seconds, services.baseUrl), signOnCookie('', 0, services.baseUrl)];
      return jsonReply(200, { pageSecret: session.pageSecret, returnTo }, { ...noStore, 'set-cookie': cookies });
    },
  };
  const routes = new Map([
    ['/console/sign-on', root],
    ['/console/sign-on/completion', completion],
  ]);
  return (request) => {
    const handlers = routes.get(request.path);
    if (handlers) return answerConsole(services, handlers, request);
    const [, provider] = logoutPath.exec(request.path) ?? [];
    return provider === undefined ? null : logOut(services, provider, request);
  };
}

const halvesOf = ({ baseUrl }: Services, request: RequestView): ConsoleCredentials => ({
  cookies: readConsoleCookies(request.header('cookie'), baseUrl),
  pageSecret: pageSecretOf(request),
});

// The provider that the user of this browser signed in with, which can confirm the session; null if nobody is signed in.
async function ownProvider(services: Services, request: RequestView): Promise<ShownProvider | null> {
  const halves = halvesOf(services, request);
  if (halves.pageSecret === null) return null;
  const viewer = await authenticateConsole(services, halves, request.address).catch((error: unknown) => {
    if (error instanceof DomainError && error.code === 'UNAUTHENTICATED') return null;
    throw error;
  });
  return viewer === null ? null : findSignOnProvider(services, viewer);
}

// A request of the provider itself (OpenID Connect Back-Channel Logout 1.0): only its token counts.
async function logOut(services: Services, provider: string, request: RequestView): Promise<Reply> {
  if (request.method !== 'POST') return errorReply(405, 'INVALID_INPUT', 'Allowed methods: POST.', { allow: 'POST' });
  const token = (await readForm(request, maxBytes))?.get('logout_token') ?? '';
  const outcome = await logOutByProvider(services, provider, token, request.address);
  if (outcome === 'done') return jsonReply(200, {}, noStore);
  const status = outcome === 'failed' ? 503 : outcome === 'limited' ? 429 : 400;
  return jsonReply(status, { error: outcome === 'refused' ? 'invalid_request' : 'temporarily_unavailable' }, noStore);
}
