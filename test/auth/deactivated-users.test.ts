import { expect, it } from 'vitest';
import { parseId } from '../../src/domain/ids.ts';
import { resolveStoredKey } from '../../src/domain/library/provider-keys/resolve.ts';
import { call, graphql } from '../support/app.ts';
import { createAutomation } from '../support/automations.ts';
import { ask, openSocket, send, signIn } from '../support/console.ts';
import { openStream } from '../support/event-stream.ts';
import { makeManager, rolesOf, runMutation } from '../support/people.ts';
import { makeKey, makeUser } from '../support/principals.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { uploadTo } from '../support/uploads.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const deactivate = (userId: string, token?: string) =>
  runMutation(test, 'deactivateUser', 'user { userId deactivatedAt }', { userId }, token);
const reactivate = (userId: string, token?: string) =>
  runMutation(test, 'reactivateUser', 'user { userId deactivatedAt }', { userId }, token);
const actionsOn = async (userId: string) =>
  (
    await test.app.services.store.query<{ action: string }>(
      'select action from audit_entry where target_id = $1 order by created_at, id',
      [parseId('user', userId)],
    )
  ).map(({ action }) => action);
const messages = 'subscription($id: ID!) { sessionMessages(sessionId: $id) { cursor } }';
const who = '{ viewer { principalType } }';

it('lose every key in every API, open streams and sign-ins, and get all but the sign-ins back', async () => {
  const { organizationId } = await makeOrganization(test, 'Leavers');
  const { userId, token } = await makeUser(test, { organizationId, roleId: 'org_admin' });
  const personal = await makeKey(test, { kind: 'PERSONAL', userId, organizationId });
  const id = await createSession(test, { organizationId }, token);
  const { url: attachment } = await uploadTo(test, organizationId, { name: 'a.txt', content: 'one' }, token);
  const halves = await signIn(test, token);
  const socket = follow(connect(test.url, token), messages, { id });
  const stream = await openStream(test.url, token, messages, { id });
  const events = await fetch(`${test.url}/v3/organizations/${organizationId}/sessions/devin-${id}/messages`, {
    headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
  });
  const page = await openSocket(test, halves, test.url);
  expect([events.status, page.first]).toEqual([200, 'in']);
  await Promise.all([socket.take(1), stream.take(1)]);
  const requests: [string, () => Promise<{ status: number }>][] = [
    ['v1', () => call(test, personal, 'GET', '/v1/sessions')],
    ['v2', () => call(test, personal, 'GET', '/v2/enterprise/organizations')],
    ['v3', () => call(test, token, 'GET', '/v3/self')],
    ['GraphQL', () => graphql(test, token, who)],
    ['GraphQL with a personal key', () => graphql(test, personal, who)],
    ['attachments', () => fetch(attachment, { headers: { authorization: `Bearer ${token}` }, redirect: 'manual' })],
    ['the console', () => ask(test, halves, who)],
    ['a sign-in with the token', () => send(test, 'POST', { token })],
  ];
  const statuses = () => Promise.all(requests.map(async ([, request]) => (await request()).status));
  const before = await statuses();
  expect(before).not.toContain(401);
  expect(await deactivate(userId)).toMatchObject({
    user: { userId, deactivatedAt: expect.any(String) },
    userErrors: [],
  });
  expect(await socket.ended).toMatchObject({ code: 4403 });
  expect(await page.closed).toBe(4403);
  await Promise.all([stream.rest(), events.text()]);
  expect(await statuses()).toEqual(requests.map(() => 401));
  const again = await deactivate(userId);
  expect(again.userErrors).toEqual([]);
  expect(await rolesOf(test, userId)).toEqual([[organizationId, 'org_admin']]);
  expect(await reactivate(userId)).toMatchObject({ user: { userId, deactivatedAt: null } });
  expect((await ask(test, halves, who)).status).toBe(401);
  expect(await statuses()).toEqual(before.map((status, n) => (requests[n]?.[0] === 'the console' ? 401 : status)));
  const actions = (await actionsOn(userId)).filter((action) => action.endsWith('activate_member'));
  expect(actions).toEqual(['deactivate_member', 'reactivate_member']);
});

