import { expect, it } from 'vitest';
import { call, graphql } from '../support/app.ts';
import { makeManager, makeRole, runMutation } from '../support/people.ts';
import { makeKey, makeUser } from '../support/principals.ts';
import { filtered, patchOf, scim, scimProblem, scimUris } from '../support/scim.ts';
import { createSession, say } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

let made = 0;
const send = (method: string, path: string, body?: unknown, token = test.adminToken) =>
  scim(test, token, method, path, body);
const createUser = async (): Promise<any> =>
  (await send('POST', '/Users', { userName: `grouped-${++made}@example.com` })).body;
const createGroup = async (values: object = {}): Promise<any> => {
  const { status, body } = await send('POST', '/Groups', { displayName: `Group ${++made}`, ...values });
  expect(status).toBe(201);
  return body;
};
const patch = (id: string, ...operations: object[]) => send('PATCH', `/Groups/${id}`, patchOf(...operations));
const membersOf = async (id: string) =>
  ((await send('GET', `/Groups/${id}`)).body.members as { readonly value: string }[]).map(({ value }) => value).sort();
/** Gives a group a role on the enterprise, and in the first organization. */
const grant = async (idpGroupId: string, roleId = 'org_member') => {
  for (const [scope, role] of [
    [{ enterprise: true }, 'account_member'],
    [{ organizationId: `org-${test.organizationId}` }, roleId],
  ] as const) {
    const { userErrors } = await runMutation(test, 'assignIdpGroupRole', 'idpGroup { name }', {
      idpGroupId,
      scope,
      roleId: role,
    });
    expect(userErrors).toEqual([]);
  }
};
const permissionsOf = async (token: string) => {
  const { status, data } = await graphql(
    test,
    token,
    '{ viewer { enterprisePermissions } organizations(first: 5) { nodes { viewerPermissions } } }',
  );
  return status === 200
    ? [...data.viewer.enterprisePermissions, ...data.organizations.nodes.flatMap((each: any) => each.viewerPermissions)]
    : status;
};

