import { expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { makeManager, makeRole } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const ability = 'viewerCanManage { isAllowed missingPermission }';
const may = { isAllowed: true, missingPermission: null };
const lacks = (missingPermission: string) => ({ isAllowed: false, missingPermission });

it('lists the actions that the viewer may take on a session, and the missing permissions', async () => {
  const { token } = await makeUser(test);
  const own = await createSession(test, {}, token);
  const another = await createSession(test);
  const query = `{ own: session(id: "${own}") { ${ability} } another: session(id: "${another}") { ${ability} } }`;
  expect((await graphql(test, token, query)).data).toEqual({
    own: { viewerCanManage: may },
    another: { viewerCanManage: lacks('MANAGE_ORG_SESSIONS') },
  });
  expect((await graphql(test, test.adminToken, query)).data.another.viewerCanManage).toEqual(may);
  const { token: manager } = await makeManager(test, 'VIEW_ACCOUNT_SESSIONS', 'MANAGE_ACCOUNT_SESSIONS');
  expect((await graphql(test, manager, query)).data.another.viewerCanManage).toEqual(may);
});

it('shows whether the viewer may change a resource', async () => {
  const create = `mutation($organizationId: ID!) {
    createPlaybook(input: {scope: {organizationId: $organizationId}, title: "P", body: "b"}) { playbook { id } }
    createSecret(input: {organizationId: $organizationId, key: "K", type: KEY_VALUE, value: "some value"}) { secret { id } }
  }`;
  const { organizationId } = test;
  const { data: made } = await graphql(test, test.adminToken, create, { organizationId });
  const { roleId } = await makeRole(test, 'ORGANIZATION', [
    'VIEW_ORG_SESSIONS',
    'USE_SESSIONS',
    'MANAGE_ORG_PLAYBOOKS',
  ]);
  const { token } = await makeUser(test, { roleId });
  const query = `query($ids: [ID!]!) { nodes(ids: $ids) { ... on Playbook { ${ability} } ... on Secret { ${ability} } } }`;
  const ids = [made.createPlaybook.playbook.id, made.createSecret.secret.id];
  expect((await graphql(test, token, query, { ids })).data.nodes).toEqual([
    { viewerCanManage: may },
    { viewerCanManage: lacks('MANAGE_ORG_SECRETS') },
  ]);
});

it('lists the viewer’s permissions in each organization', async () => {
  const other = await makeOrganization(test, 'Other');
  const { roleId } = await makeRole(test, 'ORGANIZATION', ['VIEW_ORG_SESSIONS']);
  const { token } = await makeUser(test, { roleId });
  const query = (id: string) => `{ viewer { enterprisePermissions } organization(id: "${id}") { viewerPermissions } }`;
  expect((await graphql(test, token, query(test.organizationId))).data).toEqual({
    viewer: { enterprisePermissions: [] },
    organization: { viewerPermissions: ['VIEW_ORG_SESSIONS'] },
  });
  const { data } = await graphql(test, other.token, query(other.organizationId));
  expect(data.organization.viewerPermissions).toContain('MANAGE_ORG_SECRETS');
  const { token: reader } = await makeManager(test, 'READ_ACCOUNT_META', 'USE_SESSIONS');
  const ofEnterprise = await graphql(test, reader, '{ enterprise { viewerPermissions } }');
  expect(ofEnterprise.data).toEqual({ enterprise: { viewerPermissions: ['READ_ACCOUNT_META', 'USE_SESSIONS'] } });
});
