import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeServiceUser } from '../rest/rest-app.ts';
import { call, startApp, type TestApp } from '../support/app.ts';
import { ask, openSocket } from '../support/console.ts';
import { type IdentityProvider, startIdentityProvider, writeProviders } from '../support/identity-provider.ts';
import { signInAs, signOn } from '../support/sign-on.ts';

let test: TestApp;
let idp: IdentityProvider;
let remove: () => Promise<void>;
let ours: string;
let theirs: string;

const asAdmin = (method: string, path: string, body?: unknown) => call(test, test.adminToken, method, path, body);

beforeAll(async () => {
  idp = await startIdentityProvider('corp');
  const file = await writeProviders([
    { id: 'corp', label: 'Corp', issuer: idp.issuer, groupsClaim: 'groups', groupPrefix: 'corp:' },
  ]);
  remove = file.remove;
  test = await startApp({ oidcProvidersPath: file.path });
  await idp.serve(test.url);
  const make = async (name: string) => (await asAdmin('POST', '/v3/enterprise/organizations', { name })).body.org_id;
  [ours, theirs] = [await make('Ours'), await make('Theirs')];
});
afterAll(async () => {
  await test?.close();
  await idp?.close();
  await remove?.();
});

const enterprise = '/v3/enterprise';
const named = (name: string) => encodeURIComponent(name);
const userOf = (sub: string, groups: string[]) => ({
  sub,
  email: `${sub}@example.com`,
  email_verified: true,
  groups,
});
const organizationsOf = `{ organizations(first: 10) { nodes { organizationId viewerPermissions } } viewer { user { userId } enterprisePermissions } }`;

it('groups have roles on the enterprise and then in organizations', async () => {
  expect((await asAdmin('POST', `${enterprise}/idp-groups`, { idp_group_names: [] })).status).toBe(422);
  const names = ['corp:dev', 'corp:ops/x', 'corp:dev'];
  const created = await asAdmin('POST', `${enterprise}/idp-groups`, { idp_group_names: names });
  expect(created.body).toEqual([{ idp_group_name: 'corp:dev' }, { idp_group_name: 'corp:ops/x' }]);
  const again = await asAdmin('POST', `${enterprise}/idp-groups`, { idp_group_names: ['corp:dev'] });
  expect(again.body).toEqual([{ idp_group_name: 'corp:dev' }]);
  const listed = await asAdmin('GET', `${enterprise}/idp-groups`);
  expect(listed.body.items.map((each: any) => each.idp_group_name).sort()).toEqual(['corp:dev', 'corp:ops/x']);
  expect((await asAdmin('GET', `${enterprise}/members/idp-groups`)).body.items).toEqual([]);
  const dev = `members/idp-groups/${named('corp:dev')}`;
  expect((await asAdmin('GET', `${enterprise}/${dev}`)).status).toBe(404);
  expect((await asAdmin('PATCH', `${enterprise}/${dev}`, { role_id: 'account_member' })).status).toBe(404);
  const inOurs = `${enterprise}/organizations/${ours}/${dev}`;
  const early = await asAdmin('POST', inOurs, { role_id: 'org_member' });
  expect([early.status, early.body.detail]).toEqual([409, 'Give the group a role on the enterprise first.']);
  expect((await asAdmin('POST', `${enterprise}/${dev}`, { role_id: 'org_member' })).status).toBe(422);
  const assigned = await asAdmin('POST', `${enterprise}/${dev}`, { role_id: 'account_member' });
  const member = { role_id: 'account_member', role_name: 'Member', role_type: 'enterprise' };
  expect(assigned.body).toEqual({ idp_group_name: 'corp:dev', role_assignments: [{ org_id: null, role: member }] });
  const inOrganization = await asAdmin('POST', inOurs, { role_id: 'org_member' });
  expect(inOrganization.body.role_assignments).toEqual([
    { org_id: ours, role: { role_id: 'org_member', role_name: 'Member', role_type: 'org' } },
  ]);
  const all = await asAdmin('GET', `${enterprise}/${dev}`);
  expect(all.body.role_assignments.map((each: any) => each.org_id)).toEqual([null, ours]);
  const ofTheirs = await asAdmin('GET', `${enterprise}/organizations/${theirs}/members/idp-groups`);
  expect(ofTheirs.body.items).toEqual([]);
  const slash = `${enterprise}/members/idp-groups/${named('corp:ops/x')}`;
  expect((await asAdmin('POST', slash, { role_id: 'account_member' })).status).toBe(200);
});

