import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { ask, fromConsole, type Halves, send, signIn } from '../support/console.ts';
import { makeManager, makeRole, runMutation } from '../support/people.ts';
import { globalIdOf, keyInput, makeKey, makeUser, roleInput } from '../support/principals.ts';
import { makeOrganization } from '../support/sessions.ts';

const dayMs = 24 * 60 * 60 * 1_000;

let test: TestApp;
let clock: Clock;
beforeAll(async () => {
  test = await startApp();
  clock = stopClock(test);
});
afterAll(() => test.close());

const create = (userId: string, token?: string, more: object = {}) =>
  runMutation(test, 'createSignInLink', 'user { userId signInLink { expiresAt } } url', { userId, ...more }, token);
const codeOf = (url: string) => new URLSearchParams(new URL(url).hash.slice(1)).get('user-link') ?? '';

/** Creates a user of the first organization and a link for it. */
async function invite(token?: string): Promise<{ userId: string; userLink: string; token: string; email: string }> {
  const user = await makeUser(test);
  const { url, userErrors } = await create(user.userId, token);
  expect(userErrors).toEqual([]);
  return { ...user, userLink: codeOf(url) };
}
const enter = (userLink: string, headers: Readonly<Record<string, string>> = {}) =>
  send(test, 'POST', { userLink }, headers);

/** Uses a link and returns both halves of the sign-in. */
async function enterAs(userLink: string): Promise<Required<Halves>> {
  const { status, headers, body } = await enter(userLink);
  expect(status).toBe(200);
  const [cookie = ''] = headers.getSetCookie();
  return { cookie: cookie.split(';')[0] as string, 'switchyard-page-secret': body.pageSecret };
}
const viewer = '{ viewer { principalType principal { ... on User { userId } } } }';
const pendingOf = async (userId: string, token = test.adminToken) => {
  const document = `query($id: ID!) { node(id: $id) { ... on User { signInLink { createdAt expiresAt createdBy { displayName } } } } }`;
  const { data, errors } = await graphql(test, token, document, {
    id: globalIdOf('User', userId.replace('user-', '')),
  });
  return errors ? errors[0].extensions.code : data.node.signInLink;
};
const actionsOn = async (userId: string) =>
  (
    await test.app.services.store.query<{ action: string }>(
      'select action from audit_entry where target_id = $1 order by created_at, id',
      [userId.replace('user-', '')],
    )
  ).map(({ action }) => action);

it('signs the user in once, confirmed, so that the user can create a token', async () => {
  const { userId, userLink } = await invite();
  expect(await pendingOf(userId)).toMatchObject({ createdBy: { displayName: expect.any(String) } });
  const halves = await enterAs(userLink);
  expect((await ask(test, halves, viewer)).data.viewer).toEqual({ principalType: 'USER', principal: { userId } });
  const document = `mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { token userErrors { code } } }`;
  const input = keyInput({ kind: 'PERSONAL_ACCESS_TOKEN', name: 'mine' });
  const made = await ask(test, halves, document, {}, { input });
  expect(made.data.createApiKey).toMatchObject({ token: expect.stringMatching(/^cog_/), userErrors: [] });
  // The confirmation ends, and the token renews it.
  clock.advance(11 * 60_000);
  expect(JSON.stringify(await ask(test, halves, document, {}, { input }))).toContain('CONFIRMATION_REQUIRED');
  const confirm = { token: made.data.createApiKey.token };
  expect((await send(test, 'POST', confirm, halves, '/console/session/confirmation')).status).toBe(204);
  expect(await pendingOf(userId)).toBeNull();
  expect(await enter(userLink)).toMatchObject({ status: 401 });
  expect(await actionsOn(userId)).toContain('create_sign_in_link');
  const [login] = await test.app.services.store.query<{ data: object }>(
    `select data from audit_entry where action = 'login' and user_id = $1 order by created_at, id`,
    [userId.replace('user-', '')],
  );
  expect(login?.data).toMatchObject({ isSignInLink: true });
});

it('is used by one of many browsers that use it at the same time', async () => {
  const { userLink } = await invite();
  const statuses = (await Promise.all(Array.from({ length: 12 }, () => enter(userLink)))).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  expect(statuses.filter((status) => status === 401)).toHaveLength(11);
});

