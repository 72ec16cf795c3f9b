import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { ask, type Halves, openSocket, send, signIn } from '../support/console.ts';
import {
  type Account,
  type IdentityProvider,
  startIdentityProvider,
  writeProviders,
} from '../support/identity-provider.ts';
import { answerOf, begin, complete, signInAs } from '../support/sign-on.ts';

let test: TestApp;
let idp: IdentityProvider;
let remove: () => Promise<void>;

beforeAll(async () => {
  idp = await startIdentityProvider('corp');
  const file = await writeProviders([
    { id: 'corp', label: 'Corp', issuer: idp.issuer, defaultRole: { roleId: 'account_admin' }, refuseTokens: true },
  ]);
  remove = file.remove;
  test = await startApp({ oidcProvidersPath: file.path });
  await idp.serve(test.url);
});
afterAll(async () => {
  await test?.close();
  await idp?.close();
  await remove?.();
});

const ada = { sub: 'ada', email: 'ada@example.com', email_verified: true, name: 'Ada' };
const bob = { sub: 'bob', email: 'bob@example.com', email_verified: true };
const isIn = async (halves: Halves) => (await ask(test, halves, '{ viewer { principalType } }')).status === 200;
const createKey = `mutation { createApiKey(input: { name: "of a user", kind: { personalAccessToken: {} } }) {
  token userErrors { code message } } }`;

const reasonOf = ({ status, body }: { status: number; body: { reason?: string } }) => [status, body.reason];

const logOut = async (token: string, provider = 'corp') => {
  const response = await fetch(`${test.url}/console/sign-on/${provider}/logout`, {
    method: 'POST',
    body: new URLSearchParams({ 'logout_token': token }),
  });
  return { status: response.status, body: await response.json() };
};

// Providers report the time of the credentials if they are asked for it, or always.
async function signInFresh(): Promise<Required<Halves>> {
  idp.alter = (claims) => ({ ...claims, auth_time: Math.floor(Date.now() / 1_000) });
  const halves = await signInAs(test, idp, 'corp', ada);
  idp.alter = null;
  return halves;
}

// The provider knows the session of each sign-in by an id that is in the ID token.
async function signInWithSid(account: typeof bob): Promise<{ halves: Required<Halves>; sid: string }> {
  let sid = '';
  idp.alter = (claims) => {
    sid = String(claims.sid);
    return claims;
  };
  const halves = await signInAs(test, idp, 'corp', account);
  idp.alter = null;
  return { halves, sid };
}

it('confirms a session by a new sign-in of the same user with fresh credentials', async () => {
  // The credentials were entered long ago: the sign-in itself is no confirmation.
  idp.alter = (claims) => ({ ...claims, auth_time: Math.floor(Date.now() / 1_000) - 3_600 });
  const halves = await signInAs(test, idp, 'corp', ada);
  const refused = await ask(test, halves, createKey);
  expect(JSON.stringify(refused)).toContain('CONFIRMATION_REQUIRED');
  const shown = await send(test, 'GET', undefined, halves, '/console/sign-on');
  expect(shown.body.provider).toEqual({ id: 'corp', label: 'Corp' });

  const confirm = async (account: Account = ada, own: Required<Halves> = halves) => {
    idp.account = account;
    const begun = await begin(test, 'corp', { halves: own });
    expect(new URL(begun.address).searchParams.get('prompt')).toBe('login');
    expect(new URL(begun.address).searchParams.get('max_age')).toBe('0');
    return complete(test, begun, await answerOf(test, begun), own);
  };
  expect(reasonOf(await confirm())).toEqual([403, 'NOT_FRESH']);
  idp.alter = ({ auth_time: _ignored, ...claims }) => claims;
  expect(reasonOf(await confirm())).toEqual([403, 'NOT_FRESH']);
  idp.alter = null;
  expect(reasonOf(await confirm(bob))).toEqual([403, 'OTHER_USER']);
  expect(JSON.stringify(await ask(test, halves, createKey))).toContain('CONFIRMATION_REQUIRED');
  const confirmed = await confirm();
  expect([confirmed.status, confirmed.body]).toEqual([200, { returnTo: '/' }]);
  const { data } = await ask(test, halves, createKey);
  expect(data.createApiKey.userErrors).toEqual([]);
  expect(data.createApiKey.token).toMatch(/^cog_/);
  // Without a session, nothing can be confirmed.
  const none = await send(test, 'POST', { provider: 'corp', isConfirmation: true }, {}, '/console/sign-on');
  expect(none.status).toBe(401);
});

it('a link signs nobody in whose provider refuses other sign-ins, also if it was created before', async () => {
  const make = (input: object) =>
    graphql(
      test,
      test.adminToken,
      'mutation($input: CreateUserInput!) { createUser(input: $input) { user { userId } userErrors { message } } }',
      { input: { roleId: 'org_member', scope: { organizationId: test.organizationId }, ...input } },
    );
  const link = (userId: string) =>
    graphql(
      test,
      test.adminToken,
      'mutation($input: CreateSignInLinkInput!) { createSignInLink(input: $input) { url userErrors { message } } }',
      { input: { userId } },
    );
  const made = await make({ email: 'linked@example.com' });
  const { userId } = made.data.createUser.user;
  const refused = await link(userId);
  expect(JSON.stringify(refused)).toContain('signs in with its identity provider');
  const outside = (await make({ email: 'linked@elsewhere.example' })).data.createUser.user.userId;
  const { url } = (await link(outside)).data.createSignInLink;
  const { store } = test.app.services;
  // The address of the user was changed meanwhile, as by a rule of the provider.
  await store.execute(
    `update user_account set email = 'moved@example.com' where email = 'linked@elsewhere.example'`,
    [],
  );
  const userLink = new URLSearchParams(new URL(url).hash.slice(1)).get('user-link');
  const answer = await send(test, 'POST', { userLink });
  expect([answer.status, answer.body.reason]).toEqual([403, 'TOKEN_REFUSED']);
  // A refused use keeps the link.
  await store.execute(
    `update user_account set email = 'linked@elsewhere.example' where email = 'moved@example.com'`,
    [],
  );
  expect((await send(test, 'POST', { userLink })).status).toBe(200);
});

