import { describe, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { makeManager, rolesOf, runMutation } from '../support/people.ts';
import { globalIdOf, makeUser, roleInput } from '../support/principals.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const run = (field: string, selection: string, input: Record<string, unknown>, token?: string) =>
  runMutation(test, field, selection, input, token);
const assign = (input: Record<string, unknown>, token?: string) =>
  run('assignRole', 'user { userId } serviceUser { serviceUserId }', roleInput(input), token);

describe('User.roleAssignments', () => {
  it('shows each viewer the scopes whose members it may see, and all of its own', async () => {
    const first = await makeOrganization(test, 'First');
    const second = await makeOrganization(test, 'Second');
    const { userId, token } = await makeUser(test, { organizationId: first.organizationId });
    const mate = await makeUser(test, { organizationId: first.organizationId });
    await assign({ userId, organizationId: second.organizationId, roleId: 'org_member' });
    await assign({ userId, roleId: 'account_member' });
    const all = [
      [null, 'account_member'],
      [second.organizationId, 'org_member'],
      [first.organizationId, 'org_member'],
    ];
    expect(await rolesOf(test, userId, token)).toEqual(all);
    expect(await rolesOf(test, userId)).toEqual(all);
    expect(await rolesOf(test, userId, mate.token)).toEqual([[first.organizationId, 'org_member']]);
  });
});

describe('Enterprise.users', () => {
  const query = `query($first: Int, $after: String, $last: Int, $before: String, $email: String) {
    enterprise { users(first: $first, after: $after, last: $last, before: $before, filter: {email: $email}) {
      nodes { userId email roleAssignments(first: 2) { nodes { role { roleId } organization { name } } } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`;
  const page = async (variables: object) =>
    (await graphql(test, test.adminToken, query, { ...variables })).data.enterprise.users;

  it('is paged both ways, and filtered by email address', async () => {
    const made = [];
    for (let n = 0; n < 3; n++) made.unshift(await makeUser(test));
    const [newest, , third] = made;
    const one = await page({ first: 2 });
    expect(one.nodes.map(({ userId }: any) => userId)).toEqual(made.slice(0, 2).map(({ userId }) => userId));
    expect(one.nodes[0].roleAssignments.nodes).toEqual([
      { role: { roleId: 'org_member' }, organization: { name: expect.any(String) } },
    ]);
    const two = await page({ first: 2, after: one.pageInfo.endCursor });
    expect(two.nodes[0].userId).toBe(third?.userId);
    const back = await page({ last: 2, before: two.pageInfo.startCursor });
    expect(back.nodes).toEqual(one.nodes);
    expect(back.pageInfo.hasPreviousPage).toBe(false);
    const found = await page({ email: newest?.email.toUpperCase() });
    expect(found.nodes).toMatchObject([{ userId: newest?.userId }]);
  });

  it('needs the permission to view members', async () => {
    const { token } = await makeManager(test, 'READ_ACCOUNT_META');
    const { errors } = await graphql(test, token, '{ enterprise { users { nodes { userId } } } }');
    expect(errors?.[0]).toMatchObject({
      message: 'Missing permission VIEW_ACCOUNT_MEMBERSHIP.',
      extensions: { code: 'FORBIDDEN' },
    });
  });
});

describe('a user', () => {
  it('is invited with others, all or none', async () => {
    const { userId, email } = await makeUser(test);
    const invite = (emails: string[], enterpriseRoleId = 'account_member') =>
      run('inviteUsers', 'users { userId email }', { emails, enterpriseRoleId });
    const refused = await invite(['new1@example.test', 'no address', 'x']);
    expect(refused.users).toBeNull();
    expect(refused.userErrors.map(({ path }: any) => path)).toEqual([
      ['input', 'emails', '1'],
      ['input', 'emails', '2'],
    ]);
    expect(await invite(['new1@example.test'], 'org_member')).toMatchObject({
      userErrors: [{ path: ['input', 'enterpriseRoleId'] }],
    });
    const { users } = await invite([email, 'new1@example.test']);
    expect(users).toEqual([
      { userId, email },
      { userId: expect.any(String), email: 'new1@example.test' },
    ]);
    expect(await rolesOf(test, users[1].userId)).toEqual([[null, 'account_member']]);
  });

  it('may change its own name, and not another’s', async () => {
    const one = await makeUser(test, { name: 'One' });
    const two = await makeUser(test, { name: 'Two' });
    const rename = (userId: string, input: object, token?: string) =>
      run('updateUser', 'user { userId name }', { userId, ...input }, token);
    expect((await rename(one.userId, { name: 'Uno' }, one.token)).user).toEqual({ userId: one.userId, name: 'Uno' });
    expect((await rename(one.userId, {}, one.token)).user.name).toBe('Uno');
    expect((await rename(one.userId, { name: null })).user.name).toBeNull();
    const missing = { error: 'FORBIDDEN', message: 'Missing permission MANAGE_ACCOUNT_MEMBERSHIP.' };
    expect(await rename(two.userId, { name: 'Dos' }, one.token)).toEqual(missing);
    expect(await rename(`user-${'0'.repeat(32)}`, { name: 'Dos' }, one.token)).toEqual(missing);
    expect(await rename(`user-${'0'.repeat(32)}`, { name: 'Dos' })).toMatchObject({ error: 'NOT_FOUND' });
    expect((await rename(two.userId, { name: 'x'.repeat(201) })).userErrors).toMatchObject([
      { path: ['input', 'name'] },
    ]);
  });

  it('that is deleted loses its keys and streams, and stays the author of its objects', async () => {
    const mate = await makeUser(test);
    const { userId, token, email } = await makeUser(test, { name: 'Leaver' });
    const sessionId = await createSession(test, {}, token);
    const document = 'subscription($id: ID!) { sessionMessages(sessionId: $id) { cursor } }';
    const messages = follow(connect(test.url, token), document, { id: sessionId });
    await messages.take(1);
    const id = globalIdOf('User', userId.replace('user-', ''));
    const gone = await run('deleteUser', 'deletedUserId', { userId });
    expect(gone).toMatchObject({ deletedUserId: id, userErrors: [] });
    expect(await messages.ended).toMatchObject({ code: 4403 });
    expect((await graphql(test, token, '{ viewer { principalType } }')).status).toBe(401);
    const author =
      'query($id: ID!) { session(id: $id) { createdBy { ... on User { userId name email deletedAt roleAssignments { nodes { organizationId } } } } } }';
    for (const reader of [mate.token, test.adminToken]) {
      const { data } = await graphql(test, reader, author, { id: sessionId });
      expect(data.session.createdBy).toEqual({
        userId,
        name: 'Leaver',
        email,
        deletedAt: expect.any(String),
        roleAssignments: { nodes: [] },
      });
      const node = await graphql(test, reader, 'query($id: ID!) { node(id: $id) { id } }', { id });
      expect(node.data.node).toBeNull();
    }
    expect(await run('deleteUser', 'deletedUserId', { userId })).toMatchObject({ error: 'NOT_FOUND' });
    expect(await run('updateUser', 'user { id }', { userId, name: 'Back' })).toMatchObject({ error: 'NOT_FOUND' });
    expect(
      (
        await run('createUser', 'user { userId }', {
          email,
          roleId: 'org_member',
          scope: { organizationId: test.organizationId },
        })
      ).userErrors,
    ).toEqual([]);
  });
});
