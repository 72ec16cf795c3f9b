import { isInterfaceType, isObjectType } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { schema } from '../../src/api/graphql/schema/index.ts';
import { newId } from '../../src/domain/ids.ts';
import { graphql } from '../support/app.ts';
import { startSession } from '../support/automations.ts';
import { seedFollowUp } from '../support/followed-pull-requests.ts';
import { makeManager, runMutation } from '../support/people.ts';
import { globalIdOf, makeUser, otherId, scopeOf } from '../support/principals.ts';
import { sessionWithCheckpoint } from '../support/session-checkpoints.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
let organizationId: string;
let token: string;
let stranger: string;
/** The lookup field, the type of its object, the REST id, and the unprefixed id. */
const resources: { field: string; type: string; restId: string; id: string }[] = [];
const resourceOf = (field: string) => resources.find((each) => each.field === field) as (typeof resources)[number];
const names = {
  playbook: 'Playbook',
  knowledgeNote: 'KnowledgeNote',
  knowledgeFolder: 'KnowledgeFolder',
  secret: 'Secret',
  snapshot: 'Snapshot',
  user: 'User',
  role: 'Role',
};
const takesBy = (field: string) => field in names;
let manager: string;

beforeAll(async () => {
  const organization = await makeOrganization(test, 'Looked up');
  ({ organizationId, token } = organization);
  stranger = (await makeOrganization(test, 'Strangers')).token;
  const scope = scopeOf(organizationId);
  const add = (field: string, type: string, restId: string) =>
    resources.push({ field, type, restId, id: restId.replace(/^.*[-_]/, '') });
  const make = async (field: string, type: string, input: Record<string, unknown>, by = token) => {
    const noun = `${field[0]?.toUpperCase()}${field.slice(1)}`;
    const made = await runMutation(test, `create${noun}`, `${field} { restId: ${field}Id }`, input, by);
    add(field, type, made[field].restId);
  };
  await make('playbook', 'Playbook', { scope, title: 'Release', body: 'b', macro: '!Release' });
  await make('knowledgeFolder', 'KnowledgeFolder', { scope, name: 'Backend' });
  const parentId = resourceOf('knowledgeFolder').restId;
  resources.pop();
  await make('knowledgeFolder', 'KnowledgeFolder', { scope, name: 'Databases', parentId });
  await make('knowledgeNote', 'KnowledgeNote', { scope, name: 'n', body: 'b', trigger: 't', macro: '!Note' });
  await make('secret', 'Secret', { organizationId, key: 'DEPLOY_KEY', type: 'KEY_VALUE', value: 'c4n4ry' });
  await make('webhookEndpoint', 'WebhookEndpoint', {
    organizationId,
    url: 'https://example.com/',
    eventTypes: ['SESSION_MESSAGE'],
  });
  const saved = await sessionWithCheckpoint(test, token);
  add('checkpoint', 'Checkpoint', saved.checkpointId);
  await make('snapshot', 'Snapshot', { sessionId: saved.sessionId, name: 'Base' });
  const automation = {
    organizationId,
    name: 'a',
    triggers: [{ event: { eventType: 'session:finished' } }],
    actions: [startSession],
  };
  await make('automation', 'Automation', automation);
  add('serviceUser', 'ServiceUser', organization.serviceUserId);
  add('principal', 'ServiceUser', organization.serviceUserId);
  add('user', 'User', (await makeUser(test, { organizationId, email: 'Ada@lookups.test' })).userId);
  manager = (await makeManager(test, 'READ_ACCOUNT_META')).token;
  const run = await runMutation(
    test,
    'runAutomation',
    'run { automationRunId }',
    { automationId: resourceOf('automation').restId },
    token,
  );
  add('automationRun', 'AutomationRun', run.run.automationRunId);
  const sessionId = await createSession(test, {}, token);
  add('session', 'Session', `devin-${sessionId}`);
  add('followUp', 'FollowUp', (await seedFollowUp(test, sessionId)).followUpId);
  const { data } = await graphql(
    test,
    test.adminToken,
    `query($id: ID!, $session: ID!) {
      organization(id: $id) { apiKeys { nodes { apiKeyId } } members { nodes { id } } }
      session(id: $session) { messages(first: 1) { nodes { eventId } } } }`,
    { id: organizationId, session: sessionId },
  );
  add('apiKey', 'ApiKey', data.organization.apiKeys.nodes[0].apiKeyId);
  add('sessionEvent', 'SessionMessage', data.session.messages.nodes[0].eventId);
  const member = Buffer.from(data.organization.members.nodes[0].id, 'base64').toString().replace('Member:', '');
  add('member', 'Member', `member-${member}`);
  const { store } = test.app.services;
  const [attachment, delivery] = [newId(), newId()];
  const bare = organizationId.replace('org-', '');
  await store.execute(
    `insert into attachment (id, organization_id, session_id, name, content_type, size_bytes, storage_key, source, created_at)
     values ($1, $2, $3, 'f', 'text/plain', 1, 'k', 'user', now())`,
    [attachment, bare, sessionId],
  );
  await store.execute(
    `insert into webhook_delivery (id, organization_id, endpoint_id, event_type, event_id, status, attempts, begun_at, created_at)
     values ($1, $2, $3, 'session.message', $4, 'failed', '[]', now(), now())`,
    [delivery, bare, resourceOf('webhookEndpoint').id, newId()],
  );
  add('attachment', 'Attachment', `attachment-${attachment}`);
  add('webhookDelivery', 'WebhookDelivery', `delivery-${delivery}`);
});

