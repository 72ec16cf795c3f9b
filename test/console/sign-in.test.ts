import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createConsoleLink } from '../../src/domain/identity/keys/console-links.ts';
import { consoleSessionMs, maxConsoleSessions } from '../../src/domain/identity/keys/console-sessions.ts';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { stopClock } from '../support/clock.ts';
import { ask, fromConsole, type Halves, openSocket, send, signIn } from '../support/console.ts';
import { startServer } from '../support/server.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const viewerQuery = '{ viewer { principalType serviceUser { name } organization { organizationId } permissions } }';

const makeKey = async (serviceUserId: string) => {
  const { data } = await graphql(
    test,
    test.adminToken,
    'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { apiKey { apiKeyId } token } }',
    { input: { kind: { serviceUser: { serviceUserId } }, name: 'of a browser' } },
  );
  return { id: data.createApiKey.apiKey.apiKeyId as string, token: data.createApiKey.token as string };
};

const revoke = (apiKeyId: string) =>
  graphql(
    test,
    test.adminToken,
    'mutation($input: RevokeApiKeyInput!) { revokeApiKey(input: $input) { userErrors { message } } }',
    { input: { apiKeyId } },
  );

it('returns a cookie that no script reads and a page secret, and stores neither', async () => {
  const { status, body, headers } = await send(test, 'POST', { token: test.adminToken });
  expect({ status, body }).toEqual({ status: 200, body: { pageSecret: expect.stringMatching(/^[a-z2-7]{52}$/) } });
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.getSetCookie()).toEqual([
    expect.stringMatching(/^switchyard=[a-z2-7]{52}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/),
  ]);
  const [, code = ''] = /=([a-z2-7]+)/.exec(headers.getSetCookie()[0] ?? '') ?? [];
  const rows = await test.app.services.store.query<{ row: string }>('select c::text as row from console_session c', []);
  expect(rows.length).toBeGreaterThan(0);
  expect(code).not.toBe(body.pageSecret);
  expect(rows.filter(({ row }) => row.includes(code) || row.includes(body.pageSecret))).toEqual([]);
});

it('sets a cookie for https only if the service is behind https', async () => {
  const secure = await startApp({ baseUrl: 'https://switchyard.example.com' });
  try {
    const own = { origin: 'https://switchyard.example.com' };
    const { headers, body } = await send(secure, 'POST', { token: secure.adminToken }, own);
    const [set = ''] = headers.getSetCookie();
    expect(set).toMatch(/^__Host-switchyard=\S+; Path=\/; .*SameSite=Strict; Secure$/);
    const [cookie = ''] = set.split(';');
    const half = { 'switchyard-page-secret': body.pageSecret };
    const status = async (sent: string, more: Record<string, string> = own) =>
      (await ask(secure, { cookie: sent, ...half }, viewerQuery, more)).status;
    expect(await status(cookie)).toBe(200);
    expect(await status(cookie, { origin: 'http://switchyard.example.com' })).toBe(401);
    // A neighbouring host may set the plain cookie name, which then comes first.
    expect(await status(`switchyard=${'a'.repeat(52)}; ${cookie}`)).toBe(200);
    expect(await status(cookie.replace('__Host-', ''))).toBe(401);
  } finally {
    await secure.close();
  }
});

it('a browser has the permissions of its sign-in key, and sees no other organization', async () => {
  const own = await makeOrganization(test, 'Own');
  const other = await makeOrganization(test, 'Other');
  const foreign = await createSession(test, { organizationId: other.organizationId }, other.token);
  const mine = await createSession(test, { organizationId: own.organizationId }, own.token);
  const halves = await signIn(test, own.token);
  const [byCookie, byToken] = [await ask(test, halves, viewerQuery), await graphql(test, own.token, viewerQuery)];
  expect(byCookie).toEqual(byToken);
  const read = (id: string) => ask(test, halves, `{ session(id: "${id}") { sessionId } }`);
  expect((await read(mine)).data.session).not.toBeNull();
  expect((await read(foreign)).data.session).toBeNull();
});

it('the cookie is valid only with the header of the console, and only from its own origin', async () => {
  const halves = await signIn(test, test.adminToken);
  expect((await ask(test, halves, viewerQuery)).status).toBe(200);
  expect((await ask(test, halves, viewerQuery, { 'switchyard-client': 'other' })).status).toBe(401);
  expect((await ask(test, halves, viewerQuery, { origin: 'https://evil.example.com' })).status).toBe(401);
  expect((await ask(test, halves, viewerQuery, { origin: 'null' })).status).toBe(401);
  const get = await fetch(`${test.url}/graphql?query=${encodeURIComponent('{ __typename }')}`, {
    headers: { ...halves },
  });
  expect(get.status).toBe(401);
  expect((await call(test, null, 'GET', '/v3/self', undefined, { ...halves, ...fromConsole })).status).toBe(401);
});

