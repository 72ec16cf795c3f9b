import { expect, it } from 'vitest';
import { makeUser } from '../rest/rest-app.ts';
import { graphql } from '../support/app.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
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
