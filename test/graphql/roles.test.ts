import { describe, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { makeManager, makeRole, roleFields, rolesOf, runMutation } from '../support/people.ts';
import { globalIdOf, makeUser, roleInput } from '../support/principals.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const run = (field: string, selection: string, input: Record<string, unknown>, token?: string) =>
  runMutation(test, field, selection, input, token);
const assign = (input: Record<string, unknown>, token?: string) =>
  run('assignRole', 'user { userId } serviceUser { serviceUserId }', roleInput(input), token);
const unassign = (input: Record<string, unknown>, token?: string) =>
  run('unassignRole', 'user { userId } serviceUser { serviceUserId }', roleInput(input), token);

describe('a custom role', () => {
  it('grants exactly its permissions, in its organization, from the next request on', async () => {
    const { organizationId } = await makeOrganization(test, 'Custom');
    const { userId, token } = await makeUser(test, { organizationId });
    const role = await makeRole(test, 'ORGANIZATION', ['VIEW_ORG_SESSIONS', 'VIEW_ORG_MEMBERSHIP']);
    expect(role).toMatchObject({
      id: globalIdOf('Role', role.roleId),
      scope: 'ORGANIZATION',
      isBuiltIn: false,
      permissions: ['VIEW_ORG_SESSIONS', 'VIEW_ORG_MEMBERSHIP'],
    });
    await createSession(test, { organizationId }, token);
    await assign({ userId, organizationId, roleId: role.id });
    const viewer = async () => (await graphql(test, token, '{ viewer { permissions } }')).data.viewer.permissions;
    expect(await viewer()).toEqual(['VIEW_ORG_MEMBERSHIP', 'VIEW_ORG_SESSIONS']);
    const start = () => run('createSession', 'session { sessionId }', { organizationId, prompt: 'x' }, token);
    expect(await start()).toEqual({ error: 'FORBIDDEN', message: 'Missing permission USE_SESSIONS.' });
    const changed = await run('updateRole', roleFields, { roleId: role.roleId, permissions: ['USE_SESSIONS'] });
    expect(changed.role).toEqual({ ...role, permissions: ['USE_SESSIONS'] });
    expect((await start()).session.sessionId).toMatch(/^devin-/);
    const { data } = await graphql(test, token, 'query($id: ID!) { organization(id: $id) { name } }', {
      id: test.organizationId,
    });
    expect(data.organization).toBeNull();
  });

  it('is listed before the built-in ones, and read by its id', async () => {
    const role = await makeRole(test, 'ENTERPRISE', ['MANAGE_BILLING', 'USE_SESSIONS', 'MANAGE_BILLING']);
    expect(role.permissions).toEqual(['MANAGE_BILLING', 'USE_SESSIONS']);
    const query = `query($after: String) { enterprise { roles(first: 3, after: $after) {
      nodes { id roleId isBuiltIn permissions } pageInfo { hasNextPage endCursor } } } }`;
    const all: any[] = [];
    for (let after: string | null = null; ; ) {
      const { data } = await graphql(test, test.adminToken, query, { after });
      all.push(...data.enterprise.roles.nodes);
      if (!data.enterprise.roles.pageInfo.hasNextPage) break;
      after = data.enterprise.roles.pageInfo.endCursor;
    }
    expect(all[0]).toMatchObject({ id: role.id, isBuiltIn: false });
    expect(all.slice(-4).map(({ roleId }) => roleId)).toEqual([
      'org_member',
      'org_admin',
      'account_member',
      'account_admin',
    ]);
    const last = await graphql(test, test.adminToken, '{ enterprise { roles(last: 1) { nodes { roleId } } } }');
    expect(last.data.enterprise.roles.nodes).toEqual([{ roleId: 'account_admin' }]);
    const read = await graphql(test, test.adminToken, 'query($id: ID!) { node(id: $id) { ... on Role { roleId } } }', {
      id: role.id,
    });
    expect(read.data.node).toEqual({ roleId: role.roleId });
    const { token } = await makeUser(test);
    const hidden = await graphql(test, token, 'query($id: ID!) { node(id: $id) { id } }', { id: role.id });
    expect(hidden.data.node).toBeNull();
  });

  it.each<[string, Record<string, unknown>, string, string]>([
    [
      'permissions on the enterprise in an organization',
      { permissions: ['MANAGE_BILLING'] },
      'INVALID_INPUT',
      'permissions',
    ],
    ['no permissions', { permissions: [] }, 'INVALID_INPUT', 'permissions'],
    ['an empty name', { name: ' ' }, 'INVALID_INPUT', 'name'],
    ['a name of 101 characters', { name: 'x'.repeat(101) }, 'INVALID_INPUT', 'name'],
    ['the name of a built-in one', { name: 'ADMIN' }, 'NOT_UNIQUE', 'name'],
  ])('is refused with %s', async (_, input, code, name) => {
    const refused = await run('createRole', roleFields, {
      name: 'Refused',
      scope: 'ORGANIZATION',
      permissions: ['USE_SESSIONS'],
      ...input,
    });
    expect(refused).toMatchObject({ role: null, userErrors: [{ code, path: ['input', name] }] });
  });

  it('has a unique name in its scope', async () => {
    const role = await makeRole(test, 'ORGANIZATION', ['USE_SESSIONS']);
    const taken = { name: role.name.toUpperCase(), permissions: ['USE_SESSIONS'] };
    expect(await run('createRole', roleFields, { ...taken, scope: 'ORGANIZATION' })).toMatchObject({
      userErrors: [{ code: 'NOT_UNIQUE' }],
    });
    expect((await run('createRole', roleFields, { ...taken, scope: 'ENTERPRISE' })).role).toMatchObject({
      scope: 'ENTERPRISE',
    });
    const other = await makeRole(test, 'ORGANIZATION', ['USE_SESSIONS']);
    const renamed = await run('updateRole', roleFields, { roleId: other.roleId, name: role.name });
    expect(renamed).toMatchObject({ role: null, userErrors: [{ code: 'NOT_UNIQUE', path: ['input', 'name'] }] });
    const both = await Promise.all(
      [1, 2].map(() =>
        run('createRole', roleFields, { name: 'At once', scope: 'ORGANIZATION', permissions: ['USE_SESSIONS'] }),
      ),
    );
    expect(both.map(({ userErrors }) => userErrors.length).sort()).toEqual([0, 1]);
  });

  it('cannot be deleted while a user or a valid service key has it', async () => {
    const { organizationId } = await makeOrganization(test, 'Deleting');
    const role = await makeRole(test, 'ORGANIZATION', ['USE_SESSIONS']);
    const remove = () => run('deleteRole', 'deletedRoleId', { roleId: role.id });
    const refusal = { deletedRoleId: null, userErrors: [{ code: 'INVALID_STATE' }] };
    const { userId } = await makeUser(test, { organizationId, roleId: role.roleId });
    expect(await remove()).toMatchObject(refusal);
    await unassign({ userId, organizationId });
    const key = await run('createApiKey', 'apiKey { apiKeyId }', {
      kind: { service: { scope: { organizationId }, roleId: role.roleId } },
      name: 'key',
    });
    expect(key.userErrors).toEqual([]);
    expect(await remove()).toMatchObject(refusal);
    // Without its organization, the key is revoked, and so are the roles in it.
    await assign({ userId, organizationId, roleId: role.roleId });
    await run('deleteOrganization', 'deletedOrganizationId', { organizationId });
    expect(await remove()).toMatchObject({ deletedRoleId: role.id, userErrors: [] });
    expect(await remove()).toMatchObject({ error: 'NOT_FOUND' });
    expect(await assign({ userId, organizationId: test.organizationId, roleId: role.id })).toMatchObject({
      userErrors: [{ code: 'UNKNOWN_REFERENCE', path: ['input', 'roleId'] }],
    });
  });

  it('of enterprise scope shows the members and service users of every organization, and manages them', async () => {
    const { organizationId } = await makeOrganization(test, 'Shared');
    const { userId } = await makeUser(test, { organizationId });
    const { token } = await makeManager(test, 'VIEW_ORG_MEMBERSHIP', 'MANAGE_ORG_SERVICE_USERS', 'USE_SESSIONS');
    const { roleId } = await makeRole(test, 'ORGANIZATION', ['USE_SESSIONS']);
    const input = { name: 'Its robot', scope: { organizationId }, roleId };
    const { serviceUser } = await run('createServiceUser', 'serviceUser { serviceUserId }', input, token);
    const key = await run('createApiKey', 'token', { kind: { serviceUser }, name: 'its key' }, token);
    expect(key.token).toMatch(/^cog_/);
    const document = `query($id: ID!) { organization(id: $id) {
      members { nodes { user { userId } } } apiKeys { nodes { owner { __typename } } } } }`;
    const { data, errors } = await graphql(test, token, document, { id: organizationId });
    expect(errors).toBeUndefined();
    expect(data.organization.members.nodes).toEqual([{ user: { userId } }]);
    const owners = data.organization.apiKeys.nodes.map(({ owner }: any) => owner);
    expect(owners).toEqual([{ __typename: 'ServiceUser' }, { __typename: 'ServiceUser' }]);
    // A user who is in no organization is visible to no other member.
    const { users } = await run('inviteUsers', 'users { id }', {
      emails: ['far@example.test'],
      enterpriseRoleId: 'account_member',
    });
    const far = await graphql(test, token, 'query($id: ID!) { node(id: $id) { id } }', { id: users[0].id });
    expect(far.data.node).toBeNull();
  });

  it('that is built in cannot be changed', async () => {
    for (const roleId of ['org_member', 'account_admin']) {
      const state = { userErrors: [{ code: 'INVALID_STATE', path: null }] };
      expect(await run('updateRole', roleFields, { roleId, name: 'Mine' })).toMatchObject(state);
      expect(await run('deleteRole', 'deletedRoleId', { roleId })).toMatchObject(state);
    }
  });

  it('cannot be created, changed, assigned or removed by callers with fewer permissions', async () => {
    const { organizationId } = await makeOrganization(test, 'Ranks');
    const manager = await makeManager(
      test,
      'MANAGE_ACCOUNT_MEMBERSHIP',
      'MANAGE_ACCOUNT_SERVICE_USERS',
      'USE_SESSIONS',
    );
    const more = await makeRole(test, 'ORGANIZATION', ['USE_SESSIONS', 'MANAGE_ORG_SECRETS']);
    const everywhere = await makeRole(test, 'ENTERPRISE', ['USE_SESSIONS', 'MANAGE_ORG_SECRETS']);
    const { userId } = await makeUser(test, { organizationId, roleId: more.roleId });
    const small = await makeRole(test, 'ORGANIZATION', ['USE_SESSIONS'], manager.token);
    const lacking = { error: 'FORBIDDEN', message: expect.stringContaining('that you lack: ') };
    const { token } = manager;
    for (const [field, selection, input] of [
      ['createRole', roleFields, { name: 'More', scope: 'ORGANIZATION', permissions: ['MANAGE_ORG_SECRETS'] }],
      ['updateRole', roleFields, { roleId: small.roleId, permissions: ['MANAGE_ORG_SECRETS'] }],
      ['updateRole', roleFields, { roleId: more.roleId, permissions: ['USE_SESSIONS'] }],
      ['updateRole', roleFields, { roleId: manager.roleId, permissions: ['MANAGE_BILLING'] }],
      ['deleteRole', 'deletedRoleId', { roleId: everywhere.roleId }],
      ['assignRole', 'user { id }', { principal: { userId }, scope: { organizationId }, roleId: small.roleId }],
      ['unassignRole', 'user { id }', { principal: { userId }, scope: { organizationId } }],
      ['updateUser', 'user { id }', { userId, name: 'Renamed' }],
      ['deleteUser', 'deletedUserId', { userId }],
      [
        'assignRole',
        'serviceUser { id }',
        { principal: { serviceUserId: manager.serviceUserId }, scope: { enterprise: true }, roleId: everywhere.roleId },
      ],
      [
        'assignRole',
        'serviceUser { id }',
        { principal: { serviceUserId: manager.serviceUserId }, scope: { enterprise: true }, roleId: 'account_admin' },
      ],
      ['inviteUsers', 'users { id }', { emails: ['more@example.test'], enterpriseRoleId: everywhere.roleId }],
    ] as const) {
      expect({ field, ...(await run(field, selection, input, token)) }).toEqual({ field, ...lacking });
    }
    const assigned = await assign(
      { serviceUserId: manager.serviceUserId, organizationId, roleId: small.roleId },
      token,
    );
    expect(assigned).toMatchObject({
      user: null,
      serviceUser: { serviceUserId: manager.serviceUserId },
      userErrors: [],
    });
    expect(await rolesOf(test, userId)).toEqual([[organizationId, more.roleId]]);
  });

  it('of the enterprise with organization permissions cannot be assigned by a holder in one organization', async () => {
    const everywhere = await makeRole(test, 'ENTERPRISE', ['USE_SESSIONS']);
    const { userId } = await makeUser(test);
    const manager = await makeManager(test, 'MANAGE_ACCOUNT_MEMBERSHIP');
    await assign({ serviceUserId: manager.serviceUserId, organizationId: test.organizationId, roleId: 'org_admin' });
    expect(await assign({ userId, roleId: everywhere.roleId }, manager.token)).toMatchObject({ error: 'FORBIDDEN' });
    const inOne = { userId, organizationId: test.organizationId, roleId: 'org_admin' };
    expect((await assign(inOne, manager.token)).userErrors).toEqual([]);
  });
});

describe('assignRole and unassignRole', () => {
  it('assign and remove roles on the enterprise and in organizations, each scope separately', async () => {
    const { organizationId } = await makeOrganization(test, 'Places');
    const { userId } = await makeUser(test);
    const home = `org-${test.organizationId}`;
    expect(await assign({ userId, organizationId, roleId: 'org_admin', clientMutationId: 'mine' })).toEqual({
      user: { userId },
      serviceUser: null,
      userErrors: [],
      clientMutationId: 'mine',
    });
    await assign({ userId, organizationId: null, roleId: 'account_member' });
    expect(await rolesOf(test, userId)).toEqual([
      [null, 'account_member'],
      [organizationId, 'org_admin'],
      [home, 'org_member'],
    ]);
    await unassign({ userId });
    await unassign({ userId, organizationId: home });
    expect(await rolesOf(test, userId)).toEqual([[organizationId, 'org_admin']]);
    expect(await unassign({ userId })).toMatchObject({ error: 'NOT_FOUND' });
  });

  it('take one principal, and hide strangers', async () => {
    const { userId } = await makeUser(test);
    const { serviceUserId } = await makeManager(test, 'READ_ACCOUNT_META');
    const organizationId = test.organizationId;
    for (const principal of [{}, { userId, serviceUserId }, { userId: null }]) {
      const input = { principal, scope: { organizationId }, roleId: 'org_member' };
      expect(await run('assignRole', 'user { id }', input)).toMatchObject({ error: 'INVALID_INPUT' });
    }
    for (const strange of [
      { userId: `user-${'0'.repeat(32)}`, organizationId },
      { serviceUserId: `service-user-${'0'.repeat(32)}`, organizationId },
      { userId: serviceUserId, organizationId },
      { userId, organizationId: `org-${'0'.repeat(32)}` },
    ]) {
      expect(await assign({ ...strange, roleId: 'org_member' })).toMatchObject({ error: 'NOT_FOUND' });
      expect(await unassign(strange)).toMatchObject({ error: 'NOT_FOUND' });
    }
    expect(await assign({ userId, roleId: 'org_member' })).toMatchObject({
      userErrors: [{ code: 'INVALID_INPUT', path: ['input', 'roleId'] }],
    });
  });

  it('assign a service user of one organization a role there and on the enterprise, and in no other organization', async () => {
    const { organizationId } = await makeOrganization(test, 'Its own');
    const made = await run('createServiceUser', 'serviceUser { serviceUserId }', {
      name: 'Robot',
      roleId: 'org_admin',
      scope: { organizationId },
    });
    const { serviceUserId } = made.serviceUser;
    expect(await assign({ serviceUserId, organizationId: test.organizationId, roleId: 'org_member' })).toMatchObject({
      userErrors: [{ code: 'INVALID_STATE' }],
    });
    expect((await assign({ serviceUserId, roleId: 'account_member' })).userErrors).toEqual([]);
    expect((await assign({ serviceUserId, organizationId, roleId: 'org_member' })).userErrors).toEqual([]);
  });

  it('end the streams of callers that lose access to the session', async () => {
    const { organizationId } = await makeOrganization(test, 'Streaming');
    const { userId, token } = await makeUser(test, { organizationId });
    const id = await createSession(test, { organizationId });
    const document = 'subscription($id: ID!) { sessionMessages(sessionId: $id) { cursor } }';
    const messages = follow(connect(test.url, token), document, { id });
    await messages.take(1);
    await unassign({ userId, organizationId });
    expect(await messages.ended).toBe('complete');
  });
});
