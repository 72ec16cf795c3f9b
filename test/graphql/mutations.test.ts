import { beforeAll, describe, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { type MutationName, mutate } from '../support/mutations.ts';
import { globalIdOf, keyInput, makeKey, makeUser } from '../support/principals.ts';
import { countRows } from '../support/rows.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
let other: { organizationId: string; token: string; serviceUserId: string };
beforeAll(async () => {
  other = await makeOrganization(test, 'Other');
});

const run = (name: MutationName, input: Record<string, unknown>, token = test.adminToken) =>
  mutate(test, token, name, { clientMutationId: 'mine', ...input });
const done = { userErrors: [], clientMutationId: 'mine' };

describe('createSession', () => {
  it('creates a session from a prompt alone, in the viewer’s only organization', async () => {
    const before = await countRows(test);
    const { payload, errors } = await run('createSession', { prompt: '  \n first line\nsecond' }, other.token);
    expect(errors).toBeUndefined();
    expect(payload).toMatchObject({
      ...done,
      wasReplayed: false,
      session: {
        sessionId: expect.stringMatching(/^devin-[0-9a-f]{32}$/),
        title: 'first line',
        tags: [],
        status: 'NEW',
        isArchived: false,
        isUnlisted: false,
        origin: 'API',
        agent: 'demo',
        maxAcuLimit: null,
        structuredOutputSchema: null,
        organization: { organizationId: other.organizationId },
        createdBy: { __typename: 'ServiceUser', serviceUserId: other.serviceUserId },
      },
    });
    expect(payload.session.url).toBe(`${test.url}/sessions/${payload.session.sessionId.slice('devin-'.length)}`);
    expect(await countRows(test)).toEqual({
      ...before,
      session: before.session + 1,
      run: before.run + 1,
      log_entry: before.log_entry + 2,
      audit_entry: before.audit_entry + 1,
    });
  });

  it('keeps every value of the input', async () => {
    const structuredOutputSchema = { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: {} } };
    const { payload } = await run('createSession', {
      organizationId: globalIdOf('Organization', test.organizationId),
      prompt: 'x'.repeat(500_000),
      title: 'Title \u{1F600}',
      tags: [...Array.from({ length: 49 }, (_, n) => `t${n}`), 'same', 'same'].slice(0, 50),
      snapshotId: 'snap-1',
      maxAcuLimit: 1,
      structuredOutputSchema,
      agent: 'demo',
      isUnlisted: true,
      sessionSecrets: [
        { key: 'A', value: 'c4n4ry-of-a' },
        { key: 'B', value: '', isSensitive: false },
      ],
      knowledgeIds: [],
      secretIds: [],
      attachmentIds: [],
    });
    expect(payload).toMatchObject({
      ...done,
      session: {
        title: 'Title \u{1F600}',
        tags: expect.arrayContaining(['t0', 'same']),
        snapshotId: 'snap-1',
        maxAcuLimit: 1,
        structuredOutputSchema,
        agent: 'demo',
        isUnlisted: true,
      },
    });
    expect(payload.session.tags).toHaveLength(50);
    const rows = await test.app.services.store.query(
      'select s::text as row from session_secret s join session on session.id = s.session_id where title = $1',
      [payload.session.title],
    );
    expect(rows).toHaveLength(2);
    expect(JSON.stringify(rows)).not.toContain('c4n4ry');
  });

  it('creates a session of another member', async () => {
    const { userId } = await makeUser(test);
    const input = { organizationId: test.organizationId, prompt: 'x', asUserId: userId };
    const { payload } = await run('createSession', input);
    expect(payload.session.createdBy).toEqual({ __typename: 'User', userId });
  });

  it('lets a personal access token create sessions as its own user, and as nobody else', async () => {
    const [own, someone] = [await makeUser(test), await makeUser(test)];
    const there = { organizationId: test.organizationId };
    const mine = await run('createSession', { ...there, prompt: 'x', asUserId: own.userId }, own.token);
    expect(mine.payload.session.createdBy).toEqual({ __typename: 'User', userId: own.userId });
    const theirs = await run('createSession', { ...there, prompt: 'x', asUserId: someone.userId }, own.token);
    expect(theirs.errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
  });
});

describe('sendMessage', () => {
  it('writes the message into the log under the returned id', async () => {
    const id = await createSession(test);
    const { payload, errors } = await run('sendMessage', { sessionId: globalIdOf('Session', id), body: 'go on' });
    expect(errors).toBeUndefined();
    expect(payload).toMatchObject({
      ...done,
      session: { sessionId: `devin-${id}`, status: 'NEW' },
      message: { seq: 3, type: 'USER_MESSAGE', body: 'go on', author: { __typename: 'ServiceUser' } },
    });
    const { data } = await graphql(
      test,
      test.adminToken,
      'query($id: ID!) { session(id: $id) { messages(last: 1) { nodes { id eventId } } } }',
      { id },
    );
    const { id: messageId, eventId } = payload.message;
    expect(data.session.messages.nodes).toEqual([{ id: messageId, eventId }]);
  });

  it.each([
    ['terminated', { archive: false }, 'The session has been terminated and takes no further messages.'],
    ['archived', { archive: true }, 'The session is archived and takes no further messages.'],
  ])('is refused by a session that is %s', async (_what, { archive }, message) => {
    const sessionId = await createSession(test);
    await run('terminateSession', { sessionId, archive });
    const before = await countRows(test);
    const { payload } = await run('sendMessage', { sessionId, body: 'hello?' });
    expect(payload).toEqual({
      session: null,
      message: null,
      userErrors: [{ code: 'INVALID_STATE', message, path: null }],
      clientMutationId: 'mine',
    });
    expect(await countRows(test)).toEqual(before);
  });
});

describe('terminateSession', () => {
  it('ends a session, and may be repeated', async () => {
    const sessionId = await createSession(test);
    const ended = { ...done, session: { sessionId: `devin-${sessionId}`, status: 'EXIT', isArchived: false } };
    expect((await run('terminateSession', { sessionId })).payload).toEqual(ended);
    const before = await countRows(test);
    expect((await run('terminateSession', { sessionId })).payload).toEqual(ended);
    expect(await countRows(test)).toEqual(before);
    const { payload } = await run('terminateSession', { sessionId, archive: true });
    expect(payload).toMatchObject({ ...done, session: { isArchived: true } });
  });

  it('ends a session once for concurrent requests', async () => {
    const sessionId = await createSession(test);
    const before = await countRows(test);
    const answers = await Promise.all(Array.from({ length: 10 }, () => run('terminateSession', { sessionId })));
    expect(new Set(answers.map(({ payload }) => payload?.session?.status))).toEqual(new Set(['EXIT']));
    const after = await countRows(test);
    expect(after).toEqual({ ...before, log_entry: before.log_entry + 1, audit_entry: before.audit_entry + 1 });
  });
});

describe('administration', () => {
  it('creates an organization, a user and a service user', async () => {
    const { payload: organization } = await run('createOrganization', { name: 'Nørd \u{1F600}' });
    expect(organization).toMatchObject({ ...done, organization: { name: 'Nørd \u{1F600}' } });
    const { organizationId } = organization.organization;
    expect(organizationId).toMatch(/^org-[0-9a-f]{32}$/);
    const input = { email: 'new@example.test', name: 'New', scope: { organizationId }, roleId: 'org_admin' };
    const { payload: user } = await run('createUser', input);
    expect(user).toMatchObject({ ...done, user: { email: 'new@example.test', name: 'New' } });
    const { payload: serviceUser } = await run('createServiceUser', {
      name: 'bot',
      roleId: 'org_admin',
      scope: { organizationId },
    });
    expect(serviceUser).toMatchObject({ ...done, serviceUser: { name: 'bot', expiresAt: null } });
    const { data } = await graphql(
      test,
      test.adminToken,
      'query($id: ID!) { organization(id: $id) { members { nodes { user { userId } roles { roleId scope } } } } }',
      { id: organizationId },
    );
    expect(data.organization.members.nodes).toEqual([
      { user: { userId: user.user.userId }, roles: [{ roleId: 'org_admin', scope: 'ORGANIZATION' }] },
    ]);
  });

  it.each([
    ['PERSONAL', /^apk_user_/],
    ['PERSONAL_ACCESS_TOKEN', /^cog_/],
    ['SERVICE', /^apk_(?!user_)/],
    ['SERVICE_USER', /^cog_/],
  ])('creates a %s key, whose token works until it expires', async (kind, form) => {
    const { userId } = await makeUser(test);
    const owner = {
      PERSONAL: { userId, organizationId: test.organizationId },
      PERSONAL_ACCESS_TOKEN: { userId },
      SERVICE: { organizationId: test.organizationId },
      SERVICE_USER: { serviceUserId: other.serviceUserId },
    }[kind];
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const { payload } = await run('createApiKey', keyInput({ kind, name: 'ci', expiresAt, ...owner }));
    expect(payload).toMatchObject({ ...done, apiKey: { kind, name: 'ci', expiresAt } });
    expect(payload.token).toMatch(form);
    const readViewer = () => graphql(test, payload.token, '{ viewer { principalType } }');
    expect((await readViewer()).errors).toBeUndefined();
    const { store } = test.app.services;
    await store.execute('update api_key set expires_at = created_at where name = $1', ['ci']);
    expect(await readViewer()).toMatchObject({ status: 401, errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
  });
});

describe('an org_member', () => {
  const someId = '0'.repeat(32);
  it.each<[MutationName, Record<string, unknown>]>([
    ['createOrganization', { name: 'Mine' }],
    ['createServiceUser', { name: 'bot', roleId: 'account_member', scope: { enterprise: true } }],
    ['createServiceUser', { name: 'bot', roleId: 'org_admin', inOwn: true }],
    ['createUser', { email: 'x@example.test', roleId: 'org_member', scope: { enterprise: true } }],
    ['createApiKey', { kind: { service: { scope: { enterprise: true }, roleId: 'org_admin' } }, name: 'k' }],
    ['createApiKey', { kind: { personal: { userId: someId } }, name: 'k' }],
    ['createApiKey', { kind: { personalAccessToken: { userId: someId } }, name: 'k' }],
    ['createSession', { prompt: 'x', asUserId: someId, viaKey: true }],
    ['terminateSession', { sessionId: 'THEIRS' }],
    ['sendMessage', { sessionId: 'THEIRS', body: 'x' }],
  ])('may not %s %o', async (name, { viaKey, inOwn, ...input }) => {
    const { userId, token } = await makeUser(test);
    const key = viaKey ? await makeKey(test, { kind: 'PERSONAL', userId, organizationId: test.organizationId }) : token;
    const sessionId = await createSession(test);
    if (inOwn) input.scope = { organizationId: test.organizationId };
    if (input.sessionId) input.sessionId = sessionId;
    const before = await countRows(test);
    const { payload, errors } = await run(name, input, key);
    expect(payload).toBeNull();
    expect(errors).toMatchObject([{ path: [name], extensions: { code: 'FORBIDDEN' } }]);
    expect(await countRows(test)).toEqual(before);
  });

  it('may manage its own sessions', async () => {
    const { token } = await makeUser(test);
    const sessionId = await createSession(test, {}, token);
    expect((await run('sendMessage', { sessionId, body: 'x' }, token)).payload).toMatchObject(done);
    expect((await run('terminateSession', { sessionId }, token)).payload).toMatchObject(done);
  });

  it('may create keys for itself', async () => {
    const { userId, token } = await makeUser(test);
    for (const input of [{ kind: 'PERSONAL' }, { kind: 'PERSONAL_ACCESS_TOKEN', userId }]) {
      const key = keyInput({ organizationId: test.organizationId, ...input });
      expect((await run('createApiKey', key, token)).payload).toMatchObject(done);
    }
  });
});

it('cannot grant a role with a permission that it lacks', async () => {
  const { organizationId } = other;
  const { store } = test.app.services;
  // An org_member that may create service users, but lacks permissions of org_admin.
  await store.execute(
    `insert into role (id, name, scope, permissions, enterprise_id)
     select 'hirer', 'Hirer', 'organization', array_append(permissions, 'ManageOrgServiceUsers'), $1
       from role where id = 'org_member'`,
    [test.app.installation.enterpriseId],
  );
  const { token } = await makeUser(test, { organizationId, roleId: 'hirer' });
  const before = await countRows(test);
  for (const [name, input] of [
    ['createServiceUser', { name: 'raised', roleId: 'org_admin', scope: { organizationId } }],
    ['createApiKey', { kind: { service: { scope: { organizationId }, roleId: 'org_admin' } }, name: 'raised' }],
  ] as const) {
    const { errors } = await run(name, input, token);
    expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
  }
  expect(await countRows(test)).toEqual(before);
  const allowed = await run(
    'createServiceUser',
    { name: 'equal', roleId: 'org_member', scope: { organizationId } },
    token,
  );
  expect(allowed.payload).toMatchObject(done);
});