it('is not used up by programs that open it to show it, or by requests of other sites', async () => {
  const { userLink } = await invite();
  const { url } = test;
  for (const method of ['GET', 'HEAD']) {
    for (const path of ['/sign-in', `/sign-in?user-link=${userLink}`, '/console/session']) {
      await fetch(`${url}${path}`, { method });
    }
  }
  const body = { userLink };
  const post = (headers: Record<string, string>) => call(test, null, 'POST', '/console/session', body, headers);
  expect((await post({ origin: 'https://evil.example', ...fromConsole })).status).toBe(403);
  expect((await post({ origin: url })).status).toBe(403);
  const form = new URLSearchParams(body);
  const simple = await fetch(`${url}/console/session`, { method: 'POST', body: form, headers: { origin: url } });
  expect(simple.status).toBe(403);
  expect(simple.headers.getSetCookie()).toEqual([]);
  expect((await enter(userLink)).status).toBe(200);
});

it('is refused with one message when it has expired, was revoked or replaced, or is wrong', async () => {
  const expired = await invite();
  clock.advance(7 * dayMs);
  expect(await pendingOf(expired.userId)).toBeNull();
  const revoked = await invite();
  const revoke = (userId: string, token?: string) =>
    runMutation(test, 'revokeSignInLink', 'user { signInLink { expiresAt } }', { userId }, token);
  expect(await revoke(revoked.userId)).toMatchObject({ user: { signInLink: null }, userErrors: [] });
  expect(await revoke(revoked.userId)).toMatchObject({ error: 'NOT_FOUND' });
  expect(await actionsOn(revoked.userId)).toContain('revoke_sign_in_link');
  const replaced = await invite();
  await create(replaced.userId);
  const messages = [];
  for (const link of [expired.userLink, revoked.userLink, replaced.userLink, 'x'.repeat(43), '']) {
    const { status, body } = await enter(link);
    expect([status, body.pageSecret]).toEqual([401, undefined]);
    messages.push(body.message);
  }
  expect(new Set(messages).size).toBe(1);
});

it('ends with its user: deleted, without a role, or with more permissions than the creator', async () => {
  const deleted = await invite();
  await runMutation(test, 'deleteUser', 'deletedUserId', { userId: deleted.userId });
  const without = await invite();
  const scope = { userId: without.userId, organizationId: test.organizationId };
  await runMutation(test, 'unassignRole', 'clientMutationId', roleInput(scope));
  // A manager keeps a link until its user becomes an administrator.
  const { roleId } = await makeRole(test, 'ORGANIZATION', ['VIEW_ORG_SESSIONS']);
  const viewing = ['MANAGE_ACCOUNT_MEMBERSHIP', 'VIEW_ORG_SESSIONS'];
  const { token, serviceUserId } = await makeManager(test, ...viewing);
  const weak = await makeUser(test, { roleId });
  const kept = codeOf((await create(weak.userId, token)).url);
  const still = codeOf((await create((await makeUser(test, { roleId })).userId, token)).url);
  await runMutation(test, 'assignRole', 'clientMutationId', {
    ...roleInput({ userId: weak.userId }),
    roleId: 'account_admin',
  });
  for (const link of [deleted.userLink, without.userLink, kept]) expect((await enter(link)).status).toBe(401);
  expect((await enter(still)).status).toBe(200);
  // A link does not outlive its creator.
  const orphan = codeOf((await create((await makeUser(test, { roleId })).userId, token)).url);
  await runMutation(test, 'deleteServiceUser', 'deletedServiceUserId', { serviceUserId });
  expect((await enter(orphan)).status).toBe(401);
});

