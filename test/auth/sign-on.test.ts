import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { stopClock } from '../support/clock.ts';
import { ask, type Halves, openSocket, send } from '../support/console.ts';
import { type IdentityProvider, startIdentityProvider, writeProviders } from '../support/identity-provider.ts';
import { answerOf, begin, complete, halvesOfAnswer, signInAs, signOn } from '../support/sign-on.ts';

let test: TestApp;
let [first, second]: IdentityProvider[] = [];
let corp: IdentityProvider;
let other: IdentityProvider;
const removals: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  [first, second] = await Promise.all([startIdentityProvider('corp', 60), startIdentityProvider('other')]);
  [corp, other] = [first as IdentityProvider, second as IdentityProvider];
  const defaultRole = { roleId: 'account_member' };
  const file = await writeProviders([
    { id: 'corp', label: 'Corp', issuer: corp.issuer, defaultRole },
    { id: 'other', label: 'Other', issuer: other.issuer, allowedDomains: ['other.example'], sessionHours: 1 },
  ]);
  test = await startApp({ oidcProvidersPath: file.path });
  await Promise.all([corp.serve(test.url), other.serve(test.url)]);
  removals.push(
    file.remove,
    () => corp.close(),
    () => other.close(),
  );
});
afterAll(async () => {
  await test?.close();
  await Promise.all(removals.map((remove) => remove()));
});
beforeEach(() => {
  corp.alter = null;
  corp.isDown = false;
  corp.account = ada;
});

const ada = { sub: 'ada-1', email: 'Ada@example.com', email_verified: true, name: 'Ada' } as const;
const viewerQuery = '{ viewer { principalType user { email name } enterprisePermissions } }';
const users = (email: string) =>
  call(test, test.adminToken, 'GET', `/v3/enterprise/members/users?email=${encodeURIComponent(email)}`);
const reasonOf = ({ status, body }: { status: number; body: { reason?: string } }) => [status, body.reason];

it('lists the providers without their settings', async () => {
  const { status, body } = await send(test, 'GET', undefined, {}, '/console/sign-on');
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      providers: [
        { id: 'corp', label: 'Corp' },
        { id: 'other', label: 'Other' },
      ],
      provider: null,
    },
  });
  expect((await send(test, 'GET', undefined, { 'switchyard-client': 'no' }, '/console/sign-on')).status).toBe(403);
  const foreign = { origin: 'https://evil.example.com' };
  expect((await send(test, 'POST', { provider: 'corp' }, foreign, '/console/sign-on')).status).toBe(403);
});

it('asks for a code with PKCE, state and nonce, and keeps the secrets from the page', async () => {
  const { address, transaction } = await begin(test, 'corp');
  const { searchParams } = new URL(address);
  expect(Object.fromEntries(searchParams)).toEqual({
    client_id: 'switchyard',
    response_type: 'code',
    redirect_uri: `${test.url}/sign-in/callback/corp`,
    scope: 'openid email profile groups',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
    state: expect.stringMatching(/^[a-z2-7]{52}$/),
    nonce: expect.stringMatching(/^[a-z2-7]{52}$/),
  });
  expect(transaction).toMatch(/^v1\./);
  expect(reasonOf(await send(test, 'POST', { provider: 'none' }, {}, '/console/sign-on'))).toEqual([
    404,
    'UNKNOWN_PROVIDER',
  ]);
});