it('are created, read, replaced and deleted, with members', async () => {
  const [one, two] = [await createUser(), await createUser()];
  const name = `Crew ${++made}`;
  const { status, body, headers } = await send('POST', '/Groups', {
    schemas: [scimUris.group],
    displayName: name,
    externalId: 'g-1',
    members: [{ value: one.id, display: 'ignored' }],
  });
  expect(status).toBe(201);
  expect(body).toEqual({
    schemas: [scimUris.group],
    id: expect.stringMatching(/^idp-group-[0-9a-f]{32}$/),
    externalId: 'g-1',
    displayName: name,
    members: [{ value: one.id, display: one.userName, type: 'User', $ref: one.meta.location }],
    meta: {
      resourceType: 'Group',
      created: expect.any(String),
      location: `${test.url}/scim/v2/Groups/${body.id}`,
      version: expect.stringMatching(/^W\/"/),
    },
  });
  expect(headers.get('location')).toBe(body.meta.location);
  const path = `/Groups/${body.id}`;
  expect((await send('GET', path)).body).toEqual(body);
  expect((await send('GET', `${path}?excludedAttributes=members`)).body).not.toHaveProperty('members');
  const taken = await send('POST', '/Groups', { displayName: name });
  expect([taken.status, taken.body]).toEqual([
    409,
    { ...scimProblem(409, 'uniqueness'), detail: '"displayName" is already that of a group of this enterprise.' },
  ]);
  const replaced = await send('PUT', path, { displayName: `${name}!`, members: [{ value: two.id }] });
  expect(replaced.body).toMatchObject({ displayName: `${name}!`, members: [{ value: two.id }] });
  expect(replaced.body).not.toHaveProperty('externalId');
  expect((await send('PUT', path, { displayName: name })).body.members).toHaveLength(1);
  expect((await send('PUT', path, { displayName: name, members: [] })).body.members).toEqual([]);
  const listed = await call(test, test.adminToken, 'GET', '/v3/enterprise/idp-groups');
  expect(listed.body.items).toContainEqual({ idp_group_name: name });
  expect((await send('DELETE', path)).status).toBe(204);
  for (const method of ['GET', 'DELETE', 'PUT', 'PATCH']) {
    const sent = method === 'PUT' ? { displayName: 'x' } : method === 'PATCH' ? patchOf() : undefined;
    const gone = await send(method, path, sent);
    expect([gone.status, gone.body]).toEqual([404, { ...scimProblem(404), detail: 'There is no such group.' }]);
  }
  expect((await send('GET', `/Schemas/${scimUris.group}`)).body.name).toBe('Group');
});

it('change their members in every shape that directories send', async () => {
  const users = [await createUser(), await createUser(), await createUser()];
  const [a, b, c] = users.map(({ id }) => id) as [string, string, string];
  const { id } = await createGroup();
  const steps: [object[], string[]][] = [
    [[{ op: 'Add', path: 'members', value: [{ $ref: null, value: a }] }], [a]],
    [[{ op: 'add', value: { members: [{ value: b }] } }], [a, b]],
    [[{ op: 'add', path: 'members', value: { value: b } }], [a, b]],
    [
      [
        { op: 'remove', path: `members[value eq "${a}"]` },
        { op: 'add', path: 'members', value: [{ value: c }] },
      ],
      [b, c],
    ],
    [[{ op: 'Remove', path: 'members', value: [{ $ref: null, value: b }] }], [c]],
    [[{ op: 'replace', path: 'members', value: [{ value: a }, { value: b }] }], [a, b]],
    [[{ op: 'remove', path: 'members', value: [] }], [a, b]],
    [
      [
        { op: 'remove', path: `members[value eq "${a}"]` },
        { op: 'add', path: 'members', value: [{ value: a }] },
      ],
      [a, b],
    ],
    [[{ op: 'remove', path: `members[value eq "${a}" or (value eq "user-x" or value eq "${c}")]` }], [b]],
    [[{ op: 'add', path: 'members', value: null }], [b]],
    [[{ op: 'replace', path: 'members', value: null }], []],
    [[{ op: 'add', path: 'members', value: [{ value: a }] }], [a]],
    [[{ op: 'remove', path: 'members' }], []],
    [[{ op: 'replace', value: { id, displayName: `Group ${++made}`, members: [{ value: c }] } }], [c]],
    [[{ op: 'remove', path: `${scimUris.group}:members[value eq "user-${'0'.repeat(32)}"]` }], [c]],
  ];
  for (const [operations, members] of steps) {
    const { status } = await patch(id, ...operations);
    expect([status, await membersOf(id)], JSON.stringify(operations)).toEqual([204, members.toSorted()]);
  }
  const actions = await test.app.services.store.query<{ action: string; data: { name: string } }>(
    `select action, data from audit_entry where target_id = $1 and action like '%_idp_group' order by created_at, id`,
    [a.replace('user-', '')],
  );
  expect(actions.map(({ action }) => action.split('_')[0])).toEqual([
    'add',
    'remove',
    'add',
    'remove',
    'add',
    'remove',
  ]);
});

it('give and take roles at once, in open streams too', async () => {
  const { id: userId } = await createUser();
  const token = await makeKey(test, { kind: 'PERSONAL_ACCESS_TOKEN', userId });
  expect(await permissionsOf(token)).toEqual([]);
  const { id } = await createGroup();
  await grant(id);
  await patch(id, { op: 'add', path: 'members', value: [{ value: userId }] });
  expect(await permissionsOf(token)).toContain('USE_SESSIONS');
  const organizationId = `org-${test.organizationId}`;
  const sessionId = await createSession(test, { organizationId }, token);
  const document = 'subscription($id: ID!) { sessionMessages(sessionId: $id) { cursor } }';
  const socket = follow(connect(test.url, token), document, { id: sessionId });
  await socket.take(1);
  const members = await call(test, test.adminToken, 'GET', `/v3/organizations/${organizationId}/members/idp-users`);
  expect(members.body.items).toContainEqual(expect.objectContaining({ user_id: userId }));
  await patch(id, { op: 'remove', path: `members[value eq "${userId}"]` });
  await say(test, sessionId, 'after the removal');
  await socket.ended;
  await expect(socket.take(1)).rejects.toThrow();
  expect(await permissionsOf(token)).toEqual([]);
  expect((await call(test, token, 'GET', `/v3/organizations/${organizationId}/sessions`)).status).toBe(403);
  await patch(id, { op: 'add', path: 'members', value: [{ value: userId }] });
  expect(await permissionsOf(token)).toContain('USE_SESSIONS');
  await send('DELETE', `/Groups/${id}`);
  expect(await permissionsOf(token)).toEqual([]);
});

it('count for members by a sign-in and by a directory alike, each once', async () => {
  const { id, displayName } = await createGroup();
  await grant(id);
  const { id: userId } = await createUser();
  const token = await makeKey(test, { kind: 'PERSONAL_ACCESS_TOKEN', userId });
  const { enterpriseId } = test.app.installation;
  const at = test.app.services.now();
  await test.app.services.store.transact(async (tx) => {
    const account = { providerId: 'corp', issuer: 'https://corp.test', subject: userId, groups: [displayName] };
    const identity = { id: userId.replace('user-', ''), enterpriseId, userId: userId.replace('user-', ''), ...account };
    await tx.prisma.userIdentity.create({ data: { ...identity, createdAt: at, lastSignInAt: at } });
  });
  const once = await permissionsOf(token);
  expect(once).toContain('USE_SESSIONS');
  await patch(id, { op: 'add', path: 'members', value: [{ value: userId }] });
  expect(await permissionsOf(token)).toEqual(once);
  const user = await call(test, test.adminToken, 'GET', `/v3/enterprise/members/users/${userId}`);
  expect(user.body.idp_role_assignments).toHaveLength(2);
  await patch(id, { op: 'remove', path: `members[value eq "${userId}"]` });
  // The directory removes its own members. The sign-in named the group too.
  expect(await permissionsOf(token)).toEqual(once);
  await patch(id, { op: 'replace', path: 'displayName', value: `${displayName} (renamed)` });
  expect(await permissionsOf(token)).toEqual([]);
});

it('are changed only by tokens with every permission of their roles', async () => {
  const { id: userId } = await createUser();
  const admins = await createGroup({ members: [{ value: userId }] });
  await grant(admins.id, 'org_admin');
  const bare = await createGroup();
  const manager = await makeManager(test, 'VIEW_ACCOUNT_MEMBERSHIP', 'MANAGE_ACCOUNT_MEMBERSHIP');
  const reader = await makeManager(test, 'VIEW_ACCOUNT_MEMBERSHIP');
  const add = patchOf({ op: 'add', path: 'members', value: [{ value: userId }] });
  const attempts: [string, string, unknown][] = [
    ['PATCH', `/Groups/${admins.id}`, add],
    ['PATCH', `/Groups/${admins.id}`, patchOf({ op: 'remove', path: 'members' })],
    ['PATCH', `/Groups/${admins.id}`, patchOf({ op: 'replace', path: 'displayName', value: 'Mine' })],
    ['PUT', `/Groups/${admins.id}`, { displayName: admins.displayName, members: [] }],
    ['DELETE', `/Groups/${admins.id}`, undefined],
  ];
  for (const [method, path, body] of attempts) {
    const { status, body: answer } = await send(method, path, body, manager.token);
    expect([status, answer.detail], `${method} ${JSON.stringify(body)}`).toEqual([
      403,
      expect.stringMatching(/^You cannot act on a group with a permission that you lack/),
    ]);
  }
  expect(await membersOf(admins.id)).toEqual([userId]);
  expect((await send('PATCH', `/Groups/${bare.id}`, add, manager.token)).status).toBe(204);
  const own = await makeRole(test, 'ENTERPRISE', ['VIEW_ACCOUNT_MEMBERSHIP']);
  await runMutation(test, 'assignIdpGroupRole', 'idpGroup { name }', {
    idpGroupId: bare.id,
    scope: { enterprise: true },
    roleId: own.roleId,
  });
  expect(
    (await send('PATCH', `/Groups/${bare.id}`, patchOf({ op: 'remove', path: 'members' }), manager.token)).status,
  ).toBe(204);
  const unknown = `idp-group-${'0'.repeat(32)}`;
  const { token: member } = await makeUser(test);
  for (const id of [bare.id, unknown]) {
    for (const [method, body] of [
      ['POST', { displayName: 'New' }],
      ['PUT', { displayName: 'New' }],
      ['PATCH', patchOf()],
      ['DELETE', undefined],
    ] as const) {
      const { status, body: answer } = await send(
        method,
        method === 'POST' ? '/Groups' : `/Groups/${id}`,
        body,
        reader.token,
      );
      expect([status, answer.detail]).toEqual([403, 'Missing permission ManageAccountMembership.']);
    }
    const { status, body: answer } = await send('GET', `/Groups/${id}`, undefined, member);
    expect([status, answer.detail]).toEqual([403, 'Missing permission ViewAccountMembership.']);
  }
  expect((await send('GET', `/Groups/${bare.id}`, undefined, reader.token)).status).toBe(200);
});

it('are listed by index, and found by equations', async () => {
  const { id: userId } = await createUser();
  const first = await createGroup({ externalId: 'listed', members: [{ value: userId }] });
  const second = await createGroup({ externalId: 'listed' });
  const list = async (filter: string, more = '') => (await send('GET', filtered('Groups', filter, more))).body;
  expect(await list('externalId eq "listed"', '&count=1&startIndex=2')).toEqual({
    schemas: [scimUris.list],
    totalResults: 2,
    startIndex: 2,
    itemsPerPage: 1,
    Resources: [second],
  });
  const withoutMembers = await list('externalId eq "listed"', '&excludedAttributes=members');
  expect(withoutMembers.Resources.map((each: object) => 'members' in each)).toEqual([false, false]);
  for (const filter of [
    `displayName eq "${first.displayName.toUpperCase()}"`,
    `id eq "${first.id}"`,
    `id eq "${first.id}" and members eq "${userId}"`,
    `externalId eq "listed" and members[value eq "${userId}"]`,
    `members.value eq "${userId}"`,
  ]) {
    expect(
      (await list(filter)).Resources?.map(({ id }: any) => id),
      filter,
    ).toEqual([first.id]);
  }
  expect((await list(`id eq "${second.id}" and members eq "${userId}"`)).totalResults).toBe(0);
  for (const filter of ['displayName gt "a"', 'meta.created eq "x"', 'members eq true']) {
    expect((await list(filter)).scimType, filter).toBe('invalidFilter');
  }
  expect((await send('DELETE', `/Users/${userId}`)).status).toBe(204);
  expect(await membersOf(first.id)).toEqual([]);
});

it('refuse unknown members, other values and too many members', async () => {
  const { id } = await createGroup();
  const { id: userId } = await createUser();
  const unknown = `user-${'0'.repeat(32)}`;
  const many = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ value: `user-${n.toString(16).padStart(32, '0')}` }));
  const members = (value: unknown) => [{ op: 'add', path: 'members', value }];
  const refused: [object[], string][] = [
    [members([{ value: userId }, { value: unknown }]), 'invalidValue'],
    [members([{ value: 5 }]), 'invalidValue'],
    [members(['x']), 'invalidValue'],
    [members([{ display: 'x' }]), 'invalidValue'],
    [members(many(10_000)), 'invalidValue'],
    [[{ op: 'replace', path: 'displayName', value: '' }], 'invalidValue'],
    [[{ op: 'remove', path: 'displayName' }], 'invalidValue'],
    [[{ op: 'add', path: `members[value eq "${userId}"]`, value: {} }], 'invalidPath'],
    [[{ op: 'remove', path: 'members[display eq "x"]' }], 'invalidPath'],
    [[{ op: 'remove', path: `members[value eq "${userId}" and value eq "x"]` }], 'invalidPath'],
    [[{ op: 'remove', path: `members[not (value eq "${userId}")]` }], 'invalidPath'],
    [[{ op: 'remove', path: 'members[' }], 'invalidFilter'],
    // Nothing is removed, and nobody may believe that it was.
    [[{ op: 'remove', path: 'members.value' }], 'invalidPath'],
    [[{ op: 'add', path: 'display name', value: 'x' }], 'invalidPath'],
  ];
  for (const [operations, scimType] of refused) {
    const { status, body } = await patch(id, ...operations);
    expect([status, body], JSON.stringify(operations).slice(0, 100)).toEqual([
      400,
      { ...scimProblem(400, scimType), detail: expect.any(String) },
    ]);
  }
  const tooMany = await patch(id, ...members(many(10_000)));
  expect(tooMany.body.detail).toBe('A request can change at most 5000 members of a group.');
  expect((await patch(id, ...members([{ value: unknown }]))).body.detail).toContain(unknown);
  expect((await send('POST', '/Groups', { members: [] })).body.scimType).toBe('invalidValue');
  expect(await membersOf(id)).toEqual([]);
});

