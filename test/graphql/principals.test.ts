import { describe, expect, it } from 'vitest';
import { newId, parseId } from '../../src/domain/ids.ts';
import { graphql } from '../support/app.ts';
import { runMutation } from '../support/people.ts';
import { globalIdOf, keyInput, makeKey, makeUser } from '../support/principals.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { seedSession } from '../support/usage.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const principal =
  '__typename id displayName ... on User { name } ... on ServiceUser { name } ... on ServiceKey { name apiKeyId }';

async function read(token: string, document: string, variables: Record<string, unknown>): Promise<any> {
  const { data, errors } = await graphql(test, token, document, variables);
  expect(errors).toBeUndefined();
  return data;
}

const creatorOf = async (sessionId: string, token = test.adminToken) =>
  (await read(token, `query($id: ID!) { session(id: $id) { createdBy { ${principal} } } }`, { id: sessionId })).session
    .createdBy;

const nodeOf = async (id: string, token = test.adminToken) =>
  (await read(token, `query($id: ID!) { node(id: $id) { __typename id ... on Principal { displayName } } }`, { id }))
    .node;

/** An organization with a service key, and that key's id. */
async function withKey(name: string) {
  const { organizationId, token } = await makeOrganization(test, name);
  const input = keyInput({ kind: 'SERVICE', organizationId, name: `Key of ${name}` });
  const made = await runMutation(test, 'createApiKey', 'token apiKey { apiKeyId }', input);
  return { organizationId, token, key: made.token as string, apiKeyId: made.apiKey.apiKeyId as string };
}

describe('the creator of an object', () => {
  it('has a name, for each of the four types', async () => {
    const { organizationId, token, key, apiKeyId } = await withKey('Made');
    const unnamed = await makeUser(test, { organizationId });
    const named = await makeUser(test, { organizationId, name: 'Ada' });
    const byUnnamed = await createSession(test, { organizationId }, unnamed.token);
    const byNamed = await createSession(test, { organizationId }, named.token);
    const byBot = await createSession(test, { organizationId }, token);
    const byKey = await createSession(test, { organizationId }, key);
    const byNobody = await seedSession(test, { organizationId: parseId('organization', organizationId) as string });
    const user = { __typename: 'User', id: expect.any(String) };
    expect(await creatorOf(byUnnamed)).toEqual({ ...user, displayName: unnamed.email, name: null });
    expect(await creatorOf(byNamed)).toEqual({ ...user, displayName: 'Ada', name: 'Ada' });
    expect(await creatorOf(byBot)).toMatchObject({
      __typename: 'ServiceUser',
      name: 'Made bot',
      displayName: 'Made bot',
    });
    expect(await creatorOf(byKey)).toEqual({
      __typename: 'ServiceKey',
      id: globalIdOf('ServiceKey', parseId('apiKey', apiKeyId) as string),
      displayName: 'Key of Made',
      name: 'Key of Made',
      apiKeyId,
    });
    expect(await creatorOf(byNobody)).toEqual({
      __typename: 'SystemPrincipal',
      id: globalIdOf('SystemPrincipal', 'system'),
      displayName: 'Switchyard',
    });
  });

  it('is the author of messages of both kinds of sending, and null for the agent', async () => {
    const { organizationId, key } = await withKey('Said');
    const sessionId = await createSession(test, { organizationId }, key);
    for (const more of [{}, { idempotencyKey: 'one' }]) {
      await runMutation(test, 'sendMessage', 'message { id }', { sessionId, body: 'go on', ...more }, key);
    }
    await say(test, sessionId, 'done');
    const document = 'query($id: ID!) { session(id: $id) { messages { nodes { type author { displayName } } } } }';
    const { session } = await read(key, document, { id: sessionId });
    const author = { displayName: 'Key of Said' };
    expect(session.messages.nodes).toEqual([
      { type: 'INITIAL_USER_MESSAGE', author },
      { type: 'USER_MESSAGE', author },
      { type: 'USER_MESSAGE', author },
      { type: 'AGENT_MESSAGE', author: null },
    ]);
  });

  it('may be a revoked key for every reader, although that is no node', async () => {
    const { organizationId, token, key, apiKeyId } = await withKey('Gone');
    const sessionId = await createSession(test, { organizationId }, key);
    const { id } = await creatorOf(sessionId, token);
    expect(await nodeOf(id, token)).toEqual({ __typename: 'ServiceKey', id, displayName: 'Key of Gone' });
    await runMutation(test, 'revokeApiKey', 'apiKey { id }', { apiKeyId });
    expect(await creatorOf(sessionId, token)).toMatchObject({ displayName: 'Key of Gone' });
    expect(await nodeOf(id, token)).toBeNull();
  });

  it('may be a service user or a key of the enterprise for every reader, although that is no node', async () => {
    const { organizationId } = await makeOrganization(test, 'Served');
    const { token: member } = await makeUser(test, { organizationId });
    const input = keyInput({
      kind: 'SERVICE',
      organizationId: null,
      roleId: 'account_admin',
      name: 'Key of the enterprise',
    });
    const { token: key } = await runMutation(test, 'createApiKey', 'token apiKey { apiKeyId }', input);
    for (const [token, Typename] of [
      [test.adminToken, 'ServiceUser'],
      [key, 'ServiceKey'],
    ] as const) {
      const sessionId = await createSession(test, { organizationId }, token);
      const creator = await creatorOf(sessionId);
      expect(creator).toMatchObject({ __typename: Typename, displayName: expect.any(String) });
      expect(await creatorOf(sessionId, member)).toEqual(creator);
      expect(await nodeOf(creator.id, member)).toBeNull();
    }
    const document = `query($id: ID!) {
      session(id: $id) { createdBy { ... on ServiceUser { roleAssignments { nodes { organizationId } } } } } }`;
    const sessionId = await createSession(test, { organizationId }, test.adminToken);
    // Its roles stay hidden.
    expect((await read(member, document, { id: sessionId })).session.createdBy).toEqual({
      roleAssignments: { nodes: [] },
    });
  });

  it('keeps a service user of another organization unknown', async () => {
    const { organizationId } = await makeOrganization(test, 'Visited');
    const { token: member } = await makeUser(test, { organizationId });
    const { serviceUserId } = await makeOrganization(test, 'Visitor');
    const sessionId = await createSession(test, { organizationId }, test.adminToken);
    await test.app.services.store.execute('update session set service_user_id = $2 where id = $1', [
      parseId('session', sessionId) ?? sessionId,
      parseId('serviceUser', serviceUserId),
    ]);
    expect(await creatorOf(sessionId)).toMatchObject({ displayName: 'Visitor bot' });
    expect(await creatorOf(sessionId, member)).toBeNull();
  });

  it('is hidden from viewers that share no organization with it', async () => {
    const { organizationId, key } = await withKey('Hidden');
    const { token: stranger } = await makeOrganization(test, 'Elsewhere');
    const sessionId = await createSession(test, { organizationId }, key);
    const { id } = await creatorOf(sessionId);
    expect(await nodeOf(id, stranger)).toBeNull();
    // A key of another kind has no such node.
    expect(await nodeOf(globalIdOf('ServiceKey', newId()))).toBeNull();
    expect(await nodeOf(globalIdOf('SystemPrincipal', 'other'))).toBeNull();
    expect(await nodeOf(globalIdOf('SystemPrincipal', 'system'), stranger)).toMatchObject({
      displayName: 'Switchyard',
    });
  });

  it('is the viewer, and the owner of the viewer’s key', async () => {
    const { organizationId, key, token } = await withKey('Self');
    const document = `query { viewer { principal { displayName } apiKeys { nodes { kind owner { ${principal} } } } } }`;
    const { viewer } = await read(key, document, {});
    expect(viewer.principal).toEqual({ displayName: 'Key of Self' });
    expect(viewer.apiKeys.nodes).toEqual([
      { kind: 'SERVICE', owner: expect.objectContaining({ name: 'Key of Self' }) },
    ]);
    const person = await makeUser(test, { organizationId, name: 'Grace' });
    for (const [of, name] of [
      [token, 'Self bot'],
      [person.token, 'Grace'],
      [await makeKey(test, { kind: 'PERSONAL', userId: person.userId, organizationId }), 'Grace'],
    ] as const) {
      expect((await read(of, document, {})).viewer.principal).toEqual({ displayName: name });
    }
  });
});

