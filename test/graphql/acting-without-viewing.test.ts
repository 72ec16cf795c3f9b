import { beforeAll, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
let token: string;
let organizationId: string;

// A role that may start and manage sessions, but not view them.
beforeAll(async () => {
  const made = await makeOrganization(test, 'Narrow');
  ({ token, organizationId } = made);
  const { store } = test.app.services;
  await store.execute(
    `insert into role (id, name, scope, permissions) values ('narrow', 'Narrow', 'organization', '{UseSessions,ManageOrgSessions}')`,
  );
  const bare = made.serviceUserId.replace('service-user-', '');
  const changed = await store.execute(
    `update role_assignment set role_id = 'narrow' where service_user_id = $1 returning id`,
    [bare],
  );
  expect(changed).toHaveLength(1);
});

const makeSession = async () => {
  const id = await createSession(test, { organizationId }, test.adminToken);
  await say(test, id, 'for other eyes');
  return id;
};

const send = (fields: string) =>
  `mutation($id: ID!) { sendMessage(input: { sessionId: $id, body: "hi" }) { session { ${fields} } message { body } userErrors { code } } }`;

it('runs an action, and returns the created object', async () => {
  const { data, errors } = await graphql(test, token, send('status'), { id: await makeSession() });
  expect(errors).toBeUndefined();
  expect(data.sendMessage).toMatchObject({ session: { status: 'NEW' }, message: { body: 'hi' }, userErrors: [] });
});

it.each([
  ['messages', '{ nodes { body } }'],
  ['events', '{ nodes { kind } }'],
])('does not read the log through the payload of an action: %s', async (field, fields) => {
  const { data, errors } = await graphql(test, token, send(`status ${field} ${fields}`), { id: await makeSession() });
  expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
  expect(errors?.[0].message).toContain('VIEW_ORG_SESSIONS');
  expect(data.sendMessage).toMatchObject({ session: { status: 'NEW', [field]: null }, message: { body: 'hi' } });
  expect(JSON.stringify({ data, errors })).not.toContain('for other eyes');
});

it('refuses to read or follow a session, whether it exists or not', async () => {
  const id = await makeSession();
  const { data } = await graphql(test, token, 'query($id: ID!) { session(id: $id) { title } }', { id });
  expect(data).toEqual({ session: null });
  const query = 'subscription($id: ID!) { sessionMessages(sessionId: $id) { node { body } } }';
  for (const each of [id, '0'.repeat(32)]) {
    const errors = await follow(connect(test.url, token), query, { id: each }).errors();
    expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
  }
});