it('a sign-in with fresh credentials is confirmed, and a personal access token confirms too', async () => {
  const halves = await signInFresh();
  const { data } = await ask(test, halves, createKey);
  const { token } = data.createApiKey;
  await test.app.services.store.execute('update console_session set confirmed_at = null where user_id is not null', []);
  expect(JSON.stringify(await ask(test, halves, createKey))).toContain('CONFIRMATION_REQUIRED');
  const path = '/console/session/confirmation';
  expect((await send(test, 'POST', { token: test.adminToken }, halves, path)).status).toBe(403);
  expect((await send(test, 'POST', { token }, halves, path)).status).toBe(204);
  expect(JSON.stringify(await ask(test, halves, createKey))).not.toContain('CONFIRMATION_REQUIRED');
});

it('signed links of a user without a key work, and end with the session', async () => {
  const halves = await signInAs(test, idp, 'corp', ada);
  const create = `mutation($organizationId: ID!) { createAttachmentUpload(input: { organizationId: $organizationId }) { attachmentUpload { url } userErrors { message } } }`;
  const organizationId = `org-${test.organizationId}`;
  const { data } = await ask(test, halves, create, {}, { organizationId });
  const url = data.createAttachmentUpload.attachmentUpload.url;
  const upload = async () => {
    const form = new FormData();
    form.set('file', new Blob(['text']), 'a.txt');
    return (await fetch(url, { method: 'POST', body: form })).status;
  };
  const second = await ask(test, halves, create, {}, { organizationId });
  expect(await upload()).toBe(200);
  await send(test, 'DELETE', undefined, halves);
  const form = new FormData();
  form.set('file', new Blob(['text']), 'a.txt');
  const late = await fetch(second.data.createAttachmentUpload.attachmentUpload.url, { method: 'POST', body: form });
  expect(late.status).toBe(401);
});

it('ends one session, or all of a user, when the provider says so', async () => {
  const one = await signInWithSid(bob);
  const two = await signInWithSid(bob);
  const adas = await signInAs(test, idp, 'corp', ada);
  expect(one.sid).not.toBe(two.sid);
  const socket = await openSocket(test, one.halves, test.url);
  const token = await idp.logoutToken({ sub: 'bob', sid: one.sid });
  expect(await logOut(token)).toEqual({ status: 200, body: {} });
  expect(await socket.closed).toBe(4403);
  expect([await isIn(one.halves), await isIn(two.halves)]).toEqual([false, true]);
  const third = await signInWithSid(bob);
  // The same token again.
  expect((await logOut(token)).status).toBe(400);
  expect((await logOut(await idp.logoutToken({ sub: 'bob' }))).status).toBe(200);
  expect([await isIn(two.halves), await isIn(third.halves), await isIn(adas)]).toEqual([false, false, true]);
});

it.each([
  ['is signed with another key', {}, true],
  ['is for another client', { aud: 'other' }, false],
  ['has another issuer', { iss: 'https://issuer.example' }, false],
  ['is an ID token with a nonce', { nonce: 'n' }, false],
  ['has no event', { events: {} }, false],
  ['names nobody', { sub: undefined }, false],
  ['has no id', { jti: undefined }, false],
  ['is an hour old', { iat: Math.floor(Date.now() / 1_000) - 3_600 }, false],
  ['has expired', { exp: Math.floor(Date.now() / 1_000) - 60 }, false],
] as const)('refuses a logout token that %s', async (_name, claims: Readonly<Record<string, unknown>>, isForged) => {
  const halves = await signInAs(test, idp, 'corp', bob);
  const token = await idp.logoutToken({ sub: 'bob', ...claims }, isForged);
  expect(await logOut(token)).toEqual({ status: 400, body: { error: 'invalid_request' } });
  expect(await isIn(halves)).toBe(true);
});

it('refuses texts that are no logout token, and other methods', async () => {
  expect((await logOut('')).status).toBe(400);
  expect((await logOut(await idp.logoutToken({ sub: 'bob' }), 'none')).status).toBe(400);
  expect((await fetch(`${test.url}/console/sign-on/corp/logout`)).status).toBe(405);
});

it('users of the domain sign in without tokens, except administrators', async () => {
  const member = { emails: ['member@example.com', 'guest@other.example'], enterprise_role_id: 'account_member' };
  const { body } = await call(test, test.adminToken, 'POST', '/v3/enterprise/members/users', member);
  const mutation = `mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { token userErrors { message } } }`;
  const tokens = await Promise.all(
    body.map(async ({ user_id: userId }: any) => {
      const input = { name: 'key', kind: { personalAccessToken: { userId } } };
      return (await graphql(test, test.adminToken, mutation, { input })).data.createApiKey.token;
    }),
  );
  const refused = await send(test, 'POST', { token: tokens[0] });
  expect(reasonOf(refused)).toEqual([403, 'TOKEN_REFUSED']);
  expect((await call(test, tokens[0], 'GET', '/v3/self')).status).toBe(200);
  expect(await isIn(await signIn(test, tokens[1]))).toBe(true);
  const adas = await signInFresh();
  const { data } = await ask(test, adas, createKey);
  expect(await isIn(await signIn(test, data.createApiKey.token))).toBe(true);
  expect(await isIn(await signIn(test, test.adminToken))).toBe(true);
});