const made = 'createdBy { displayName } updatedBy { displayName } createdAt updatedAt';

/** The kinds of objects that can belong to the enterprise. */
const scoped = ['KnowledgeNote', 'KnowledgeFolder', 'Playbook'];

/** The creation and the update of each managed resource, with its selection. */
const resources: readonly (readonly [string, Record<string, unknown>, Record<string, unknown>, string])[] = [
  ['KnowledgeNote', { name: 'n', body: 'b', trigger: 't' }, { body: 'c' }, 'knowledgeNote'],
  ['KnowledgeFolder', { name: 'f' }, { name: 'g' }, 'knowledgeFolder'],
  ['Playbook', { title: 'p', body: 'b' }, { body: 'c' }, 'playbook'],
  ['Secret', { key: 'K', type: 'KEY_VALUE', value: 'v' }, { note: 'n' }, 'secret'],
  ['WebhookEndpoint', { url: 'https://example.test/' }, { description: 'd' }, 'webhookEndpoint'],
  [
    'Automation',
    { name: 'a', triggers: [], actions: [{ startSession: { prompt: 'go' } }] },
    { name: 'b' },
    'automation',
  ],
];

it.each(resources)('shows the creator and the last editor of a %s', async (type, input, change, field) => {
  const { organizationId, token, key } = await withKey(`Of ${type}`);
  const scope = scoped.includes(type) ? { scope: { organizationId } } : { organizationId };
  const created = await runMutation(test, `create${type}`, `${field} { id ${made} }`, { ...scope, ...input }, token);
  const bot = { displayName: `Of ${type} bot` };
  const first = created[field];
  expect(first).toMatchObject({ createdBy: bot, updatedBy: bot, updatedAt: first.createdAt });
  const idName = `${field}Id`;
  const updated = await runMutation(
    test,
    `update${type}`,
    `${field} { id ${made} }`,
    { [idName]: first.id, ...change },
    key,
  );
  const expected = { id: first.id, createdBy: bot, updatedBy: { displayName: `Key of Of ${type}` } };
  expect(updated[field]).toMatchObject(expected);
  const { node } = await read(token, `query($id: ID!) { node(id: $id) { id ... on ${type} { ${made} } } }`, {
    id: first.id,
  });
  expect(node).toEqual(updated[field]);
});
