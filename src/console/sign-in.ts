import { authenticateConsole } from '../auth/authenticate.ts';
import { readToken } from '../auth/tokens.ts';
import type { Services } from '../domain/context.ts';
import { DomainError, RateLimitedError } from '../domain/errors.ts';
import { deleteConsoleSession } from '../domain/keys/console-sessions.ts';
import { type SignInInput, signIn } from '../domain/keys/sign-in.ts';
import { consoleCookie, noConsoleCookies, readConsoleCookie } from '../http/console-cookie.ts';
import { isFromConsole, isOwnOrigin } from '../http/same-origin.ts';

/** More than any token or link is long. */
const mostBytes = 4_096;

type SignInDoor = (request: Request, address: string | null) => Promise<Response>;

/**
 * `/console/session`: POST `{token}` or `{link}` signs a browser in, DELETE signs it out. Both only for pages of this
 * service: with the header `Switchyard-Client: console`, and from its own origin.
 */
export function createSignIn(services: Services): SignInDoor {
  const acts: Readonly<Record<string, SignInDoor>> = {
    async POST(request, address) {
      const input = await readInput(request);
      if (input === null) {
        return say(400, 'INVALID_INPUT', 'A JSON object with "token" or "link" is needed, of at most 4 KiB.');
      }
      const { code, expiresAt } = await signIn(services, input, address);
      // The browser has one cookie: who was signed in there until now is signed out, with all that other tabs have open.
      const replaced = readConsoleCookie(request.headers.get('cookie'), services.baseUrl);
      if (replaced !== null) await signOut(services, replaced, address);
      const seconds = Math.round((expiresAt.getTime() - services.now().getTime()) / 1_000);
      return done([consoleCookie(code, seconds, services.baseUrl)]);
    },
    async DELETE(request, address) {
      const code = readConsoleCookie(request.headers.get('cookie'), services.baseUrl);
      if (code !== null) await signOut(services, code, address);
      return done(noConsoleCookies);
    },
  };
  return async (request, address) => {
    const act = acts[request.method];
    if (!act)
      return say(405, 'INVALID_INPUT', 'Only POST and DELETE can be asked for here.', { allow: 'POST, DELETE' });
    const { headers } = request;
    if (!isFromConsole(headers) || !isOwnOrigin(headers.get('origin'), headers.get('host'), services.baseUrl)) {
      return say(403, 'FORBIDDEN', 'Only pages of the console sign in and out here.');
    }
    return act(request, address).catch((error: unknown) => failed(services, error));
  };
}

// Who is signed out already, or whose key has ended, wants nothing else than that.
async function signOut(services: Services, code: string, address: string | null): Promise<void> {
  try {
    const viewer = await authenticateConsole(services, code, address);
    await deleteConsoleSession({ ...services, viewer, address });
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'UNAUTHENTICATED') throw error;
  }
}

async function readInput(request: Request): Promise<SignInInput | null> {
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers.get('content-type') ?? '')) return null;
  const text = await readText(request);
  try {
    const { token, link } = JSON.parse(text ?? '') as Record<string, unknown>;
    if (typeof link === 'string') return { link };
    // As in other places, "Bearer " may stand before it. What cannot be a token is one that is not good.
    return typeof token === 'string' ? { token: readToken(token, true) } : null;
  } catch {
    return null;
  }
}

async function readText(request: Request): Promise<string | null> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += part.length;
    if (bytes > mostBytes) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function failed(services: Services, error: unknown): Response {
  if (error instanceof RateLimitedError) {
    return say(429, 'RATE_LIMITED', error.message, { 'retry-after': String(error.retryAfterSeconds) });
  }
  if (error instanceof DomainError && error.code === 'UNAUTHENTICATED') {
    return say(401, error.code, 'This is not good, or not any more: it may be mistyped, used up, expired or revoked.');
  }
  services.log.error({ err: error }, 'Somebody could not sign in to the console.');
  return say(500, 'INTERNAL_SERVER_ERROR', 'Unexpected error.');
}

function done(cookies: readonly string[]): Response {
  const headers = new Headers({ 'cache-control': 'no-store' });
  for (const cookie of cookies) headers.append('set-cookie', cookie);
  return new Response(null, { status: 204, headers });
}

function say(status: number, code: string, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ code, message }, { status, headers: { 'cache-control': 'no-store', ...headers } });
}
