import { describe, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { makeManager, makeRole, runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const register = (groupNames: string[], token?: string) =>
  runMutation(test, 'registerIdpGroups', 'idpGroups { id idpGroupId name }', { groupNames }, token);
const registerOne = async (name: string): Promise<{ id: string; idpGroupId: string }> =>
  (await register([name])).idpGroups[0];

const withRoles = `idpGroup { name roleAssignments(first: 10, orderBy: {field: CREATED_AT, direction: ASC}) {
  totalCount nodes { role { roleId } organization { organizationId } } } }`;
const scopeOf = (organizationId: string | null) =>
  organizationId === null ? { enterprise: true } : { organizationId };
const assign = (idpGroupId: string, organizationId: string | null, roleId: string, token?: string) =>
  runMutation(test, 'assignIdpGroupRole', withRoles, { idpGroupId, scope: scopeOf(organizationId), roleId }, token);
const unassign = (idpGroupId: string, organizationId: string | null, token?: string) =>
  runMutation(test, 'unassignIdpGroupRole', withRoles, { idpGroupId, scope: scopeOf(organizationId) }, token);
const remove = (idpGroupId: string, token?: string) =>
  runMutation(test, 'deleteIdpGroup', 'deletedIdpGroupId', { idpGroupId }, token);

const list = async (args: string, token?: string) =>
  graphql(
    test,
    token ?? test.adminToken,
    `{ enterprise { idpGroups(${args}) { totalCount nodes { name } pageInfo { hasNextPage endCursor } } } }`,
  );
const rolesOf = (payload: any) =>
  payload.idpGroup.roleAssignments.nodes.map(({ role, organization }: any) => [
    role.roleId,
    organization?.organizationId ?? null,
  ]);

describe('groups of identity providers', () => {
  it('are registered once, found, and listed in pages', async () => {
    const made = await register(['okta:dev', 'okta:Ops', 'okta:dev']);
    expect(made.idpGroups.map(({ name }: { name: string }) => name)).toEqual(['okta:dev', 'okta:Ops']);
    expect((await register(['okta:dev'])).idpGroups).toEqual([made.idpGroups[0]]);
    const [dev] = made.idpGroups;
    for (const id of [dev.id, dev.idpGroupId]) {
      const { data } = await graphql(
        test,
        test.adminToken,
        `{ idpGroup(id: "${id}") { name } node(id: "${id}") { id } }`,
      );
      expect(data).toEqual({ idpGroup: { name: 'okta:dev' }, node: { id: dev.id } });
    }
    const byName = 'orderBy: {field: NAME, direction: ASC}, filter: {search: "OKTA:"}, first: 1';
    const first = (await list(byName)).data.enterprise.idpGroups;
    expect(first).toMatchObject({ totalCount: 2, nodes: [{ name: 'okta:dev' }], pageInfo: { hasNextPage: true } });
    const second = (await list(`${byName}, after: "${first.pageInfo.endCursor}"`)).data.enterprise.idpGroups;
    expect(second).toMatchObject({ nodes: [{ name: 'okta:Ops' }], pageInfo: { hasNextPage: false } });
  });

  it('have members by sign-ins and by directories, each once, in pages', async () => {
    const { id, idpGroupId } = await registerOne('okta:members');
    const { idpGroupId: otherId } = await registerOne('okta:others');
    const users = [await makeUser(test), await makeUser(test), await makeUser(test), await makeUser(test)];
    const [both, added, named] = users.map(({ userId }) => userId.replace('user-', '')) as [string, string, string];
    const { store, now } = test.app.services;
    const { enterpriseId } = test.app.installation;
    const at = now();
    await store.transact(async (tx) => {
      for (const userId of [both, named]) {
        const account = { providerId: 'corp', issuer: 'https://corp.test', subject: userId, groups: ['okta:members'] };
        const identity = { id: userId, enterpriseId, userId, ...account };
        await tx.prisma.userIdentity.create({ data: { ...identity, createdAt: at, lastSignInAt: at } });
      }
      for (const userId of [both, added]) {
        const groupId = idpGroupId.replace('idp-group-', '');
        await tx.prisma.idpGroupMember.create({ data: { groupId, userId, enterpriseId, createdAt: at } });
      }
    });
    const emails = users.slice(0, 3).map(({ email }) => email);
    const order = 'orderBy: {field: EMAIL, direction: ASC}';
    const document = `query($ids: [ID!]!, $after: String) { nodes(ids: $ids) { ... on IdpGroup {
      members(first: 2, after: $after, ${order}) { totalCount nodes { email } pageInfo { hasNextPage endCursor } } } } }`;
    const read = async (after: string | null, ids: readonly string[]) =>
      (await graphql(test, test.adminToken, document, { ids, after })).data.nodes.map(({ members }: any) => members);
    const [first, others] = await read(null, [id, otherId]);
    const emailsOf = ({ nodes }: any) => nodes.map(({ email }: any) => email);
    expect([first.totalCount, emailsOf(first), first.pageInfo.hasNextPage]).toEqual([3, emails.slice(0, 2), true]);
    expect([others.totalCount, others.nodes]).toEqual([0, []]);
    const [second] = await read(first.pageInfo.endCursor, [id]);
    expect([emailsOf(second), second.pageInfo.hasNextPage]).toEqual([emails.slice(2), false]);
    const found = await graphql(
      test,
      test.adminToken,
      `{ idpGroup(id: "${id}") { members(first: 5, filter: {search: "${emails[2]}"}) { nodes { email } } } }`,
    );
    expect(found.data.idpGroup.members.nodes).toEqual([{ email: emails[2] }]);
  });

  it('get a role on the enterprise, then in organizations, and lose them', async () => {
    const { organizationId } = await makeOrganization(test, 'Grouped');
    const { id, idpGroupId } = await registerOne('okta:grouped');
    expect((await assign(id, organizationId, 'org_member')).userErrors).toEqual([
      expect.objectContaining({ code: 'INVALID_STATE', message: 'Give the group a role on the enterprise first.' }),
    ]);
    expect(rolesOf(await assign(id, null, 'account_member'))).toEqual([['account_member', null]]);
    expect(rolesOf(await assign(idpGroupId, organizationId, 'org_member'))).toEqual([
      ['account_member', null],
      ['org_member', organizationId],
    ]);
    expect(rolesOf(await assign(id, organizationId, 'org_admin'))).toEqual([
      ['account_member', null],
      ['org_admin', organizationId],
    ]);
    const wrong = await assign(id, organizationId, 'account_member');
    expect(wrong.userErrors).toEqual([expect.objectContaining({ path: ['input', 'roleId'] })]);
    const found = (await list('filter: {roleIds: ["org_admin"], search: "okta:grouped"}, first: 5')).data;
    expect(found.enterprise.idpGroups.nodes).toEqual([{ name: 'okta:grouped' }]);
    expect(rolesOf(await unassign(id, organizationId))).toEqual([['account_member', null]]);
    expect((await unassign(id, organizationId)).error).toBe('NOT_FOUND');
    await assign(id, organizationId, 'org_member');
    expect(rolesOf(await unassign(id, null))).toEqual([]);
    expect(await remove(id)).toMatchObject({ deletedIdpGroupId: id, userErrors: [] });
    expect((await remove(id)).error).toBe('NOT_FOUND');
  });

  it('are hidden from those who may not see the members of the enterprise', async () => {
    const { id } = await registerOne('okta:hidden');
    const { token } = await makeUser(test);
    expect((await list('first: 1', token)).data.enterprise?.idpGroups ?? null).toBeNull();
    expect((await graphql(test, token, `{ node(id: "${id}") { id } }`)).data.node).toBeNull();
    for (const refused of [
      await register(['okta:other'], token),
      await remove(id, token),
      await assign(id, null, 'account_member', token),
      await unassign(id, null, token),
    ]) {
      expect(refused).toEqual({ error: 'FORBIDDEN', message: 'Missing permission MANAGE_ACCOUNT_MEMBERSHIP.' });
    }
  });

  it('give nobody more than the viewer has', async () => {
    const { id } = await registerOne('okta:powerful');
    const { token } = await makeManager(test, 'MANAGE_ACCOUNT_MEMBERSHIP', 'VIEW_ACCOUNT_MEMBERSHIP');
    const powerful = await makeRole(test, 'ENTERPRISE', ['MANAGE_BILLING']);
    expect(await assign(id, null, powerful.roleId, token)).toMatchObject({ error: 'FORBIDDEN' });
    await assign(id, null, powerful.roleId);
    const refused = { error: 'FORBIDDEN', message: expect.stringContaining('MANAGE_BILLING') };
    expect(await unassign(id, null, token)).toMatchObject(refused);
    expect(await remove(id, token)).toMatchObject(refused);
  });

  it('explains wrong names, ids and scopes', async () => {
    const none = await register([]);
    expect(none.userErrors).toEqual([expect.objectContaining({ path: ['input', 'groupNames'] })]);
    const long = await register(['x'.repeat(317)]);
    expect(long.userErrors).toEqual([expect.objectContaining({ path: ['input', 'groupNames', '0'] })]);
    expect((await assign('idp-group-1', null, 'account_member')).error).toBe('NOT_FOUND');
    const { id } = await registerOne('okta:scoped');
    expect((await assign(id, 'org-nobody', 'org_member')).error).toBe('NOT_FOUND');
    const role = await assign(id, null, 'nobody');
    expect(role.userErrors).toEqual([expect.objectContaining({ path: ['input', 'roleId'] })]);
  });
});
