import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { makeManager, runMutation } from '../support/people.ts';
import { homeScope, keyInput } from '../support/principals.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const note = { name: 'N', body: 'B', trigger: 'T' };
const made = {
  KnowledgeNote: { thing: 'knowledgeNote', isScoped: true, input: note, other: { name: 'Other' } },
  KnowledgeFolder: { thing: 'knowledgeFolder', isScoped: true, input: { name: 'F' }, other: { name: 'Other' } },
  Playbook: {
    thing: 'playbook',
    isScoped: true,
    input: { title: 'P', body: 'B', macro: '!p' },
    other: { title: 'Other' },
  },
  Secret: {
    thing: 'secret',
    isScoped: false,
    input: { key: 'K', type: 'KEY_VALUE', value: 'c4n4ry-once' },
    other: { value: 'c4n4ry-other' },
  },
  WebhookEndpoint: {
    thing: 'webhookEndpoint',
    isScoped: false,
    input: { url: 'https://hooks.example/' },
    other: { url: 'https://other.example/' },
  },
} as const;

describe.each(Object.entries(made))('%s', (type, { thing, isScoped, input, other }) => {
  const create = (token: string, more: object) => {
    const scope = isScoped ? { scope: homeScope(token) } : {};
    const fields = { ...scope, ...input, idempotencyKey: 'once', ...more };
    return runMutation(test, `create${type}`, `${thing} { id }`, fields, token);
  };

  it('is created once under a key, however often it is requested concurrently', async () => {
    const { token } = await makeOrganization(test, 'Once');
    const all = await Promise.all(Array.from({ length: 10 }, () => create(token, {})));
    expect(new Set(all.map((payload) => payload[thing].id)).size).toBe(1);
    expect(await create(token, other)).toMatchObject({
      [thing]: null,
      userErrors: [{ code: 'IDEMPOTENCY_CONFLICT' }],
    });
    const { token: another } = await makeOrganization(test, 'Once elsewhere');
    expect((await create(another, {}))[thing].id).not.toBe(all[0][thing].id);
    const bad = await create(token, { idempotencyKey: 'ü' });
    expect(bad.userErrors).toMatchObject([{ code: 'INVALID_INPUT', path: ['input', 'idempotencyKey'] }]);
  });

  it('is not created again after its deletion', async () => {
    const { token } = await makeOrganization(test, 'Once gone');
    const { id } = (await create(token, {}))[thing];
    await runMutation(test, `delete${type}`, `deleted${type}Id`, { [`${thing}Id`]: id }, token);
    const again = await create(token, {});
    // A deleted playbook still exists for its sessions.
    expect(again).toMatchObject(type === 'Playbook' ? { playbook: { id } } : { error: 'NOT_FOUND' });
  });
});

it('creates an object of the enterprise once, too', async () => {
  const { token } = await makeManager(test, 'MANAGE_ACCOUNT_KNOWLEDGE');
  const input = { ...note, scope: { enterprise: true }, idempotencyKey: 'once' };
  const create = () => runMutation(test, 'createKnowledgeNote', 'knowledgeNote { id }', input, token);
  expect(await create()).toEqual(await create());
});

it('accepts the key in the header for one mutation, not for two', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Once by header');
  const one = (
    alias: string,
  ) => `${alias}: createKnowledgeFolder(input: {scope: {organizationId: "${organizationId}"}, name: "F"}) {
    knowledgeFolder { id } userErrors { code path } }`;
  const send = (document: string) => graphql(test, token, document, {}, { 'idempotency-key': 'header' });
  const two = await send(`mutation { ${one('a')} ${one('b')} }`);
  const refused = { knowledgeFolder: null, userErrors: [{ code: 'INVALID_INPUT', path: ['input', 'idempotencyKey'] }] };
  expect(two.data).toEqual({ a: refused, b: refused });
  const first = await send(`mutation { ${one('a')} }`);
  expect((await send(`mutation { ${one('a')} }`)).data).toEqual(first.data);
});

// The principals that create these: each a new manager of the enterprise, so that the keys of others do not interfere.
const principals = {
  Organization: {
    thing: 'organization',
    permissions: ['MANAGE_ORGANIZATIONS'],
    input: () => ({ name: 'Made once', maxCycleAcuLimit: 5 }),
    other: { name: 'Made otherwise' },
    table: 'organization',
    act: 'create_org',
  },
  User: {
    thing: 'user',
    permissions: ['MANAGE_ACCOUNT_MEMBERSHIP', 'READ_ACCOUNT_META'],
    input: () => ({
      scope: { enterprise: true },
      email: `once-${randomUUID()}@example.com`,
      name: 'Once',
      roleId: 'account_member',
    }),
    other: { name: 'Otherwise' },
    table: 'user_account',
    act: 'add_member',
  },
  ServiceUser: {
    thing: 'serviceUser',
    permissions: ['MANAGE_ACCOUNT_SERVICE_USERS', 'READ_ACCOUNT_META'],
    input: () => ({
      scope: { enterprise: true },
      name: 'Once',
      roleId: 'account_member',
      expiresAt: '2099-01-01T00:00:00.000Z',
    }),
    other: { expiresAt: null },
    table: 'service_user',
    act: 'create_service_user',
  },
} as const;