it('creates the user at the first sign-in and finds it by its subject later', async () => {
  const answer = await signOn(test, 'corp', { returnTo: '/sessions?x=1' });
  expect(answer.body).toEqual({ pageSecret: expect.stringMatching(/^[a-z2-7]{52}$/), returnTo: '/sessions?x=1' });
  expect(answer.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^switchyard=[a-z2-7]{52}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/),
    expect.stringMatching(/^switchyard-sign-on=; Path=\/; Max-Age=0; HttpOnly; SameSite=Strict$/),
  ]);
  const halves = halvesOfAnswer(answer);
  expect((await ask(test, halves, viewerQuery)).data.viewer).toEqual({
    principalType: 'USER',
    user: { email: 'Ada@example.com', name: 'Ada' },
    enterprisePermissions: ['READ_ACCOUNT_META'],
  });
  expect((await openSocket(test, halves, test.url)).first).toBe('in');
  // Another address now: still the same user, and no user of the new address.
  await signInAs(test, corp, 'corp', { ...ada, email: 'lovelace@example.com' });
  expect((await users('lovelace@example.com')).body.items).toEqual([]);
  expect((await users('ada@example.com')).body.items).toHaveLength(1);
});

it('writes audit entries of the user', async () => {
  const { body } = await call(test, test.adminToken, 'GET', '/v3/enterprise/audit-logs?limit=100');
  const entries = body.items.map(({ action, data }: any) => [action, data]);
  expect(entries).toContainEqual(['add_member', expect.objectContaining({ provider: 'corp', role: 'account_member' })]);
  expect(entries).toContainEqual(['update_member', expect.objectContaining({ provider: 'corp', is_linked: true })]);
  expect(entries).toContainEqual(['login', expect.objectContaining({ provider: 'corp' })]);
});

it('links a user who exists once, by a verified address of an allowed domain', async () => {
  const invite = { emails: ['grace@example.com'], enterprise_role_id: 'account_member' };
  const { body } = await call(test, test.adminToken, 'POST', '/v3/enterprise/members/users', invite);
  const grace = { sub: 'grace-1', email: 'GRACE@example.com', email_verified: false };
  corp.account = grace;
  expect(reasonOf(await signOn(test, 'corp'))).toEqual([403, 'UNVERIFIED_EMAIL']);
  corp.account = { ...grace, email_verified: true };
  const halves = halvesOfAnswer(await signOn(test, 'corp'));
  const { data } = await ask(test, halves, '{ viewer { user { userId } } }');
  expect(data.viewer.user.userId).toBe(body[0].user_id);
  // The address was given to somebody else at the provider.
  corp.account = { ...grace, email_verified: true, sub: 'grace-2' };
  expect(reasonOf(await signOn(test, 'corp'))).toEqual([403, 'OTHER_IDENTITY']);
});

it('refuses other domains, missing addresses, a cancelled sign-in and users without a role', async () => {
  corp.account = { sub: 'x', email: 'eve@evil.example', email_verified: true };
  expect(reasonOf(await signOn(test, 'corp'))).toEqual([403, 'DOMAIN_NOT_ALLOWED']);
  corp.account = { sub: 'x', email: 'eve@sub.example.com', email_verified: true };
  expect(reasonOf(await signOn(test, 'corp'))).toEqual([403, 'DOMAIN_NOT_ALLOWED']);
  corp.account = { sub: 'x' };
  expect(reasonOf(await signOn(test, 'corp'))).toEqual([403, 'UNVERIFIED_EMAIL']);
  corp.account = null;
  expect(reasonOf(await signOn(test, 'corp'))).toEqual([403, 'DENIED']);
  other.account = { sub: 'y', email: 'y@other.example', email_verified: true };
  expect(reasonOf(await signOn(test, 'other'))).toEqual([403, 'NO_ROLE']);
  expect((await users('y@other.example')).body.items).toEqual([]);
});

it('a provider cannot take over a user of a domain that it does not answer for', async () => {
  other.account = { ...ada, sub: 'attacker' };
  expect(reasonOf(await signOn(test, 'other'))).toEqual([403, 'DOMAIN_NOT_ALLOWED']);
});