it('are deactivated only by a caller with all their permissions, and never by themselves', async () => {
  const { userId, token } = await makeUser(test, { organizationId: null, roleId: 'account_admin' });
  const member = await makeUser(test);
  const manager = await makeManager(test, 'MANAGE_ACCOUNT_MEMBERSHIP');
  const missing = { error: 'FORBIDDEN', message: 'Missing permission MANAGE_ACCOUNT_MEMBERSHIP.' };
  const unknown = `user-${'0'.repeat(32)}`;
  for (const act of [deactivate, reactivate]) {
    expect(await act(member.userId, member.token)).toEqual(missing);
    expect(await act(unknown, member.token)).toEqual(missing);
    expect(await act(unknown)).toMatchObject({ error: 'NOT_FOUND' });
    expect(await act(userId, manager.token)).toMatchObject({ error: 'FORBIDDEN' });
  }
  expect((await deactivate(userId, token)).userErrors).toMatchObject([
    { path: ['input', 'userId'], message: 'You cannot deactivate yourself. Ask another administrator.' },
  ]);
  expect((await graphql(test, token, who)).status).toBe(200);
  await deactivate(userId);
  expect(await reactivate(userId, manager.token)).toMatchObject({ error: 'FORBIDDEN' });
  const browser = await signIn(test, test.adminToken);
  const document = 'mutation($input: DeactivateUserInput!) { deactivateUser(input: $input) { user { userId } } }';
  const done = await ask(test, browser, document, {}, { input: { userId: member.userId } });
  expect(done.data.deactivateUser.user).toEqual({ userId: member.userId });
});

it('get no sign-in link, and lose the pending one', async () => {
  const { userId } = await makeUser(test);
  const link = () => runMutation(test, 'createSignInLink', 'url', { userId });
  const { url } = await link();
  const userLink = new URLSearchParams(new URL(url).hash.slice(1)).get('user-link');
  await deactivate(userId);
  expect(await link()).toMatchObject({
    userErrors: [{ code: 'INVALID_STATE', message: 'The user is deactivated and could not sign in.' }],
  });
  expect((await send(test, 'POST', { userLink })).status).toBe(401);
  await reactivate(userId);
  expect((await send(test, 'POST', { userLink })).status).toBe(401);
  expect((await link()).userErrors).toEqual([]);
});

it('run no automations, start no sessions by others, and pay for nothing', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Work of leavers');
  const user = await makeUser(test, { organizationId, roleId: 'org_admin' });
  const { automation } = await createAutomation(test, { runAs: { type: 'CREATOR' } }, user.token);
  const { userErrors } = await runMutation(
    test,
    'createProviderKey',
    'providerKey { name }',
    { provider: 'OPENAI', name: 'Mine', key: 'sk-c4n4ry-own', scope: { viewer: true } },
    user.token,
  );
  expect(userErrors).toEqual([]);
  const run = async () =>
    (
      await runMutation(
        test,
        'runAutomation',
        'run { status error { message } }',
        { automationId: automation.automationId },
        token,
      )
    ).run;
  const keys = { organizationId: parseId('organization', organizationId) ?? '', userId: parseId('user', user.userId) };
  const pays = async () =>
    (await resolveStoredKey(test.app.services, { ...keys, providers: ['openai'] }))?.key !== undefined;
  const asUser = () =>
    call(test, token, 'POST', `/v3/organizations/${organizationId}/sessions`, {
      prompt: 'hello',
      create_as_user_id: user.userId,
    });
  expect([(await run()).status, await pays(), (await asUser()).status]).toEqual(['STARTED', true, 200]);
  await deactivate(user.userId);
  expect(await run()).toMatchObject({
    status: 'FAILED',
    error: { message: 'The user that the automation runs as was deleted or deactivated.' },
  });
  expect([await pays(), (await asUser()).status]).toEqual([false, 400]);
  await reactivate(user.userId);
  expect([(await run()).status, await pays(), (await asUser()).status]).toEqual(['STARTED', true, 200]);
});
