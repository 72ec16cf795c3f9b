import { expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { isOfSigningIn } from '../support/key-changes.ts';
import { makeManager, runMutation } from '../support/people.ts';
import { globalIdOf, makeKey, scopeOf } from '../support/principals.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

/** A service user with this many keys, oldest first. */
async function makeServiceUser(
  { organizationId = null, ...input }: Record<string, unknown>,
  keys: readonly string[],
): Promise<{ serviceUserId: string; tokens: string[] }> {
  const made = await runMutation(test, 'createServiceUser', 'serviceUser { serviceUserId }', {
    name: 'Robot',
    roleId: organizationId === null ? 'account_member' : 'org_admin',
    scope: scopeOf(organizationId),
    ...input,
  });
  const { serviceUserId } = made.serviceUser;
  const tokens: string[] = [];
  for (const name of keys) tokens.push(await makeKey(test, { kind: 'SERVICE_USER', serviceUserId, name }));
  return { serviceUserId, tokens };
}

const parts = `... on ServiceUser {
  apiKeys(first: 2) { nodes { name owner { ... on ServiceUser { serviceUserId } } } pageInfo { hasNextPage endCursor } }
  roleAssignments { nodes { role { roleId } organizationId } } }`;

async function partsOf(token: string, serviceUserId: string): Promise<any> {
  const id = globalIdOf('ServiceUser', serviceUserId.replace('service-user-', ''));
  const { data, errors } = await graphql(test, token, `query($id: ID!) { node(id: $id) { ${parts} } }`, { id });
  expect(errors).toBeUndefined();
  return data.node;
}

it('returns a service user’s keys, newest first and in pages, and its roles', async () => {
  const { serviceUserId } = await makeServiceUser({ organizationId: test.organizationId }, ['1', '2', '3']);
  const { apiKeys, roleAssignments } = await partsOf(test.adminToken, serviceUserId);
  expect(apiKeys.nodes).toEqual([
    { name: '3', owner: { serviceUserId } },
    { name: '2', owner: { serviceUserId } },
  ]);
  expect(roleAssignments.nodes).toEqual([
    { role: { roleId: 'org_admin' }, organizationId: `org-${test.organizationId}` },
  ]);

  const { data } = await graphql(
    test,
    test.adminToken,
    `query($id: ID!, $after: String) { node(id: $id) { ... on ServiceUser {
       next: apiKeys(first: 2, after: $after) { nodes { name } pageInfo { hasNextPage } }
       last: apiKeys(last: 1) { nodes { name } pageInfo { hasPreviousPage } }
       revoked: apiKeys(filter: {status: REVOKED}) { nodes { name } } } } }`,
    { id: globalIdOf('ServiceUser', serviceUserId.replace('service-user-', '')), after: apiKeys.pageInfo.endCursor },
  );
  expect(apiKeys.pageInfo.hasNextPage).toBe(true);
  expect(data.node).toEqual({
    next: { nodes: [{ name: '1' }], pageInfo: { hasNextPage: false } },
    last: { nodes: [{ name: '1' }], pageInfo: { hasPreviousPage: true } },
    revoked: { nodes: [] },
  });
});

it('shows the keys and roles of a service user only to itself and to its managers', async () => {
  const organization = await makeOrganization(test, 'Of their own');
  const { organizationId } = organization;
  const shown = await makeServiceUser({ organizationId, roleId: 'org_member' }, ['shown']);
  const colleague = await makeServiceUser({ organizationId, roleId: 'org_member' }, ['colleague']);
  const keyAdmin = await makeServiceUser({ organizationId, roleId: 'org_admin' }, ['keeper']);
  const stranger = await makeServiceUser({ organizationId: test.organizationId, roleId: 'org_admin' }, ['stranger']);
  const manager = await makeManager(test, 'MANAGE_ACCOUNT_SERVICE_USERS');
  const seen = async (token: string) => {
    const found = await partsOf(token, shown.serviceUserId);
    return found && [found.apiKeys.nodes.length, found.roleAssignments.nodes.length];
  };
  expect(await seen(shown.tokens[0] as string)).toEqual([1, 1]);
  expect(await seen(keyAdmin.tokens[0] as string)).toEqual([1, 1]);
  expect(await seen(manager.token)).toEqual([1, 1]);
  // A member of the same organization sees that the service user exists, and nothing more.
  expect(await seen(colleague.tokens[0] as string)).toEqual([0, 0]);
  expect(await seen(stranger.tokens[0] as string)).toBeNull();
});

it('reads a page of service users with their keys and roles in the same statements for 20 as for 2', async () => {
  for (let n = 0; n < 20; n++) await makeServiceUser({}, ['only']);
  const { store } = test.app.services;
  const original = store.query;
  const read = async (first: number) => {
    const statements: string[] = [];
    store.query = (sql: string, values?: readonly unknown[]) => {
      if (!isOfSigningIn(sql)) statements.push(sql);
      return original.call(store, sql, values) as never;
    };
    const document = `query($first: Int!) { enterprise { serviceUsers(first: $first) { nodes { ${parts} } } } }`;
    const { data } = await graphql(test, test.adminToken, document, { first }).finally(() => {
      store.query = original;
    });
    return { nodes: data.enterprise.serviceUsers.nodes, statements };
  };
  const [few, many] = [await read(2), await read(20)];
  expect(many.nodes).toHaveLength(20);
  for (const { apiKeys, roleAssignments } of many.nodes) {
    expect([apiKeys.nodes.length, roleAssignments.nodes.length]).toEqual([1, 1]);
  }
  expect(many.statements).toEqual(few.statements);
});