it('takes an answer once, from the browser that began, within ten minutes', async () => {
  const begun = await begin(test, 'corp');
  const parameters = await answerOf(test, begun);
  const stranger = { ...begun, cookie: (await begin(test, 'corp')).cookie };
  expect(reasonOf(await complete(test, stranger, parameters))).toEqual([401, 'EXPIRED']);
  expect(reasonOf(await complete(test, { ...begun, cookie: 'other=1' }, parameters))).toEqual([401, 'EXPIRED']);
  expect(reasonOf(await complete(test, { ...begun, transaction: 'v1.x.y' }, parameters))).toEqual([401, 'EXPIRED']);
  const answers = await Promise.all([1, 2, 3].map(() => complete(test, begun, parameters)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
  expect(reasonOf(await complete(test, begun, parameters))).toEqual([401, 'USED']);
  // The code alone, with a state of another sign-in of the same browser.
  const again = await begin(test, 'corp', { cookie: begun.cookie });
  const mixed = new URLSearchParams(parameters);
  mixed.set('state', new URL(again.address).searchParams.get('state') ?? '');
  expect(reasonOf(await complete(test, again, mixed))).toEqual([401, 'INVALID']);
  const clock = stopClock(test);
  const late = await begin(test, 'corp');
  const lateAnswer = await answerOf(test, late);
  clock.advance(600_000);
  expect(reasonOf(await complete(test, late, lateAnswer))).toEqual([401, 'EXPIRED']);
  (test.app.services as { now: () => Date }).now = () => new Date();
});

it('refuses the answer of another provider (mix-up)', async () => {
  other.account = { sub: 'ada-1', email: 'ada@other.example', email_verified: true };
  const honest = await begin(test, 'corp');
  const foreign = await answerOf(test, await begin(test, 'other'));
  const state = new URL(honest.address).searchParams.get('state') ?? '';
  foreign.set('state', state);
  // The answer names its issuer.
  expect(reasonOf(await complete(test, honest, foreign))).toEqual([401, 'INVALID']);
  // On the page of the other provider, the sign-in that began is not one of it.
  const again = await begin(test, 'corp');
  foreign.set('state', new URL(again.address).searchParams.get('state') ?? '');
  expect(reasonOf(await complete(test, { ...again, providerId: 'other' }, foreign))).toEqual([401, 'INVALID']);
  const third = await begin(test, 'corp');
  const answer = await answerOf(test, third);
  answer.delete('iss');
  expect(reasonOf(await complete(test, third, answer))).toEqual([401, 'INVALID']);
});

it.each([
  ['audience', { aud: 'another-client' }],
  ['issuer', { iss: 'https://issuer.example' }],
  ['nonce', { nonce: 'another-nonce' }],
  ['subject', { sub: '' }],
  ['time of issue', { iat: 4_000_000_000 }],
])('refuses an ID token with a wrong %s', async (_name, changed) => {
  corp.alter = (claims) => ({ ...claims, ...changed });
  expect(reasonOf(await signOn(test, 'corp'))).toEqual([401, 'INVALID']);
});

it('needs the code challenge at the provider', async () => {
  const begun = await begin(test, 'corp');
  const address = new URL(begun.address);
  address.searchParams.delete('code_challenge');
  address.searchParams.delete('code_challenge_method');
  const answer = await answerOf(test, { ...begun, address: address.href });
  expect(answer.get('error')).toBe('invalid_request');
  expect(reasonOf(await complete(test, begun, answer))).toEqual([403, 'DENIED']);
  // A code that was made for the challenge of somebody else.
  const victim = await begin(test, 'corp');
  const stolen = new URL(victim.address);
  const own = new URL((await begin(test, 'corp')).address).searchParams.get('code_challenge') ?? '';
  stolen.searchParams.set('code_challenge', own);
  const injected = await answerOf(test, { ...victim, address: stolen.href });
  expect(reasonOf(await complete(test, victim, injected))).toEqual([401, 'INVALID']);
});

it('verifies with the current keys of the provider', async () => {
  halvesOfAnswer(await signOn(test, 'corp'));
  await corp.rotateKeys();
  halvesOfAnswer(await signOn(test, 'corp'));
});

it('tolerates a clock that differs by 30 seconds, and no more', async () => {
  const { services } = test.app;
  const real = services.now;
  const at = (seconds: number) => {
    (services as { now: () => Date }).now = () => new Date(Date.now() + seconds * 1_000);
  };
  try {
    // ID tokens of this provider are valid for 60 seconds.
    at(80);
    halvesOfAnswer(await signOn(test, 'corp'));
    at(100);
    expect(reasonOf(await signOn(test, 'corp'))).toEqual([401, 'INVALID']);
    at(-20);
    halvesOfAnswer(await signOn(test, 'corp'));
    at(-60);
    expect(reasonOf(await signOn(test, 'corp'))).toEqual([401, 'INVALID']);
  } finally {
    (services as { now: () => Date }).now = real;
  }
});

it('says that the provider does not answer', async () => {
  const begun = await begin(test, 'corp');
  const parameters = await answerOf(test, begun);
  corp.isDown = true;
  const answer = await complete(test, begun, parameters);
  expect(reasonOf(answer)).toEqual([503, 'UNREACHABLE']);
  expect(answer.headers.get('retry-after')).toBe('5');
});

const isIn = async (halves: Halves) => (await ask(test, halves, viewerQuery)).status === 200;

it('a session ends with its lifetime, with the last role and with the user', async () => {
  const linus = { sub: 'linus', email: 'linus@example.com', email_verified: true };
  const halves = await signInAs(test, corp, 'corp', linus);
  const { data } = await ask(test, halves, '{ viewer { user { id userId } } }');
  const { id, userId } = data.viewer.user;
  const socket = await openSocket(test, halves, test.url);
  const unassign = { principal: { userId }, scope: { enterprise: true } };
  const mutation = (name: string, type: string) =>
    `mutation($input: ${type}!) { ${name}(input: $input) { userErrors { message } } }`;
  const removed = await graphql(test, test.adminToken, mutation('unassignRole', 'UnassignRoleInput'), {
    input: unassign,
  });
  expect(removed.data.unassignRole.userErrors).toEqual([]);
  expect(await socket.closed).toBe(4403);
  expect(await isIn(halves)).toBe(false);
  expect(reasonOf(await signOn(test, 'corp'))).toEqual([403, 'NO_ROLE']);
  const assign = { ...unassign, roleId: 'account_member' };
  await graphql(test, test.adminToken, mutation('assignRole', 'AssignRoleInput'), { input: assign });
  const again = await signInAs(test, corp, 'corp', linus);
  const clock = stopClock(test);
  clock.advance(12 * 3_600_000 + 120_000);
  expect(await isIn(again)).toBe(false);
  (test.app.services as { now: () => Date }).now = () => new Date();
  expect(await isIn(again)).toBe(true);
  const activity = async (name: string, type: string) =>
    (await graphql(test, test.adminToken, mutation(name, type), { input: { userId: id } })).data[name];
  expect(await activity('deactivateUser', 'DeactivateUserInput')).toEqual({ userErrors: [] });
  expect(await isIn(again)).toBe(false);
  expect(reasonOf(await signOn(test, 'corp'))).toEqual([403, 'USER_DEACTIVATED']);
  expect(await activity('reactivateUser', 'ReactivateUserInput')).toEqual({ userErrors: [] });
  expect(await isIn(again)).toBe(false);
  expect((await signOn(test, 'corp')).status).toBe(200);
  await graphql(test, test.adminToken, mutation('deleteUser', 'DeleteUserInput'), { input: { userId: id } });
  expect(await isIn(again)).toBe(false);
  expect(reasonOf(await signOn(test, 'corp'))).toEqual([403, 'USER_DELETED']);
});

it('a sign-out leads to the page of the provider that ends its session too', async () => {
  const halves = await signInAs(test, corp, 'corp', ada);
  const { status, body } = await send(test, 'DELETE', undefined, halves);
  expect(status).toBe(200);
  const address = new URL(body.address);
  expect(address.origin).toBe(corp.issuer);
  expect(address.searchParams.get('post_logout_redirect_uri')).toBe(`${test.url}/sign-in`);
  expect(await isIn(halves)).toBe(false);
});