it('take thousands of members at once, and are not read whole with other large ones', async () => {
  const { enterpriseId } = test.app.installation;
  const ids = Array.from({ length: 5_000 }, (_, n) => `${'f'.repeat(24)}${n.toString(16).padStart(8, '0')}`);
  const { store } = test.app.services;
  await store.execute(
    `insert into user_account (id, enterprise_id, email, created_at)
     select id, $2, id || '@crowds.example.com', now() from unnest($1::text[]) input(id)`,
    [ids, enterpriseId],
  );
  const value = ids.map((id) => ({ value: `user-${id}` }));
  const groups = [await createGroup(), await createGroup(), await createGroup()];
  for (const { id } of groups) {
    expect((await patch(id, { op: 'add', path: 'members', value })).status).toBe(204);
  }
  expect((await send('GET', `/Groups/${groups[0].id}`)).body.members).toHaveLength(5_000);
  const all = await send('GET', '/Groups');
  expect([all.status, all.body]).toEqual([
    400,
    { ...scimProblem(400, 'tooMany'), detail: expect.stringContaining('excludedAttributes=members') },
  ]);
  expect((await send('GET', '/Groups?excludedAttributes=members')).status).toBe(200);
  await store.execute(`delete from idp_group_member where enterprise_id = $1`, [enterpriseId]);
  await store.execute(`delete from user_account where email like '%@crowds.example.com'`, []);
});
