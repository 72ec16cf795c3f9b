import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt, exportJWK, generateKeyPair, importJWK, type JWK, type JWTPayload, SignJWT } from 'jose';
import Provider from 'oidc-provider';

/** A user of the provider; its claims are in the ID token. */
export interface Account {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  readonly groups?: readonly string[];
}

/** A real provider of OpenID Connect in this process. Its sign-in page is a form with one button. */
export interface IdentityProvider {
  readonly issuer: string;
  /** The user who signs in; null: the user cancels. */
  account: Account | null;
  /** Changes the claims of ID tokens before they are signed again. */
  alter: ((claims: JWTPayload) => JWTPayload) | null;
  /** Answers every request with 503 while it is true. */
  isDown: boolean;
  /** Registers the service as a client. */
  serve(serviceUrl: string): Promise<void>;
  /** Signs with a new key from now on; the old one is gone. */
  rotateKeys(): Promise<void>;
  /** Signs a logout token with the current key, or with another one. */
  logoutToken(claims: Readonly<Record<string, unknown>>, isForged?: boolean): Promise<string>;
  close(): Promise<void>;
}

const clientId = 'switchyard';
/** The secret of the client. */
export const clientSecret = 'c4n4ry-secret-of-the-client';

async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: randomUUID(), alg: 'RS256', use: 'sig' };
}

/** Starts a provider. `idTokenSeconds`: the lifetime of its ID tokens. */
export async function startIdentityProvider(id: string, idTokenSeconds = 3_600): Promise<IdentityProvider> {
  let provider: Provider | null = null;
  let key = await newKey();
  let servedUrl = '';
  const server = createServer((request, response) => {
    void handle(request, response).catch((error: unknown) => {
      response.statusCode = 500;
      response.end(String(error));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sign = async (claims: JWTPayload, signingKey: JWK, typ = 'JWT') =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: key.kid as string, typ })
      .sign(await importJWK(signingKey, 'RS256'));

  const create = () => {
    provider = new Provider(issuer, {
      clients: [
        {
          client_id: clientId,
          client_secret: clientSecret,
          redirect_uris: [`${servedUrl}/sign-in/callback/${id}`],
          post_logout_redirect_uris: [`${servedUrl}/sign-in`],
          backchannel_logout_uri: `${servedUrl}/console/sign-on/${id}/logout`,
          backchannel_logout_session_required: true,
        },
      ],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
      conformIdTokenClaims: false,
      cookies: { keys: ['keys-of-the-cookies'] },
      features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
      findAccount: (_context, sub) => ({ accountId: sub, claims: async () => ({ ...idp.account, sub }) }),
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      jwks: { keys: [key as never] },
      pkce: { required: () => true },
      scopes: ['openid', 'email', 'profile', 'groups'],
      ttl: { IdToken: idTokenSeconds, Session: 3_600, Interaction: 600, Grant: 3_600, AccessToken: 600 },
    });
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (idp.isDown || provider === null) {
      response.statusCode = 503;
      response.end('down');
      return;
    }
    const { pathname } = new URL(request.url ?? '/', issuer);
    if (pathname.startsWith('/interaction/')) return interact(provider, request, response);
    if (pathname === '/token' && idp.alter !== null) changeTokens(response);
    provider.callback()(request, response);
  }

  async function interact(current: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') {
      response.setHeader('content-type', 'text/html');
      response.end('<!doctype html><title>Sign in</title><form method="post"><button>Sign in here</button></form>');
      return;
    }
    const { prompt, params, session } = await current.interactionDetails(request, response);
    const { account } = idp;
    if (account === null) {
      await current.interactionFinished(request, response, { error: 'access_denied' });
    } else if (prompt.name === 'login') {
      await current.interactionFinished(request, response, { login: { accountId: account.sub } });
    } else {
      const grant = new current.Grant({
        accountId: session?.accountId ?? account.sub,
        clientId: String(params.client_id),
      });
      grant.addOIDCScope('openid email profile groups');
      const result = { consent: { grantId: await grant.save() } };
      await current.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
    }
  }

  function changeTokens(response: ServerResponse): void {
    const end = response.end.bind(response);
    response.end = ((body: string | Buffer) => {
      const answer = JSON.parse(String(body)) as { id_token?: string };
      const change = async () => {
        if (answer.id_token === undefined || idp.alter === null) return;
        answer.id_token = await sign(idp.alter(decodeJwt(answer.id_token)), key);
      };
      void change().then(() => {
        response.removeHeader('content-length');
        end(JSON.stringify(answer));
      });
      return response;
    }) as ServerResponse['end'];
  }

  const idp: IdentityProvider = {
    issuer,
    account: null,
    alter: null,
    isDown: false,
    async serve(serviceUrl) {
      servedUrl = serviceUrl;
      create();
    },
    async rotateKeys() {
      key = await newKey();
      create();
    },
    async logoutToken(claims, isForged = false) {
      const now = Math.floor(Date.now() / 1_000);
      const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
      const payload = { iss: issuer, aud: clientId, iat: now, exp: now + 120, jti: randomUUID(), events, ...claims };
      return sign(payload, isForged ? await newKey() : key, 'logout+jwt');
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return idp;
}

/** Writes a file for OIDC_PROVIDERS; `remove` deletes it. */
export async function writeProviders(providers: readonly object[]): Promise<{ path: string; remove(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'switchyard-sign-on-'));
  const path = join(directory, 'providers.json');
  const common = {
    clientId,
    clientSecret,
    scopes: ['openid', 'email', 'profile', 'groups'],
    allowedDomains: ['example.com'],
  };
  await writeFile(path, JSON.stringify({ providers: providers.map((each) => ({ ...common, ...each })) }));
  return { path, remove: () => rm(directory, { recursive: true, force: true }) };
}

/** Walks through the pages of a provider like a browser: follows redirects and presses the button of each form. */
export async function walkThrough(
  address: string,
  callback: string,
  jar: Map<string, string> = new Map(),
): Promise<URL> {
  let url = address;
  let method = 'GET';
  for (let steps = 0; steps < 20; steps++) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { method, redirect: 'manual', headers: { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      jar.set(name, value);
    }
    const text = await response.text();
    const location = response.headers.get('location');
    if (location !== null) {
      url = new URL(location, url).href;
      method = 'GET';
      if (url.startsWith(callback)) return new URL(url);
    } else if (text.includes('<form')) method = 'POST';
    else throw new Error(`The provider answered ${response.status}: ${text.slice(0, 300)}`);
  }
  throw new Error('The provider leads nowhere.');
}
