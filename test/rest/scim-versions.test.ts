import { expect, it } from 'vitest';
import { call } from '../support/app.ts';
import { makeManager, makeRole, runMutation } from '../support/people.ts';
import { patchOf, scim, scimProblem } from '../support/scim.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

let made = 0;
const send = (method: string, path: string, body?: unknown, token = test.adminToken) =>
  scim(test, token, method, path, body);
const sendIf = (version: string, method: string, path: string, body?: unknown) =>
  call(test, test.adminToken, method, `/scim/v2${path}`, body, {
    'content-type': 'application/scim+json',
    'if-match': version,
  });
const createUser = async (): Promise<any> =>
  (await send('POST', '/Users', { userName: `versioned-${++made}@example.com` })).body;
const createGroup = async (values: object = {}): Promise<any> =>
  (await send('POST', '/Groups', { displayName: `Versioned ${++made}`, ...values })).body;
const replaceName = (value: string) => patchOf({ op: 'replace', path: 'displayName', value });

it('changes and deletes users of the version that the directory has read', async () => {
  const user = await createUser();
  const path = `/Users/${user.id}`;
  const { version } = user.meta;
  expect(version).toMatch(/^W\/"[\w-]{22}"$/);
  const read = await send('GET', `${path}?attributes=userName`);
  expect([read.headers.get('etag'), read.body.meta]).toEqual([version, undefined]);
  const cached = await call(test, test.adminToken, 'GET', `/scim/v2${path}`, undefined, { 'if-none-match': version });
  expect(cached.status).toBe(304);
  const changed = await sendIf(version, 'PATCH', path, replaceName('One'));
  expect([changed.status, changed.headers.get('etag')]).toEqual([200, changed.body.meta.version]);
  expect(changed.body.meta.version).not.toBe(version);
  for (const [method, body] of [
    ['PATCH', replaceName('Two')],
    ['PUT', { userName: user.userName, displayName: 'Two' }],
    ['DELETE', undefined],
  ] as const) {
    const { status, body: answer } = await sendIf(version, method, path, body);
    expect([status, answer], method).toEqual([412, { ...scimProblem(412), detail: expect.any(String) }]);
  }
  expect((await send('GET', path)).body).toEqual(changed.body);
  const both = `"other", ${changed.body.meta.version}`;
  expect((await sendIf(both, 'PUT', path, { userName: user.userName, displayName: 'Two' })).status).toBe(200);
  expect((await sendIf('*', 'DELETE', path)).status).toBe(204);
  expect((await sendIf('*', 'DELETE', path)).status).toBe(404);
});

it('changes groups of the version that the directory has read, whose members are a part of it', async () => {
  const { id: userId } = await createUser();
  const group = await createGroup();
  const path = `/Groups/${group.id}`;
  const without = await send('GET', `${path}?excludedAttributes=members`);
  expect(without.headers.get('etag')).toBe(group.meta.version);
  const add = patchOf({ op: 'add', path: 'members', value: [{ value: userId }] });
  expect((await sendIf(group.meta.version, 'PATCH', path, add)).status).toBe(204);
  const refused = await sendIf(group.meta.version, 'PATCH', path, patchOf({ op: 'remove', path: 'members' }));
  expect([refused.status, refused.body.status]).toEqual([412, '412']);
  const { body: after } = await send('GET', path);
  expect([after.members.length, after.meta.version === group.meta.version]).toEqual([1, false]);
  expect((await sendIf(group.meta.version, 'DELETE', path)).status).toBe(412);
  const listed = await send('GET', `/Groups?excludedAttributes=members`);
  expect(listed.body.Resources[0].meta).not.toHaveProperty('version');
  expect((await sendIf(after.meta.version, 'DELETE', path)).status).toBe(204);
});

it('applies one of many changes of the same version', async () => {
  const users = [await createUser(), await createUser(), await createUser(), await createUser()];
  const group = await createGroup();
  const statuses = await Promise.all(
    users.map(async ({ id: value }) => {
      const add = patchOf({ op: 'add', path: 'members', value: [{ value }] });
      return (await sendIf(group.meta.version, 'PATCH', `/Groups/${group.id}`, add)).status;
    }),
  );
  expect(statuses.toSorted()).toEqual([204, 412, 412, 412]);
  expect((await send('GET', `/Groups/${group.id}`)).body.members).toHaveLength(1);
});

it('withstands changes, replacements and deletions of the same groups and users at the same time', async () => {
  const users = await Promise.all(Array.from({ length: 4 }, createUser));
  const groups = [await createGroup(), await createGroup()];
  const value = users.map(({ id }) => ({ value: id }));
  const requests = groups.flatMap(({ id, displayName }, n) => [
    send('PATCH', `/Groups/${id}`, patchOf({ op: 'add', path: 'members', value })),
    send('PUT', `/Groups/${id}`, { displayName: `${displayName}!`, members: n === 0 ? value : [...value].reverse() }),
    send('PATCH', `/Groups/${id}`, patchOf({ op: 'remove', path: 'members', value })),
    send('PATCH', `/Groups/${id}`, replaceName(`${displayName}?`)),
  ]);
  const deletions = [
    send('DELETE', `/Users/${users[0]?.id}`),
    send('DELETE', `/Groups/${groups[1]?.id}`),
    send('PATCH', `/Users/${users[1]?.id}`, patchOf({ op: 'replace', value: { active: false } })),
  ];
  const statuses = (await Promise.all([...requests, ...deletions])).map(({ status }) => status);
  // A deleted user is no member (400), and a deleted group does not exist (404).
  expect(statuses.filter((status) => ![200, 204, 400, 404].includes(status))).toEqual([]);
  const { body } = await send('GET', `/Groups/${groups[0]?.id}`);
  expect(body.members.map((member: any) => member.value)).not.toContain(users[0]?.id);
  const rows = await test.app.services.store.query(
    'select 1 from idp_group_member m where m.user_id = $1 or m.group_id = $2',
    [users[0]?.id.replace('user-', ''), groups[1]?.id.replace('idp-group-', '')],
  );
  expect(rows).toEqual([]);
});

it('gives the external id of a group with roles only to tokens with these roles', async () => {
  const group = await createGroup({ externalId: 'before' });
  const { roleId } = await makeRole(test, 'ENTERPRISE', ['MANAGE_ENTERPRISE_SETTINGS']);
  const { userErrors } = await runMutation(test, 'assignIdpGroupRole', 'idpGroup { name }', {
    idpGroupId: group.id,
    scope: { enterprise: true },
    roleId,
  });
  expect(userErrors).toEqual([]);
  const { token } = await makeManager(test, 'VIEW_ACCOUNT_MEMBERSHIP', 'MANAGE_ACCOUNT_MEMBERSHIP');
  // A directory that finds the group by this id would add its own members to it.
  const take = patchOf({ op: 'replace', path: 'externalId', value: 'that of everybody' });
  expect((await send('PATCH', `/Groups/${group.id}`, take, token)).status).toBe(403);
  expect((await send('GET', `/Groups/${group.id}`)).body.externalId).toBe('before');
});