describe.each(Object.entries(principals))(
  '%s of the enterprise',
  (type, { thing, permissions, input, other, table, act }) => {
    const makeMaker = async () => {
      const { token, serviceUserId, roleId } = await makeManager(test, ...permissions);
      const fields = { ...input(), idempotencyKey: 'once' };
      const create = (more: object = {}, by = token) =>
        runMutation(test, `create${type}`, `${thing} { id }`, { ...fields, ...more }, by);
      return { serviceUserId, roleId, create };
    };
    const count = async () => {
      const [row] = await test.app.services.store.query<{ count: number }>(
        `select count(*)::int as count from ${table}`,
      );
      return row?.count ?? 0;
    };
    const countAuditEntries = async (serviceUserId: string) => {
      const [row] = await test.app.services.store.query<{ count: number }>(
        'select count(*)::int as count from audit_entry where action = $1 and service_user_id = $2',
        [act, serviceUserId.replace('service-user-', '')],
      );
      return row?.count;
    };

    it('is created once under a key for any number of concurrent requests', async () => {
      const { create, serviceUserId } = await makeMaker();
      const before = await count();
      const all = await Promise.all(Array.from({ length: 20 }, () => create()));
      expect(all.map(({ userErrors }) => userErrors)).toEqual(all.map(() => []));
      expect(new Set(all.map((payload) => payload[thing].id)).size).toBe(1);
      expect(await count()).toBe(before + 1);
      expect(await countAuditEntries(serviceUserId)).toBe(1);
      expect(await create(other)).toMatchObject({ [thing]: null, userErrors: [{ code: 'IDEMPOTENCY_CONFLICT' }] });
      const bad = await create({ idempotencyKey: 'ü' });
      expect(bad.userErrors).toMatchObject([{ code: 'INVALID_INPUT', path: ['input', 'idempotencyKey'] }]);
      expect(await count()).toBe(before + 1);
    });

    it('is neither created again nor returned after its deletion', async () => {
      const { create } = await makeMaker();
      const { id } = (await create())[thing];
      const before = await count();
      const gone = await runMutation(test, `delete${type}`, `deleted${type}Id`, { [`${thing}Id`]: id });
      expect(gone.userErrors).toEqual([]);
      expect(await create()).toMatchObject({ error: 'NOT_FOUND' });
      expect(await count()).toBe(before);
    });

    it('is separate for another caller, and needs the permission each time', async () => {
      const { create, roleId } = await makeMaker();
      const { id } = (await create())[thing];
      const { token: another } = await makeManager(test, ...permissions);
      const theirs = await create({}, another);
      // An email address belongs to one user.
      if (type === 'User') expect(theirs).toMatchObject({ user: null, userErrors: [{ code: 'NOT_UNIQUE' }] });
      else expect(theirs[thing].id).not.toBe(id);
      await runMutation(test, 'updateRole', 'role { id }', { roleId, permissions: ['READ_ACCOUNT_META'] });
      expect(await create()).toMatchObject({ error: 'FORBIDDEN' });
    });
  },
);

it('separates the keys of service users and users of each organization, in every form of its id', async () => {
  const organizations = [await makeOrganization(test, 'Robots'), await makeOrganization(test, 'Other robots')];
  const [one, two] = organizations.map(({ organizationId }) => organizationId.replace('org-', '')) as [string, string];
  const robot = async (organizationId: string) =>
    (
      await runMutation(test, 'createServiceUser', 'serviceUser { id }', {
        name: 'Robot',
        idempotencyKey: 'once in each',
        roleId: 'org_admin',
        scope: { organizationId },
      })
    ).serviceUser.id;
  const first = await robot(one);
  expect(await robot(`org-${one}`)).toBe(first);
  expect(await robot(two)).not.toBe(first);

  const member = (organizationId: string, email: string) =>
    runMutation(test, 'createUser', 'user { id }', {
      email,
      idempotencyKey: 'once in each',
      roleId: 'org_member',
      scope: { organizationId },
    });
  const email = `${randomUUID()}@example.com`;
  const { user } = await member(one, email);
  expect((await member(`org-${one}`, email)).user).toEqual(user);
  expect((await member(two, `${randomUUID()}@example.com`)).user.id).not.toBe(user.id);
});

it('returns no second token for a service user under the same key: a token is shown when its key is created', async () => {
  const { organizationId } = await makeOrganization(test, 'Tokens');
  const input = { name: 'Robot', scope: { organizationId }, roleId: 'org_member', idempotencyKey: 'once' };
  const create = () =>
    runMutation(test, 'createServiceUser', 'serviceUser { serviceUserId apiKeys(first: 5) { nodes { id } } }', input);
  const { serviceUser } = await create();
  const key = keyInput({ kind: 'SERVICE_USER', name: 'First', serviceUserId: serviceUser.serviceUserId });
  expect((await runMutation(test, 'createApiKey', 'token', key)).token).toMatch(/^cog_/);
  const again = await create();
  expect(again.serviceUser).toMatchObject({ serviceUserId: serviceUser.serviceUserId });
  expect(again.serviceUser.apiKeys.nodes).toHaveLength(1);
  expect(JSON.stringify(again)).not.toContain('cog_');
});
