import { beforeAll, describe, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { globalIdOf, makeKey, makeUser, otherId } from '../support/principals.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { gql, query } from '../support/typed-graphql.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
let other: { organizationId: string; token: string; serviceUserId: string };
beforeAll(async () => {
  other = await makeOrganization(test, 'Other');
});

const parts = (id = '') => Buffer.from(id, 'base64').toString().split(':') as [type: string, id: string];

const viewerQuery = gql(`query {
  viewer { principalType user { userId email } serviceUser { serviceUserId } organization { organizationId } permissions }
  enterprise { name }
  organizations { nodes { organizationId } }
}`);

const memberPermissions = [
  'USE_PERSONAL_AUTOMATIONS',
  'USE_SESSIONS',
  'VIEW_ORG_AUTOMATIONS',
  'VIEW_ORG_MEMBERSHIP',
  'VIEW_ORG_SESSIONS',
];

describe('the viewer', () => {
  it('of a personal access token is its user, with the permissions of its roles', async () => {
    const { userId, email, token } = await makeUser(test);
    const { viewer, enterprise, organizations } = await query(test, token, viewerQuery, {});
    expect(viewer).toEqual({
      principalType: 'USER',
      user: { userId, email },
      serviceUser: null,
      organization: null,
      permissions: memberPermissions,
    });
    // It belongs to no organization, but may not read the enterprise either.
    expect(enterprise).toBeNull();
    expect(organizations.nodes).toEqual([{ organizationId: `org-${test.organizationId}` }]);
  });

  it('of a personal key is its user, in the one organization of the key', async () => {
    const { userId, email } = await makeUser(test);
    const token = await makeKey(test, { kind: 'PERSONAL', userId, organizationId: test.organizationId });
    expect(token).toMatch(/^apk_user_/);
    const { viewer, enterprise } = await query(test, token, viewerQuery, {});
    expect(viewer).toEqual({
      principalType: 'USER',
      user: { userId, email },
      serviceUser: null,
      organization: { organizationId: `org-${test.organizationId}` },
      permissions: memberPermissions,
    });
    expect(enterprise).toBeNull();
  });

  it('of a service key is the key, with the permissions of its role', async () => {
    const { organizationId } = other;
    const token = await makeKey(test, { kind: 'SERVICE', organizationId, roleId: 'org_member' });
    const { viewer, enterprise, organizations } = await query(test, token, viewerQuery, {});
    expect(viewer).toEqual({
      principalType: 'SERVICE_KEY',
      user: null,
      serviceUser: null,
      organization: { organizationId },
      permissions: memberPermissions,
    });
    expect(enterprise).toBeNull();
    expect(organizations.nodes).toEqual([{ organizationId }]);
  });

  it('of a service user’s token is the service user', async () => {
    const { viewer, enterprise } = await query(test, other.token, viewerQuery, {});
    expect(viewer).toMatchObject({
      principalType: 'SERVICE_USER',
      user: null,
      serviceUser: { serviceUserId: other.serviceUserId },
      organization: { organizationId: other.organizationId },
    });
    expect(viewer.permissions).toEqual(expect.arrayContaining([...memberPermissions, 'MANAGE_ORG_SESSIONS']));
    expect(viewer.permissions.filter((permission) => /ACCOUNT|ENTERPRISE|ORGANIZATIONS/.test(permission))).toEqual([]);
    expect(enterprise).toBeNull();
  });
});

const one = gql(`query($session: ID!, $organization: ID!) {
  session(id: $session) { sessionId organization { name } createdBy { __typename } }
  organization(id: $organization) { organizationId }
}`);

it.each([
  ['bare', (_type: string, _prefix: string, id: string) => id],
  ['prefixed', (_type: string, prefix: string, id: string) => prefix + id],
  ['doubly prefixed', (_type: string, prefix: string, id: string) => prefix + prefix + id],
  ['global', (type: string, _prefix: string, id: string) => globalIdOf(type, id)],
  [
    'as a UUID',
    (_type: string, _prefix: string, id: string) => id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  ],
])('reads a session and an organization by an id in the form %s', async (_what, form) => {
  const id = await createSession(test);
  const data = await query(test, test.adminToken, one, {
    session: form('Session', 'devin-', id),
    organization: form('Organization', 'org-', test.organizationId),
  });
  expect(data.session).toMatchObject({ sessionId: `devin-${id}`, createdBy: { __typename: 'ServiceUser' } });
  expect(data.organization).toEqual({ organizationId: `org-${test.organizationId}` });
});

it('returns the same null for another organization’s ids, unknown ids, and invalid ones', async () => {
  const id = await createSession(test);
  const pairs: [string, string][] = [
    [id, test.organizationId],
    [otherId(id), otherId(test.organizationId)],
    [globalIdOf('Organization', id), globalIdOf('Session', test.organizationId)],
    [globalIdOf('Session', "x' or 1=1 --"), 'org-'],
    ['', ''],
    ['devin-\u0000', 'org-\u{1F600}'],
    ['\ud800', 'x'.repeat(10_000)],
  ];
  for (const [session, organization] of pairs) {
    const data = await query(test, other.token, one, { session, organization });
    expect(data).toEqual({ session: null, organization: null });
  }
});

const node = gql(`query($id: ID!) { node(id: $id) { __typename id } }`);
const nodes = gql(`query($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on Session { sessionId } } }`);

async function globalIds(): Promise<Record<string, string>> {
  const id = await createSession(test);
  await say(test, id, 'hello');
  const { data } = await graphql(
    test,
    test.v1Key,
    `query($id: ID!) { viewer { user { id } organization { id members(first: 1) { nodes { id } } } }
       session(id: $id) { id createdBy { ... on ServiceUser { id } } messages { nodes { id } } events(first: 1) { nodes { id } } } }`,
    { id },
  );
  const enterprise = await graphql(test, test.adminToken, '{ viewer { serviceUser { id } } enterprise { id } }');
  return {
    User: data.viewer.user.id,
    Organization: data.viewer.organization.id,
    Member: data.viewer.organization.members.nodes[0].id,
    Session: data.session.id,
    SessionMessage: data.session.messages.nodes[1].id,
    StatusEvent: data.session.events.nodes[0].id,
    ServiceUser: enterprise.data.viewer.serviceUser.id,
    Enterprise: enterprise.data.enterprise.id,
  };
}

it('reads every type by its global id, alone and with others, in the requested order', async () => {
  const ids = await globalIds();
  for (const [type, id] of Object.entries(ids)) {
    expect(await query(test, test.adminToken, node, { id })).toEqual({ node: { __typename: type, id } });
  }
  const wanted = [...Object.values(ids), 'garbage', ...Object.values(ids).reverse()];
  const { nodes: read } = await query(test, test.adminToken, nodes, { ids: wanted });
  expect(read.map((each) => each?.id ?? 'garbage')).toEqual(wanted);
});

it('returns null for ids of other forms and types, invalid ids, and objects out of sight', async () => {
  const ids = await globalIds();
  const [type, id] = parts(ids.Session);
  const strangers = [
    id,
    `org-${id}`,
    globalIdOf('Organization', id),
    globalIdOf('SessionEvent', id),
    globalIdOf('Secret', id),
    globalIdOf('__proto__', id),
    globalIdOf('constructor', id),
    globalIdOf('Query', ''),
    globalIdOf(type, otherId(id)),
    globalIdOf(type, `${id}' or '1'='1`),
    // The right entry under the wrong event type.
    globalIdOf('ErrorEvent', parts(ids.SessionMessage)[1]),
    '',
    '\u0000',
    'x'.repeat(5_000),
  ];
  const { nodes: none } = await query(test, test.adminToken, nodes, { ids: strangers });
  expect(none).toEqual(strangers.map(() => null));
  for (const stranger of strangers) {
    expect(await query(test, test.adminToken, node, { id: stranger })).toEqual({ node: null });
  }
  const all = Object.values(ids);
  const { nodes: foreign } = await query(test, other.token, nodes, { ids: all });
  expect(foreign).toEqual(all.map(() => null));
});

it('accepts at most 100 ids in nodes', async () => {
  const id = globalIdOf('Session', await createSession(test));
  const ids = (count: number) => Array.from({ length: count }, () => id);
  const { nodes: read } = await query(test, test.adminToken, nodes, { ids: ids(100) });
  expect(new Set(read.map((each) => each?.id))).toEqual(new Set([id]));
  const { data, errors } = await graphql(test, test.adminToken, 'query($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
    ids: ids(101),
  });
  expect(data).toBeNull();
  expect(errors).toMatchObject([
    { message: '"ids" must have at most 100 items, but has 101.', extensions: { code: 'INVALID_INPUT' } },
  ]);
});
