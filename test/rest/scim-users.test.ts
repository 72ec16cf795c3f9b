import { expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { makeManager, runMutation } from '../support/people.ts';
import { makeKey } from '../support/principals.ts';
import { filtered, patchOf, scim, scimProblem, scimUris } from '../support/scim.ts';
import { createSession } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { useApp } from '../support/use-app.ts';
import { makeServiceUser } from './rest-app.ts';

const test = useApp();

let users = 0;
const newAddress = () => `provisioned-${++users}@example.com`;
const send = (method: string, path: string, body?: unknown, token = test.adminToken) =>
  scim(test, token, method, path, body);
const create = async (values: object = {}): Promise<any> => {
  const { status, body } = await send('POST', '/Users', {
    schemas: [scimUris.user],
    userName: newAddress(),
    ...values,
  });
  expect(status).toBe(201);
  return body;
};
const auditOf = (id: string) =>
  test.app.services.store.query<{ action: string; data: any }>(
    'select action, data from audit_entry where target_id = $1 order by created_at, id',
    [id.replace('user-', '')],
  );

it('describes itself to everybody with a valid token', async () => {
  const config = await send('GET', '/ServiceProviderConfig');
  expect(config.body).toMatchObject({
    patch: { supported: true },
    filter: { supported: true, maxResults: 200 },
    bulk: { supported: false },
    sort: { supported: true },
    etag: { supported: true },
    authenticationSchemes: [{ type: 'oauthbearertoken' }],
    meta: { location: `${test.url}/scim/v2/ServiceProviderConfig` },
  });
  const types = await send('GET', '/ResourceTypes');
  expect(types.body.Resources).toContainEqual(
    expect.objectContaining({ id: 'User', endpoint: '/Users', schema: scimUris.user }),
  );
  expect((await send('GET', '/ResourceTypes/User')).body).toMatchObject({ name: 'User' });
  const schemas = await send('GET', '/Schemas');
  expect(schemas.body).toMatchObject({ schemas: [scimUris.list], startIndex: 1 });
  const { attributes } = (await send('GET', `/Schemas/${scimUris.user}`)).body;
  expect(attributes.map(({ name }: any) => name)).toContain('userName');
  const missing = await send('GET', '/Schemas/urn:unknown');
  expect([missing.status, missing.body]).toEqual([404, { ...scimProblem(404), detail: 'There is no such resource.' }]);
  const anonymous = await scim(test, null, 'GET', '/ServiceProviderConfig');
  expect([anonymous.status, anonymous.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  expect(anonymous.body).toMatchObject(scimProblem(401));
});

it('creates, reads, lists, replaces and deletes users of the enterprise', async () => {
  const address = newAddress();
  const sent = {
    schemas: [scimUris.user],
    externalId: '00u1',
    userName: address,
    name: { givenName: 'Ada', familyName: 'Lovelace' },
    emails: [{ value: address, type: 'work', primary: true }],
    title: 'Countess',
    groups: [],
    active: true,
  };
  const { status, body, headers } = await send('POST', '/Users', sent);
  expect(status).toBe(201);
  expect(body).toEqual({
    schemas: [scimUris.user],
    id: expect.stringMatching(/^user-[0-9a-f]{32}$/),
    externalId: '00u1',
    userName: address,
    name: { formatted: 'Ada Lovelace', givenName: 'Ada', familyName: 'Lovelace' },
    displayName: 'Ada Lovelace',
    active: true,
    emails: [{ value: address, type: 'work', primary: true }],
    meta: {
      resourceType: 'User',
      created: expect.any(String),
      location: `${test.url}/scim/v2/Users/${body.id}`,
      version: expect.stringMatching(/^W\/"/),
    },
  });
  expect(headers.get('location')).toBe(body.meta.location);
  const one = `/Users/${body.id}`;
  expect((await send('GET', one)).body).toEqual(body);
  expect((await send('GET', `${one}?attributes=userName,active`)).body).toEqual({
    schemas: [scimUris.user],
    id: body.id,
    userName: address,
    active: true,
  });
  expect((await send('GET', `${one}?excludedAttributes=emails,meta`)).body).not.toHaveProperty('emails');
  const again = await send('POST', '/Users', { ...sent, userName: address.toUpperCase() });
  expect([again.status, again.body]).toEqual([
    409,
    { ...scimProblem(409, 'uniqueness'), detail: '"userName" already belongs to a user of this enterprise.' },
  ]);
  const replaced = await send('PUT', one, { ...body, displayName: 'Countess', name: undefined, externalId: undefined });
  expect(replaced.body).toMatchObject({ displayName: 'Countess', name: { formatted: 'Countess' }, active: true });
  expect(replaced.body).not.toHaveProperty('externalId');
  expect(replaced.body.name).toEqual({ formatted: 'Countess' });
  const { data } = await graphql(
    test,
    test.adminToken,
    'query($email: String!) { enterprise { users(filter: {email: $email}) { nodes { name roleAssignments { nodes { role { roleId } } } } } } }',
    { email: address },
  );
  expect(data.enterprise.users.nodes).toEqual([{ name: 'Countess', roleAssignments: { nodes: [] } }]);
  expect((await send('DELETE', one)).status).toBe(204);
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const gone = await send(method, one, method === 'PUT' ? sent : undefined);
    expect([gone.status, gone.body]).toEqual([404, { ...scimProblem(404), detail: 'There is no such user.' }]);
  }
  expect((await create({ userName: address })).id).not.toBe(body.id);
  const actions = (await auditOf(body.id)).map(({ action }) => action);
  expect(actions).toEqual(['add_member', 'update_member', 'delete_member']);
});

it('changes the address, the names and the external id, each by its path or as an object', async () => {
  const { id } = await create({ name: { givenName: 'Grace', familyName: 'Murray' } });
  const other = await create();
  const change = (...operations: object[]) => send('PATCH', `/Users/${id}`, patchOf(...operations));
  const address = newAddress();
  const changed = await change(
    { op: 'replace', path: 'name.familyName', value: 'Hopper' },
    { op: 'Replace', path: `${scimUris.user}:userName`, value: address },
    { op: 'add', value: { 'externalId': 'x-1', 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': {} } },
    { op: 'replace', path: 'emails[type eq "work"].value', value: 'ignored@example.com' },
  );
  expect(changed.body).toMatchObject({
    userName: address,
    externalId: 'x-1',
    displayName: 'Grace Hopper',
    name: { givenName: 'Grace', familyName: 'Hopper', formatted: 'Grace Hopper' },
    emails: [{ value: address }],
  });
  const named = await change({ op: 'replace', value: { displayName: 'Amazing Grace', name: { givenName: 'G.' } } });
  expect(named.body).toMatchObject({ displayName: 'Amazing Grace', name: { givenName: 'G.' } });
  const kept = await change({ op: 'replace', value: { 'name.givenName': 'Grace' } });
  expect(kept.body).toMatchObject({ displayName: 'Amazing Grace', name: { givenName: 'Grace' } });
  const removed = await change({ op: 'remove', path: 'displayName' }, { op: 'remove', path: 'externalId' });
  expect(removed.body).toMatchObject({ displayName: 'Grace Hopper' });
  expect(removed.body).not.toHaveProperty('externalId');
  const taken = await change({ op: 'replace', path: 'userName', value: other.userName.toUpperCase() });
  expect([taken.status, taken.body.scimType]).toEqual([409, 'uniqueness']);
  const [, first] = await auditOf(id);
  expect(first?.data).toEqual({ changed: 'email name externalId familyName', emailBefore: expect.any(String) });
});

it('deactivates a user with an open socket, and gives the access back', async () => {
  const made = await create();
  const organizationId = `org-${test.organizationId}`;
  const role = { principal: { userId: made.id }, scope: { organizationId }, roleId: 'org_member' };
  expect((await runMutation(test, 'assignRole', 'user { userId }', role)).userErrors).toEqual([]);
  const token = await makeKey(test, { kind: 'PERSONAL_ACCESS_TOKEN', userId: made.id });
  const id = await createSession(test, { organizationId }, token);
  const document = 'subscription($id: ID!) { sessionMessages(sessionId: $id) { cursor } }';
  const socket = follow(connect(test.url, token), document, { id });
  await socket.take(1);
  const set = (value: unknown) => send('PATCH', `/Users/${made.id}`, patchOf({ op: 'Replace', path: 'active', value }));
  expect((await set('False')).body).toMatchObject({ active: false });
  expect(await socket.ended).toMatchObject({ code: 4403 });
  expect((await scim(test, token, 'GET', '/ServiceProviderConfig')).status).toBe(401);
  expect(
    (await send('GET', filtered('Users', `userName eq "${made.userName}" and active eq false`))).body,
  ).toMatchObject({
    totalResults: 1,
    Resources: [{ id: made.id, active: false }],
  });
  expect((await set(true)).body).toMatchObject({ active: true });
  expect((await graphql(test, token, '{ viewer { principalType } }')).status).toBe(200);
  const put = await send('PUT', `/Users/${made.id}`, { userName: made.userName, active: false });
  expect(put.body.active).toBe(false);
  expect((await send('PUT', `/Users/${made.id}`, { userName: made.userName })).body.active).toBe(false);
  expect(await create({ active: false })).toMatchObject({ active: false });
  const strange = await set('no');
  expect([strange.status, strange.body]).toEqual([
    400,
    { ...scimProblem(400, 'invalidValue'), detail: '"active" must be true or false.' },
  ]);
});

it('lists pages by index, oldest first, and finds users by equations', async () => {
  const made = [await create({ externalId: 'page', displayName: 'Page One' }), await create({ externalId: 'page' })];
  const [first, second] = made;
  const list = async (path: string) => (await send('GET', path)).body;
  const page = await list(filtered('Users', 'externalId eq "page"', '&startIndex=2&count=1'));
  expect(page).toEqual({
    schemas: [scimUris.list],
    totalResults: 2,
    startIndex: 2,
    itemsPerPage: 1,
    Resources: [second],
  });
  expect(await list(filtered('Users', 'externalId eq "page"', '&count=0'))).toMatchObject({
    totalResults: 2,
    itemsPerPage: 0,
    Resources: [],
  });
  expect(await list(filtered('Users', 'externalId eq "page"', '&startIndex=-5&count=100000'))).toMatchObject({
    startIndex: 1,
    itemsPerPage: 2,
  });
  const everybody = await list('/Users?startIndex=1&count=2');
  expect(everybody).toMatchObject({ itemsPerPage: 2, startIndex: 1 });
  expect(everybody.totalResults).toBeGreaterThan(2);
  const address = first.userName;
  const finding = [
    `userName eq "${address}"`,
    `USERNAME Eq "${address.toUpperCase()}"`,
    `emails.value eq "${address}"`,
    `emails[type eq "work"].value eq "${address}"`,
    `emails[type eq "work" and value eq "${address}"]`,
    `${scimUris.user}:userName eq "${address}"`,
    `(displayName eq "page one") and externalId eq "page"`,
    `id eq "${first.id}"`,
    `userName eq ${JSON.stringify(address).replace('@', '\\u0040')}`,
  ];
  for (const filter of finding) {
    expect(
      (await list(filtered('Users', filter))).Resources?.map(({ id }: any) => id),
      filter,
    ).toEqual([first.id]);
  }
  expect((await list(filtered('Users', 'externalId eq "PAGE"'))).totalResults).toBe(0);
  expect((await list(filtered('Users', 'id eq "x"'))).totalResults).toBe(0);
});

it('asks for the permissions of members, before it tells whether a user exists', async () => {
  const made = await create();
  const { token: reader } = await makeReader();
  expect((await send('GET', `/Users/${made.id}`, undefined, reader)).status).toBe(200);
  const ofOrganization = await makeServiceUser(test, {
    organizationId: test.organizationId,
    roleId: 'org_admin',
  });
  const unknown = `user-${'0'.repeat(32)}`;
  for (const [token, permission, methods] of [
    [reader, 'ManageAccountMembership', ['POST', 'PUT', 'PATCH', 'DELETE']],
    [ofOrganization.token, 'ViewAccountMembership', ['GET']],
    [ofOrganization.token, 'ManageAccountMembership', ['POST', 'PUT', 'PATCH', 'DELETE']],
  ] as const) {
    for (const method of methods) {
      for (const id of [made.id, unknown]) {
        const path = method === 'POST' ? '/Users' : `/Users/${id}`;
        const body = method === 'PATCH' ? patchOf() : { userName: newAddress() };
        const { status, body: answer } = await send(
          method,
          path,
          ['GET', 'DELETE'].includes(method) ? undefined : body,
          token,
        );
        expect([status, answer], `${method} ${path}`).toEqual([
          403,
          { ...scimProblem(403), detail: `Missing permission ${permission}.` },
        ]);
      }
    }
  }
  const administrators = (await send('GET', filtered('Users', 'userName eq "admin@localhost"'))).body.Resources;
  const manager = await makeReader('MANAGE_ACCOUNT_MEMBERSHIP');
  for (const [method, body] of [
    ['PATCH', patchOf({ op: 'replace', value: { active: false } })],
    ['PATCH', patchOf({ op: 'replace', path: 'userName', value: newAddress() })],
    ['PUT', { userName: newAddress() }],
    ['DELETE', undefined],
  ] as const) {
    const { status, body: answer } = await send(method, `/Users/${administrators[0].id}`, body, manager.token);
    expect([status, answer.detail]).toEqual([403, expect.stringMatching(/^You cannot act on a principal/)]);
  }
  const v1 = await makeKey(test, { kind: 'SERVICE', organizationId: `org-${test.organizationId}` });
  const wrongKind = await scim(test, v1, 'GET', '/Users');
  expect([wrongKind.status, wrongKind.body.detail]).toEqual([401, expect.stringContaining('"cog_"')]);
});

const makeReader = (...more: string[]) => makeManager(test, 'VIEW_ACCOUNT_MEMBERSHIP', ...more);

it('gives an address to one of many requests at the same time', async () => {
  const made = await Promise.all(Array.from({ length: 4 }, () => create()));
  const address = newAddress();
  const statuses = await Promise.all([
    ...made.map(({ id }) =>
      send('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'userName', value: address })),
    ),
    send('POST', '/Users', { userName: address }),
  ]);
  const won = statuses.filter(({ status }) => status < 300);
  expect(statuses.map(({ status }) => status).filter((status) => status >= 300)).toEqual([409, 409, 409, 409]);
  expect((await send('GET', filtered('Users', `userName eq "${address}"`))).body.Resources).toEqual([won[0]?.body]);
});

it('refuses bad filters, paths and bodies in words of SCIM', async () => {
  const { id } = await create();
  const long = `userName eq "${'a'.repeat(3_000)}"`;
  const deep = `${'('.repeat(600)}userName eq "a"${')'.repeat(600)}`;
  const many = Array.from({ length: 40 }, () => 'userName eq "a"').join(' and ');
  const filters = [
    ...[long, deep, many, 'userName', 'userName eq', 'userName co', 'userName eq "a" or'],
    ...[
      'not (userName eq "a"',
      'title eq "x"',
      'password eq "x"',
      'userName eq 5',
      'userName eq "a',
      `userName eq 'a'`,
    ],
    ...[
      'userName eq "a" )',
      '(userName eq "a"',
      'phoneNumbers[type eq "home"].value eq "a"',
      'userName eq "\\u0000"',
      '__proto__ eq "a"',
    ],
    ...[
      'constructor eq "a"',
      `userName eq "${'\n'.repeat(1_500)}`,
      `userName eq "${'\\"'.repeat(900)}`,
      'userName eq "\\ud800"',
    ],
    ...[`userName eq "a' or 1=1 --" or true`, '; drop table user_account', 'active eq "perhaps"', 'userName eq true'],
  ];
  for (const filter of filters) {
    const { status, body } = await send('GET', filtered('Users', filter));
    expect([status, body], filter.slice(0, 60)).toMatchObject([400, { schemas: [scimUris.error], status: '400' }]);
    expect(body.scimType, filter.slice(0, 60)).toMatch(/^invalid(?:Filter|Value)$/);
  }
  const injected = await send('GET', filtered('Users', `userName eq "x') or ('1'='1"`));
  expect(injected.body).toMatchObject({ totalResults: 0 });
  const refused: [string, string, unknown, number, string | undefined][] = [
    ['POST', '/Users', { schemas: [] }, 400, 'invalidValue'],
    ['POST', '/Users', [], 400, 'invalidSyntax'],
    ['POST', '/Users', { userName: 'no address' }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: newAddress(), displayName: 'x'.repeat(201) }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: newAddress(), externalId: '\u0000' }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: newAddress(), externalId: 5 }, 400, 'invalidValue'],
    ['PATCH', `/Users/${id}`, {}, 400, 'invalidValue'],
    ['PATCH', `/Users/${id}`, patchOf({ op: 'move', path: 'userName' }), 400, 'invalidSyntax'],
    ['PATCH', `/Users/${id}`, patchOf({ op: 'remove' }), 400, 'noTarget'],
    ['PATCH', `/Users/${id}`, patchOf({ op: 'remove', path: 'userName' }), 400, 'invalidValue'],
    ['PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'a[b', value: 1 }), 400, 'invalidPath'],
    ['PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'userName' }), 400, 'invalidValue'],
    ['PATCH', `/Users/${id}`, patchOf({ op: 'replace', value: 'x' }), 400, 'invalidSyntax'],
    [
      'PATCH',
      `/Users/${id}`,
      patchOf(...Array.from({ length: 1_001 }, () => ({ op: 'add', value: {} }))),
      400,
      'invalidValue',
    ],
    ['GET', '/Users?startIndex=two', undefined, 400, 'invalidValue'],
    ['GET', '/Nothing', undefined, 404, undefined],
    ['PUT', '/Users', {}, 405, undefined],
  ];
  for (const [method, path, body, status, scimType] of refused) {
    const answer = await send(method, path, body);
    expect([answer.status, answer.body], `${method} ${path}`).toEqual([
      status,
      { ...scimProblem(status, scimType), detail: expect.any(String) },
    ]);
  }
  const prototype = patchOf({ op: 'replace', value: JSON.parse('{"__proto__": {"active": false}, "constructor": 1}') });
  expect((await send('PATCH', `/Users/${id}`, prototype)).body.active).toBe(true);
});
