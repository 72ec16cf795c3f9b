import { describe, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { makeManager } from '../support/people.ts';
import { globalIdOf, makeKey, makeUser } from '../support/principals.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

describe('lists of people', () => {
  const read = async (query: string, as = test.adminToken) => {
    const { data, errors } = await graphql(test, as, query);
    expect(errors).toBeUndefined();
    return data;
  };

  it('finds users and members by name, address and role', async () => {
    const organization = await makeOrganization(test, 'People');
    const of = { organizationId: organization.organizationId };
    const ada = await makeUser(test, { ...of, name: 'Ada Lovelace', email: 'zz-ada@example.test' });
    const bob = await makeUser(test, { ...of, name: 'Bob', email: 'zz-bob@example.test', roleId: 'org_admin' });
    const users = async (args: string) =>
      (await read(`{ enterprise { users(${args}) { totalCount nodes { userId } } } }`)).enterprise.users;
    const members = async (args: string) => {
      const query = `{ organization(id: "${organization.organizationId}") { members(${args}) { totalCount nodes { user { userId } } } } }`;
      const { totalCount, nodes } = (await read(query)).organization.members;
      return { totalCount, nodes: nodes.map(({ user }: any) => user) };
    };
    for (const list of [users, members]) {
      const one = (userId: string) => ({ totalCount: 1, nodes: [{ userId }] });
      expect(await list('filter: {search: "LOVE"}')).toEqual(one(ada.userId));
      expect(await list('filter: {email: "ZZ-BOB@example.test"}')).toEqual(one(bob.userId));
      expect(await list('filter: {search: "zz-", roleIds: ["org_admin"]}')).toEqual(one(bob.userId));
      expect(await list('filter: {search: "zz-", createdAfter: "2999-01-01T00:00:00Z"}')).toEqual({
        totalCount: 0,
        nodes: [],
      });
    }
    const ordered = await users('filter: {search: "zz-"}, orderBy: {field: EMAIL, direction: ASC}');
    expect(ordered.nodes).toEqual([{ userId: ada.userId }, { userId: bob.userId }]);
    const query = (args: string) =>
      `query { node(id: "${globalIdOf('User', bob.userId.slice(5))}") { ... on User { roleAssignments${args} { totalCount nodes { role { roleId } } } } } }`;
    expect((await read(query(''))).node.roleAssignments).toEqual({
      totalCount: 1,
      nodes: [{ role: { roleId: 'org_admin' } }],
    });
    const elsewhere = `(filter: {organizationIds: ["${test.organizationId}"]})`;
    expect((await read(query(elsewhere))).node.roleAssignments.totalCount).toBe(0);
    expect((await read(query('(filter: {roleIds: ["org_admin"]})'))).node.roleAssignments.totalCount).toBe(1);
  });

  it('finds service users, roles and keys', async () => {
    const organization = await makeOrganization(test, 'Robots');
    const { roleId } = await makeManager(test, 'READ_ACCOUNT_META');
    const all = await read(`{ enterprise {
      bots: serviceUsers(filter: {search: "ROBOTS"}) { totalCount nodes { serviceUserId } }
      managers: serviceUsers(filter: {roleIds: ["${roleId}"]}) { totalCount }
      builtIn: roles(filter: {isBuiltIn: true, scope: ORGANIZATION}, orderBy: {field: NAME, direction: ASC}) { totalCount nodes { roleId } }
      own: roles(filter: {search: "role"}) { totalCount nodes { roleId } }
    } }`);
    expect(all.enterprise).toMatchObject({
      bots: { totalCount: 1, nodes: [{ serviceUserId: organization.serviceUserId }] },
      managers: { totalCount: 1 },
      builtIn: { totalCount: 2, nodes: [{ roleId: 'org_admin' }, { roleId: 'org_member' }] },
    });
    expect(all.enterprise.own.nodes).toContainEqual({ roleId });
    const { organizationId: id } = organization;
    await makeKey(test, { kind: 'SERVICE', organizationId: id, roleId: 'org_member', name: 'Deploy' });
    const keys = await read(`{ organization(id: "${id}") {
      all: apiKeys(orderBy: {field: CREATED_AT, direction: ASC}) { totalCount nodes { name } }
      service: apiKeys(filter: {kind: [SERVICE]}) { totalCount nodes { name } }
      named: apiKeys(filter: {search: "dep"}) { totalCount }
      revoked: apiKeys(filter: {status: REVOKED}) { totalCount }
      robot: apiKeys(filter: {serviceUserId: "${organization.serviceUserId}"}) { totalCount nodes { name } }
    } enterprise { of: apiKeys(filter: {serviceUserId: "${organization.serviceUserId}"}) { totalCount nodes { name } } } }`);
    expect(keys).toEqual({
      organization: {
        all: { totalCount: 2, nodes: [{ name: 'key' }, { name: 'Deploy' }] },
        service: { totalCount: 1, nodes: [{ name: 'Deploy' }] },
        named: { totalCount: 1 },
        revoked: { totalCount: 0 },
        robot: { totalCount: 1, nodes: [{ name: 'key' }] },
      },
      enterprise: { of: { totalCount: 1, nodes: [{ name: 'key' }] } },
    });
  });
});