const selection = '{ __typename ... on Node { id } }';

/** The result of a lookup by id: the type and the global id, or null. */
async function find(field: string, id: string, as = token): Promise<unknown> {
  const arg = takesBy(field) ? 'by: {id: $id}' : 'id: $id';
  const { data, errors } = await graphql(test, as, `query($id: ID!) { found: ${field}(${arg}) ${selection} }`, { id });
  expect(errors).toBeUndefined();
  return data.found;
}

it('covers every type of node', () => {
  const fields = Object.values(schema.getQueryType()?.getFields() ?? {}).filter(({ name }) => !/^nodes?$/.test(name));
  const found = new Set<string>();
  for (const { args, type } of fields) {
    const takes = args.map(({ name }) => name).join();
    if (takes !== 'id' && takes !== 'by') continue;
    const named = schema.getType(String(type));
    if (isInterfaceType(named)) for (const { name } of schema.getPossibleTypes(named)) found.add(name);
    if (isObjectType(named)) found.add(named.name);
    expect(String(type)).not.toMatch(/!$/);
  }
  const node = schema.getType('Node');
  const types = isInterfaceType(node) ? schema.getPossibleTypes(node).map(({ name }) => name) : [];
  // The enterprise is the viewer's own: there is one.
  expect(types.filter((name) => !found.has(name))).toEqual(['Enterprise']);
});

it('finds each object by its id in every form, and nothing for strangers and unknown ids', async () => {
  expect(resources.map(({ field }) => field)).toHaveLength(19);
  for (const { field, type, restId, id } of resources) {
    const expected = { __typename: type, id: globalIdOf(type, id) };
    for (const form of [restId, id, globalIdOf(type, id)]) expect(await find(field, form), field).toEqual(expected);
    expect(await find(field, restId, stranger), field).toBeNull();
    for (const none of [otherId(id), globalIdOf('Role', id), '', '\u0000', 'x'.repeat(1_000)]) {
      expect(await find(field, none), `${field} ${none.slice(0, 50)}`).toBeNull();
    }
  }
});

it('finds agents, roles, audit log entries and the service itself', async () => {
  expect(await find('agent', 'demo')).toEqual({ __typename: 'Agent', id: globalIdOf('Agent', 'demo') });
  expect(await find('agent', globalIdOf('Agent', 'demo'))).toMatchObject({ __typename: 'Agent' });
  expect(await find('agent', 'none')).toBeNull();
  expect(await find('role', 'org_admin')).toMatchObject({ __typename: 'Role' });
  const system = globalIdOf('SystemPrincipal', 'system');
  expect(await find('principal', system)).toEqual({ __typename: 'SystemPrincipal', id: system });
  const { data } = await graphql(test, test.adminToken, '{ enterprise { auditLog(first: 1) { nodes { id } } } }');
  const [{ id }] = data.enterprise.auditLog.nodes;
  expect(await find('auditLogEntry', id, test.adminToken)).toEqual({ __typename: 'AuditLogEntry', id });
  // FORBIDDEN would reveal that it exists.
  expect(await find('auditLogEntry', id)).toBeNull();
});

it('resolves prefixed ids in node and nodes', async () => {
  const prefixed = resources.filter(({ restId, id, field }) => restId !== id && field !== 'principal');
  expect(prefixed.length).toBeGreaterThan(12);
  const ids = prefixed.map(({ restId }) => restId);
  const document = `query($ids: [ID!]!, $id: ID!) { nodes(ids: $ids) { __typename id } node(id: $id) { id } }`;
  const { data } = await graphql(test, token, document, { ids, id: ids[0] });
  const expected = prefixed.map(({ type, id }) => ({ __typename: type, id: globalIdOf(type, id) }));
  expect(data).toEqual({ nodes: expected, node: { id: expected[0]?.id } });
  const foreign = await graphql(test, stranger, document, { ids, id: ids[0] });
  expect(foreign.data).toEqual({ nodes: ids.map(() => null), node: null });
});

