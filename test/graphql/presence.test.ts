import { expect, it } from 'vitest';
import { makeUser } from '../rest/rest-app.ts';
import { graphql } from '../support/app.ts';
import { runMutation } from '../support/people.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { testDatabase } from '../support/test-store.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
const report = `mutation($input: SendPresenceInput!) { sendPresence(input: $input) { session { viewers { isTyping
  principal { displayName } } } userErrors { code path } } }`;
const watch = 'subscription($id: ID!) { sessionPresence(sessionId: $id) { isTyping principal { displayName } } }';
const send = (token: string, input: object) => graphql(test, token, report, { input });

it('shows the viewers of a session to each other, and to nobody else', async () => {
  const id = await createSession(test, { prompt: 'Wait' });
  const member = (await makeUser(test, test.organizationId)).v3Token;
  const presence = follow<any>(connect(test.url, member), watch, { id });
  const next = async () => {
    const [payload] = await presence.take(1);
    return payload.data.sessionPresence.map(({ isTyping, principal }: any) => [
      principal?.displayName ?? null,
      isTyping,
    ]);
  };
  expect(await next()).toEqual([]);
  const { data } = await send(test.adminToken, { sessionId: id, clientId: 'tab-1', isTyping: true });
  expect(data.sendPresence).toMatchObject({ userErrors: [], session: { viewers: [{ isTyping: true }] } });
  const [[name, isTyping]] = await next();
  expect(isTyping).toBe(true);
  await send(member, { sessionId: id, clientId: 'tab-1' });
  expect(await next()).toHaveLength(2);
  await send(test.adminToken, { sessionId: id, clientId: 'tab-1', hasLeft: true });
  const rest = await next();
  expect(rest).toHaveLength(1);
  expect(rest[0][0]).not.toBe(name);
  const stored = await test.app.services.store.query<{ count: number }>(
    'select count(*)::int as count from log_entry where session_id = $1 and kind <> $2',
    [id, 'STATUS'],
  );
  expect(stored[0]?.count).toBe(1);

  const { token } = await makeOrganization(test, 'Another');
  const refused = await send(token, { sessionId: id, clientId: 'tab-1' });
  expect(refused.data.sendPresence?.session ?? null).toBeNull();
  const codeOf = ({ data, errors }: any) => errors?.[0].extensions.code ?? data.sendPresence.userErrors[0].code;
  // The same as for an id that does not exist.
  expect(codeOf(refused)).toBe(codeOf(await send(token, { sessionId: 'f'.repeat(32), clientId: 'tab-1' })));
  const other = await follow(connect(test.url, token), watch, { id }).errors();
  expect(other[0]?.extensions?.code).toBe(codeOf(refused));
  const named = await send(test.adminToken, { sessionId: id, clientId: '<b>\u202e' });
  expect(named.data.sendPresence.userErrors).toEqual([{ code: 'INVALID_INPUT', path: ['input', 'clientId'] }]);
});

it('reaches subscribers of other processes, until they may no longer see the session', async () => {
  const other = testDatabase === 'postgres' ? await test.another() : test;
  try {
    const id = await createSession(test, { prompt: 'Wait' });
    const { userId, v3Token } = await makeUser(test, test.organizationId);
    const presence = follow<any>(connect(other.url, v3Token), watch, { id });
    expect((await presence.take(1))[0].data.sessionPresence).toEqual([]);
    await send(test.adminToken, { sessionId: id, clientId: 'tab-1', isTyping: true });
    expect((await presence.take(1))[0].data.sessionPresence).toMatchObject([{ isTyping: true }]);
    // A client id belongs to its principal, in every process.
    await graphql(other, v3Token, report, { input: { sessionId: id, clientId: 'tab-1', hasLeft: true } });
    await graphql(other, v3Token, report, { input: { sessionId: id, clientId: 'tab-2' } });
    expect((await presence.take(1))[0].data.sessionPresence).toMatchObject([{ isTyping: true }, { isTyping: false }]);
    const member = { principal: { userId }, scope: { organizationId: test.organizationId } };
    expect(await runMutation(test, 'unassignRole', 'user { userId }', member)).toMatchObject({ userErrors: [] });
    await expect
      .poll(() =>
        graphql(other, v3Token, report, { input: { sessionId: id, clientId: 'x' } }).then(
          ({ data }) => data.sendPresence?.session ?? null,
        ),
      )
      .toBeNull();
    await send(test.adminToken, { sessionId: id, clientId: 'tab-1', isTyping: false });
    expect(await presence.ended).toBe('complete');
    await expect(presence.take(1)).rejects.toThrow('ended');
  } finally {
    if (other !== test) await other.close();
  }
});