it('a page of another origin can neither sign in nor out', async () => {
  const halves = await signIn(test, test.adminToken);
  const foreign: Record<string, string>[] = [
    { origin: 'https://evil.example.com' },
    { origin: 'null' },
    { 'switchyard-client': 'other' },
  ];
  for (const headers of foreign) {
    expect((await send(test, 'POST', { token: test.adminToken }, headers)).status).toBe(403);
    expect((await send(test, 'DELETE', undefined, { ...halves, ...headers })).status).toBe(403);
  }
  expect((await ask(test, halves, viewerQuery)).status).toBe(200);
});

it('opens sockets by the cookie for pages of the service only', async () => {
  const halves = await signIn(test, test.adminToken);
  expect((await openSocket(test, halves, test.url)).first).toBe('in');
  expect((await openSocket(test, halves, 'https://evil.example.com')).first).toBe(4403);
  expect((await openSocket(test, halves, null)).first).toBe(4403);
  expect((await openSocket(test, { ...halves, cookie: 'switchyard=aaaa' }, test.url)).first).toBe(4403);
});

it('a sign-out ends the cookie and its sockets, and not those of other browsers', async () => {
  const [leaving, staying] = [await signIn(test, test.adminToken), await signIn(test, test.adminToken)];
  const open = await openSocket(test, leaving, test.url);
  const other = await openSocket(test, staying, test.url);
  const { status, headers } = await send(test, 'DELETE', undefined, { ...leaving });
  expect(status).toBe(204);
  expect(headers.getSetCookie().every((cookie) => cookie.includes('Max-Age=0'))).toBe(true);
  expect(await open.closed).toBe(4403);
  expect((await ask(test, leaving, viewerQuery)).status).toBe(401);
  expect((await ask(test, staying, viewerQuery)).status).toBe(200);
  expect(other.socket.readyState).toBe(other.socket.OPEN);
  expect((await send(test, 'DELETE', undefined, { ...leaving })).status).toBe(401);
});

it('a new sign-in of a browser ends its previous one', async () => {
  const { token } = await makeOrganization(test, 'Replaced');
  const before = await signIn(test, token);
  const open = await openSocket(test, before, test.url);
  const after = await signIn(test, test.adminToken, { ...before });
  expect(await open.closed).toBe(4403);
  expect((await ask(test, before, viewerQuery)).status).toBe(401);
  expect((await ask(test, after, viewerQuery)).status).toBe(200);
  // A refused sign-in ends nothing.
  expect((await send(test, 'POST', { token: 'cog_nobodys' }, { ...after })).status).toBe(401);
  expect((await ask(test, after, viewerQuery)).status).toBe(200);
});

it('explains the refusal of a token, a link, a sign-out and a confirmation', async () => {
  const message = async (...sent: [method: string, body: unknown, headers?: Record<string, string>, path?: string]) => {
    const { status, body } = await send(test, ...sent);
    return [status, body.message];
  };
  expect(await message('POST', { token: 'cog_nobodys' })).toEqual([
    401,
    expect.stringMatching(/^That token isn't valid/),
  ]);
  expect(await message('POST', { link: 'a'.repeat(52) })).toEqual([
    401,
    expect.stringMatching(/^That link isn't valid/),
  ]);
  const signedOut = [401, "You aren't signed in. Sign in again."];
  expect(await message('DELETE', undefined)).toEqual(signedOut);
  expect(await message('POST', { token: test.adminToken }, {}, '/console/session/confirmation')).toEqual(signedOut);
});

it('a page that names its sign-in is not mistaken for another', async () => {
  const signInOf = async (halves: Required<Halves>) => {
    const body = JSON.stringify({ query: '{ __typename }' });
    const headers = { 'content-type': 'application/json', ...halves, ...fromConsole };
    const response = await fetch(`${test.url}/graphql`, { method: 'POST', headers, body });
    return response.headers.get('switchyard-sign-in') ?? '';
  };
  const { token } = await makeOrganization(test, 'Said');
  const [own, other] = [await signIn(test, token), await signIn(test, test.adminToken)];
  const signInHeader = { 'switchyard-sign-in': await signInOf(own) };
  expect(signInHeader['switchyard-sign-in']).not.toBe('');
  expect((await ask(test, own, viewerQuery, signInHeader)).status).toBe(200);
  expect((await ask(test, other, viewerQuery, signInHeader)).status).toBe(401);
});

it('a session started in the console is marked as such', async () => {
  const { token } = await makeOrganization(test, 'Origins');
  const start =
    'mutation { createSession(input: { prompt: "sleep 600" }) { session { origin } userErrors { message } } }';
  const halves = await signIn(test, token);
  expect((await ask(test, halves, start)).data.createSession.session).toEqual({ origin: 'WEBAPP' });
  expect((await graphql(test, token, start)).data.createSession.session).toEqual({ origin: 'API' });
});

it('a browser is signed out as soon as its key is revoked', async () => {
  const { serviceUserId } = await makeOrganization(test, 'Revoked');
  const key = await makeKey(serviceUserId);
  const halves = await signIn(test, key.token);
  const open = await openSocket(test, halves, test.url);
  await revoke(key.id);
  expect((await ask(test, halves, viewerQuery)).status).toBe(401);
  expect(await open.closed).toBe(4403);
});

it('a browser is signed out after a week', async () => {
  const later = await startApp();
  try {
    const clock = stopClock(later);
    const halves = await signIn(later, later.adminToken);
    clock.advance(consoleSessionMs - 1_000);
    expect((await ask(later, halves, viewerQuery)).status).toBe(200);
    clock.advance(1_000);
    expect((await ask(later, halves, viewerQuery)).status).toBe(401);
    expect((await openSocket(later, halves, later.url)).first).toBe(4403);
  } finally {
    await later.close();
  }
});

it('a link signs in once, for a short time, and with the permissions of its key', async () => {
  const later = await startApp();
  try {
    const clock = stopClock(later);
    const link = await createConsoleLink(later.app.services, later.adminToken);
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(later, 'POST', { link })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401, 401]);
    const late = await createConsoleLink(later.app.services, later.adminToken);
    clock.advance(15 * 60_000);
    expect((await send(later, 'POST', { link: late })).status).toBe(401);
    expect(await createConsoleLink(later.app.services, 'cog_nobodys')).toBeNull();
  } finally {
    await later.close();
  }
});