describe('by another unique key', () => {
  const by = async (field: string, value: string, as = token) => {
    const { data, errors } = await graphql(test, as, `{ found: ${field}(by: {${value}}) ${selection} }`);
    return errors ? errors[0].extensions.code : data.found;
  };
  const at = (scope: string) => `scope: {${scope}}`;
  const here = () => at(`organizationId: "${organizationId}"`);
  const keys = {
    playbook: (scope: string, text = '!rELEASE') => `macro: {macro: "${text}", ${scope}}`,
    knowledgeNote: (scope: string, text = '!NOTE') => `macro: {macro: "${text}", ${scope}}`,
    knowledgeFolder: (scope: string, text = '/backend/DATABASES/') => `path: {path: "${text}", ${scope}}`,
  };

  it.each(Object.entries(keys))('finds a %s in its own scope, ignoring case', async (field, key) => {
    const { type, id } = resourceOf(field);
    expect(await by(field, key(here()))).toEqual({ __typename: type, id: globalIdOf(type, id) });
    expect(await by(field, key(here()), test.adminToken)).toMatchObject({ __typename: type });
    expect(await by(field, key(here()), stranger)).toBeNull();
    expect(await by(field, key(here()), manager)).toBeNull();
    expect(await by(field, key(at('enterprise: true')))).toBeNull();
    for (const scope of [at(`organizationId: "org-${newId()}"`), at('organizationId: "x"')]) {
      expect(await by(field, key(scope))).toBeNull();
    }
    for (const text of ['', '!none', '/', 'Backend/None', 'Databases', '\\u0000']) {
      expect(await by(field, key(here(), text)), text).toBeNull();
    }
    expect(await by(field, key(at('enterprise: false')))).toBe('INVALID_INPUT');
    expect(await by(field, `${key(here())}, id: "x"`)).toBe('GRAPHQL_VALIDATION_FAILED');
  });

  it('finds a playbook of the enterprise for its organizations', async () => {
    const input = { scope: { enterprise: true }, title: 'All', body: 'b', macro: '!all' };
    await runMutation(test, 'createPlaybook', 'playbook { id }', input);
    expect(await by('playbook', keys.playbook(at('enterprise: true'), '!all'))).toMatchObject({
      __typename: 'Playbook',
    });
    expect(await by('playbook', keys.playbook(here(), '!all'))).toBeNull();
  });

  it('finds no deleted playbook', async () => {
    const input = { scope: scopeOf(organizationId), title: 'Gone', body: 'b', macro: '!gone' };
    const { playbook } = await runMutation(test, 'createPlaybook', 'playbook { id }', input, token);
    const key = keys.playbook(here(), '!gone');
    expect(await by('playbook', key)).toMatchObject({ id: playbook.id });
    await runMutation(test, 'deletePlaybook', 'deletedPlaybookId', { playbookId: playbook.id }, token);
    expect(await by('playbook', key)).toBeNull();
    expect(await find('playbook', playbook.id)).toBeNull();
  });

  it('finds a secret by its key', async () => {
    const key = (text: string) => `key: {organizationId: "${organizationId}", key: "${text}"}`;
    expect(await by('secret', key('DEPLOY_KEY'))).toMatchObject({ id: globalIdOf('Secret', resourceOf('secret').id) });
    expect(await by('secret', key('deploy_key'))).toBeNull();
    for (const as of [stranger, manager]) expect(await by('secret', key('DEPLOY_KEY'), as)).toBeNull();
  });

  it('finds a user by email address', async () => {
    const id = globalIdOf('User', resourceOf('user').id);
    expect(await by('user', 'email: "aDA@lookups.test"')).toEqual({ __typename: 'User', id });
    expect(await by('user', 'email: "ada@lookups.test"', stranger)).toBeNull();
    expect(await by('user', 'email: "nobody@lookups.test"')).toBeNull();
  });

  it('finds a role by its name, the enterprise’s for callers that may view roles', async () => {
    const input = { name: 'Looker', scope: 'ORGANIZATION', permissions: ['VIEW_ORG_SESSIONS'] };
    const { role } = await runMutation(test, 'createRole', 'role { id }', input);
    const key = (scope: string, name = 'LOOKER') => `name: {name: "${name}", scope: ${scope}}`;
    expect(await by('role', key('ORGANIZATION'), test.adminToken)).toMatchObject({ id: role.id });
    expect(await by('role', key('ENTERPRISE'), test.adminToken)).toBeNull();
    expect(await by('role', key('ORGANIZATION'))).toBeNull();
    const { data } = await graphql(test, token, '{ role(by: {id: "org_admin"}) { name scope } }');
    expect(await by('role', key(data.role.scope, data.role.name))).toMatchObject({ __typename: 'Role' });
  });

  it('reads many objects together', async () => {
    const aliases = Array.from(
      { length: 20 },
      (_, n) => `f${n}: playbook(by: {${keys.playbook(here(), `!m${n}`)}}) { id }`,
    );
    const { store } = test.app.services;
    const original = store.query;
    const statements: string[] = [];
    store.query = (sql: string, values?: readonly unknown[]) => {
      if (sql.includes('from unnest($1::text[], $6::text[])')) statements.push(sql);
      return original.call(store, sql, values) as never;
    };
    try {
      const { errors } = await graphql(test, token, `{ ${aliases.join(' ')} }`);
      expect(errors).toBeUndefined();
    } finally {
      store.query = original;
    }
    expect(statements).toHaveLength(1);
  });
});