it('members of a group get its roles at the sign-in, and lose them with the group', async () => {
  const halves = await signInAs(test, idp, 'corp', userOf('dev-1', ['dev', 'unknown']));
  const { data } = await ask(test, halves, organizationsOf);
  expect(data.viewer.enterprisePermissions).toEqual(['READ_ACCOUNT_META']);
  const usable = data.organizations.nodes.filter((each: any) => each.viewerPermissions.length > 0);
  expect(usable.map((each: any) => each.organizationId)).toEqual([ours]);
  const { userId } = data.viewer.user;

  const user = await asAdmin('GET', `${enterprise}/members/users/${userId}`);
  expect(user.body.role_assignments).toEqual([]);
  expect(user.body.idp_role_assignments.map((each: any) => [each.idp_group_name, each.org_id])).toEqual([
    ['corp:dev', null],
    ['corp:dev', ours],
  ]);
  const ids = async (path: string) => (await asAdmin('GET', path)).body.items.map((each: any) => each.user_id);
  expect(await ids(`${enterprise}/members/idp-users`)).toEqual([userId]);
  expect(await ids(`${enterprise}/members/idp-users?email=DEV-1@example.com`)).toEqual([userId]);
  expect(await ids(`${enterprise}/members/idp-users?email=x@example.com`)).toEqual([]);
  expect(await ids(`${enterprise}/organizations/${ours}/members/idp-users`)).toEqual([userId]);
  expect(await ids(`${enterprise}/organizations/${theirs}/members/idp-users`)).toEqual([]);

  // A key of the user has the roles of the groups too, and loses them with the next sign-in.
  idp.alter = (claims) => ({ ...claims, auth_time: Math.floor(Date.now() / 1_000) });
  const fresh = await signInAs(test, idp, 'corp', userOf('dev-1', ['dev']));
  idp.alter = null;
  const created = await ask(
    test,
    fresh,
    'mutation { createApiKey(input: { name: "k", kind: { personalAccessToken: {} } }) { token userErrors { code } } }',
  );
  const { token } = created.data.createApiKey;
  const own = (path: string, key = token) => call(test, key, 'GET', `/v3/organizations/${path}`);
  expect((await own(`${ours}/members/idp-users`)).body.items.map((each: any) => each.user_id)).toEqual([userId]);
  const single = await own(`${ours}/members/users/${userId}`);
  expect(single.body.idp_role_assignments.map((each: any) => each.org_id)).toEqual([ours]);
  expect((await own(`${theirs}/members/idp-users`)).status).toBe(403);
  const socket = await openSocket(test, fresh, test.url);
  idp.account = userOf('dev-1', ['none']);
  const refused = await signOn(test, 'corp');
  expect([refused.status, refused.body.reason]).toEqual([403, 'NO_ROLE']);
  expect(await socket.closed).toBe(4403);
  expect((await ask(test, fresh, organizationsOf)).status).toBe(401);
  expect((await own(`${ours}/members/idp-users`)).status).toBe(403);
});

it('the roles of a group change for its members at once', async () => {
  const ops = `${enterprise}/members/idp-groups/${named('corp:ops/x')}`;
  const halves = await signInAs(test, idp, 'corp', userOf('ops-1', ['ops/x']));
  const permissions = async () => (await ask(test, halves, organizationsOf)).data?.viewer.enterprisePermissions.length;
  expect(await permissions()).toBe(1);
  expect((await asAdmin('PATCH', ops, { role_id: 'account_admin' })).status).toBe(200);
  expect(await permissions()).toBeGreaterThan(10);
  const removed = await asAdmin('DELETE', ops);
  expect(removed.body.role_assignments.map((each: any) => each.role.role_id)).toEqual(['account_admin']);
  expect((await ask(test, halves, organizationsOf)).status).toBe(401);
  expect((await asAdmin('DELETE', ops)).status).toBe(404);
  expect((await asAdmin('DELETE', `${enterprise}/idp-groups/${named('corp:ops/x')}`)).body).toEqual({
    idp_group_name: 'corp:ops/x',
  });
  expect((await asAdmin('DELETE', `${enterprise}/idp-groups/${named('corp:ops/x')}`)).status).toBe(404);
  const { body } = await asAdmin('GET', `${enterprise}/audit-logs?limit=100`);
  const actions = body.items.map(({ action }: any) => action);
  const written = ['create_idp_group', 'add_group_membership', 'update_group_membership', 'delete_group_membership'];
  expect(actions).toEqual(expect.arrayContaining([...written, 'delete_idp_group']));
});

it('nobody gives a group a role with a permission that they lack', async () => {
  const manager = await asAdmin('POST', `${enterprise}/idp-groups`, { idp_group_names: ['corp:late'] });
  expect(manager.status).toBe(200);
  await signInAs(test, idp, 'corp', { ...userOf('dev-2', ['dev']) });
  const path = `${enterprise}/members/idp-groups/${named('corp:late')}`;
  expect((await call(test, test.v1Key, 'POST', path, { role_id: 'account_admin' })).status).toBe(401);
  const role = await call(test, test.adminToken, 'POST', '/graphql', {
    query:
      'mutation { createRole(input: { name: "Members", scope: ENTERPRISE, permissions: [MANAGE_ACCOUNT_MEMBERSHIP, VIEW_ACCOUNT_MEMBERSHIP] }) { role { roleId } } }',
  });
  const { roleId } = role.body.data.createRole.role;
  const { token } = await makeServiceUser(test, { roleId });
  expect((await call(test, token, 'POST', path, { role_id: 'account_member' })).status).toBe(403);
  const refused = await call(test, token, 'POST', path, { role_id: 'account_admin' });
  expect(refused.status).toBe(403);
});