it('can be made by those who may create users, for users with no more permissions, and for nobody else', async () => {
  const member = await makeUser(test);
  const admin = await makeUser(test, { organizationId: null, roleId: 'account_admin' });
  const orgAdmin = await makeUser(test, { roleId: 'org_admin' });
  const { token: manager } = await makeManager(test, 'MANAGE_ACCOUNT_MEMBERSHIP');
  for (const token of [member.token, orgAdmin.token]) {
    for (const userId of [member.userId, admin.userId, `user-${'0'.repeat(32)}`]) {
      expect(await create(userId, token)).toMatchObject({ error: 'FORBIDDEN' });
      expect(await runMutation(test, 'revokeSignInLink', 'user { userId }', { userId }, token)).toMatchObject({
        error: 'FORBIDDEN',
      });
    }
  }
  for (const userId of [member.userId, admin.userId]) {
    expect(await create(userId, manager)).toMatchObject({ error: 'FORBIDDEN' });
  }
  expect(await create(`user-${'0'.repeat(32)}`, manager)).toMatchObject({ error: 'NOT_FOUND' });
  expect(await create(admin.userId, admin.token)).toMatchObject({ url: null, userErrors: [{ code: 'INVALID_INPUT' }] });
  expect(await pendingOf(member.userId, orgAdmin.token)).toBe('FORBIDDEN');
  // A key for one organization does not reach the user's other ones.
  const other = await makeOrganization(test, 'Other');
  const both = await makeUser(test);
  const scope = { userId: both.userId, organizationId: other.organizationId };
  await runMutation(test, 'assignRole', 'clientMutationId', { ...roleInput(scope), roleId: 'org_member' });
  const { roleId } = await makeRole(test, 'ENTERPRISE', ['MANAGE_ACCOUNT_MEMBERSHIP']);
  const narrow = await makeUser(test, { roleId: 'org_admin' });
  for (const [organizationId, role] of [
    [null, roleId],
    [other.organizationId, 'org_admin'],
  ]) {
    const input = { ...roleInput({ userId: narrow.userId, organizationId }), roleId: role };
    expect(await runMutation(test, 'assignRole', 'clientMutationId', input)).toMatchObject({ userErrors: [] });
  }
  const { organizationId } = test;
  const personal = await makeKey(test, { kind: 'PERSONAL', userId: narrow.userId, organizationId });
  expect(await create(both.userId, personal)).toMatchObject({ error: 'FORBIDDEN' });
  expect(await create(both.userId, narrow.token)).toMatchObject({ userErrors: [] });
});

it('needs a confirmation in the console, has bounds, and ends with the key that created it', async () => {
  const { userId } = await makeUser(test);
  const admin = await makeUser(test, { organizationId: null, roleId: 'account_admin' });
  const halves = await signIn(test, admin.token);
  const document = `mutation($input: CreateSignInLinkInput!) { createSignInLink(input: $input) { url userErrors { code } } }`;
  clock.advance(11 * 60_000);
  expect(JSON.stringify(await ask(test, halves, document, {}, { input: { userId } }))).toContain(
    'CONFIRMATION_REQUIRED',
  );
  for (const expiresInDays of [0, 8, -1]) {
    const refused = await create(userId, undefined, { expiresInDays });
    expect(refused).toMatchObject({ url: null, userErrors: [{ code: 'INVALID_INPUT' }] });
  }
  const now = test.app.services.now().getTime();
  const endOf = ({ user }: any) => Date.parse(user.signInLink.expiresAt) - now;
  expect(endOf(await create(userId))).toBe(7 * dayMs);
  expect(endOf(await create(userId, undefined, { expiresInDays: 1 }))).toBe(dayMs);
  const expiresAt = new Date(now + 60_000).toISOString();
  const short = await makeKey(test, { kind: 'PERSONAL_ACCESS_TOKEN', userId: admin.userId, expiresAt });
  expect(endOf(await create(userId, short))).toBe(60_000);
});

it('is stored as a hash only, shown once, and in no log entry', async () => {
  const { userId } = await makeUser(test);
  const input = { userId, idempotencyKey: `link-${userId}` };
  const selection = 'url wasReplayed';
  const first = await runMutation(test, 'createSignInLink', selection, input);
  expect(await runMutation(test, 'createSignInLink', selection, input)).toMatchObject({ url: null, wasReplayed: true });
  const code = codeOf(first.url);
  const rows = await test.app.services.store.query('select * from sign_in_link', []);
  const entries = await test.app.services.store.query('select * from audit_entry', []);
  expect(JSON.stringify([rows, entries])).not.toContain(code);
  expect((await enter(code)).status).toBe(200);
});

describe('an address', () => {
  it('with many wrong links is limited, as with wrong tokens', async () => {
    const limited = await startApp({ trustProxy: ['loopback'], rateLimitLogin: 5 });
    try {
      stopClock(limited);
      const from = { 'x-forwarded-for': '203.0.113.9' };
      const statuses = [];
      for (let n = 0; n < 7; n++) {
        const { status } = await send(limited, 'POST', { userLink: `wrong${n}` }, from);
        statuses.push(status);
      }
      expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
    } finally {
      await limited.close();
    }
  });
});