it('the tab that used a link may repeat it for a minute, and nobody else', async () => {
  const later = await startApp();
  try {
    const clock = stopClock(later);
    const link = await createConsoleLink(later.app.services, later.adminToken);
    const attempt = 'a1'.repeat(16);
    const first = await signIn(later, { link, attempt });
    for (const other of [{ link }, { link, attempt: 'b2'.repeat(16) }]) {
      expect((await send(later, 'POST', other)).status).toBe(401);
    }
    for (const wrong of ['', 'a1', 7, null, 'A1'.repeat(16)]) {
      expect((await send(later, 'POST', { link, attempt: wrong })).status).toBe(400);
    }
    const again = await Promise.all(Array.from({ length: 3 }, () => signIn(later, { link, attempt })));
    // Of all of these sign-ins one is left, and it is not confirmed.
    const all = await Promise.all([first, ...again].map((halves) => ask(later, halves, viewerQuery)));
    expect(all.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401]);
    const stored = await later.app.services.store.query<{ text: string }>(
      'select l::text || s::text as text from console_link l join console_session s on s.console_link_id = l.id',
    );
    expect(stored).toHaveLength(1);
    expect(stored[0]?.text).not.toContain(attempt);
    const confirmed = await later.app.services.store.query(
      'select 1 from console_session where confirmed_at is not null',
    );
    expect(confirmed).toEqual([]);
    clock.advance(60_000);
    expect((await send(later, 'POST', { link, attempt })).status).toBe(401);
    expect(
      (await send(later, 'POST', { link: await createConsoleLink(later.app.services, later.adminToken), attempt }))
        .status,
    ).toBe(200);
  } finally {
    await later.close();
  }
});

it('the first start prints a link that signs in, and no later one does', { timeout: 240_000 }, async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-first-'));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }));
  const env = { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'error', ROLES: 'api' };
  const first = await startServer(env);
  const [, address, link] = /(http\S+)\/sign-in#link=([a-z2-7]{52})\n/.exec(first.output()) ?? [];
  expect(address).toBe(first.url);
  const statuses = [(await send(first, 'POST', { link })).status, (await send(first, 'POST', { link })).status];
  expect(statuses).toEqual([200, 401]);
  await first.stop();
  const second = await startServer(env);
  expect(second.output()).not.toContain('#link=');
  await second.stop();
});

it('a console session cannot create another, and a key has a limited number', async () => {
  const { serviceUserId } = await makeOrganization(test, 'Many');
  const { token } = await makeKey(serviceUserId);
  const all: Halves[] = [];
  for (let n = 0; n <= maxConsoleSessions; n++) all.push(await signIn(test, token));
  const statuses = await Promise.all(all.map(async (halves) => (await ask(test, halves, viewerQuery)).status));
  expect(statuses).toEqual([401, ...Array.from({ length: maxConsoleSessions }, () => 200)]);
});

it('an invalid sign-in is refused with a message', async () => {
  expect((await send(test, 'POST', { token: `cog_${'a'.repeat(52)}` })).status).toBe(401);
  expect((await send(test, 'POST', { token: 'ö' })).status).toBe(401);
  expect((await send(test, 'POST', { link: 'x' })).status).toBe(401);
  expect((await send(test, 'POST', { link: 'x'.repeat(5_000) })).status).toBe(400);
  expect((await send(test, 'POST', {})).status).toBe(400);
  expect((await send(test, 'POST', undefined)).status).toBe(400);
  const wrong = await send(test, 'PUT', {});
  expect({ status: wrong.status, allow: wrong.headers.get('allow') }).toEqual({ status: 405, allow: 'POST, DELETE' });
});

it('counts a failed sign-in as a failed token of its address', async () => {
  const limited = await startApp({ rateLimitLogin: 3 });
  try {
    stopClock(limited);
    const statuses: number[] = [];
    for (let n = 0; n < 4; n++) statuses.push((await send(limited, 'POST', { link: 'x' })).status);
    expect(statuses).toEqual([401, 401, 401, 429]);
    expect((await send(limited, 'POST', { token: limited.adminToken })).status).toBe(200);
  } finally {
    await limited.close();
  }
});
