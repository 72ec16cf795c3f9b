import { beforeAll, describe, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { type List, readAll } from '../support/pages.ts';
import { makeManager, runMutation } from '../support/people.ts';
import { globalIdOf, makeKey, makeUser, roleInput } from '../support/principals.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
const organizations: { organizationId: string; token: string; serviceUserId: string }[] = [];
let user: Awaited<ReturnType<typeof makeUser>>;
let userAsMember: string;
/** Unprefixed ids by title; in each of three organizations, one session of the user and one of the service user. */
const ids: Record<string, string> = {};

// The user is a member of the first and the second organization, and administers the second.
beforeAll(async () => {
  for (const name of ['One', 'Two', 'Three']) organizations.push(await makeOrganization(test, name));
  const [one, two] = organizations;
  user = await makeUser(test, { organizationId: one?.organizationId });
  userAsMember = user.userId;
  const role = roleInput({ userId: userAsMember, organizationId: two?.organizationId, roleId: 'org_admin' });
  expect(await runMutation(test, 'assignRole', 'user { userId }', role)).toMatchObject({ userErrors: [] });
  for (const [n, { organizationId, token }] of organizations.entries()) {
    ids[`bot ${n}`] = await createSession(test, { organizationId, title: `bot ${n}`, tags: ['t'] }, token);
    if (n < 2) ids[`user ${n}`] = await createSession(test, { organizationId, title: `user ${n}` }, user.token);
  }
});

const select = `nodes { title } totalCount totalCountIsExact`;
async function titles(field: string, token: string, args = ''): Promise<string[]> {
  const within = field.startsWith('viewer.');
  const name = field.replace('viewer.', '');
  const query = within ? `{ viewer { list: ${name}${args} { ${select} } } }` : `{ list: ${name}${args} { ${select} } }`;
  const { data, errors } = await graphql(test, token, query);
  expect(errors).toBeUndefined();
  const { nodes, totalCount, totalCountIsExact } = within ? data.viewer.list : data.list;
  if (!/first|last/.test(args))
    expect({ totalCount, totalCountIsExact }).toEqual({ totalCount: nodes.length, totalCountIsExact: true });
  return nodes.map((node: any) => node.title);
}
const ofMine = ['user 1', 'bot 1', 'user 0', 'bot 0'];

describe('Query.sessions', () => {
  it('lists those of all organizations where the viewer may view sessions, and of no other', async () => {
    expect(await titles('sessions', user.token)).toEqual(ofMine);
    expect(await titles('sessions', organizations[2]?.token ?? '')).toEqual(['bot 2']);
    expect((await titles('sessions', test.adminToken)).slice(0, 5)).toEqual(['bot 2', ...ofMine]);
    const reader = await makeManager(test, 'VIEW_ACCOUNT_SESSIONS');
    expect(await titles('sessions', reader.token)).toEqual(['bot 2', ...ofMine]);
    const nobody = await makeManager(test, 'READ_ACCOUNT_META');
    expect(await titles('sessions', nobody.token)).toEqual([]);
  });

  it('accepts the filter and the order of other lists', async () => {
    expect(await titles('sessions', user.token, '(filter: {tags: ["t"]})')).toEqual(['bot 1', 'bot 0']);
    expect(await titles('sessions', test.adminToken, '(filter: {tags: ["t"]})')).toEqual(['bot 2', 'bot 1', 'bot 0']);
    expect(await titles('sessions', user.token, `(filter: {createdByIds: ["${user.userId}"]})`)).toEqual([
      'user 1',
      'user 0',
    ]);
    const [, two, three] = organizations.map(({ organizationId }) => `"${organizationId}"`);
    expect(await titles('sessions', user.token, `(filter: {organizationIds: [${two}, ${three}]})`)).toEqual([
      'user 1',
      'bot 1',
    ]);
    expect(await titles('sessions', user.token, `(filter: {not: {organizationIds: [${two}]}})`)).toEqual([
      'user 0',
      'bot 0',
    ]);
    await test.app.services.store.execute(`update session set updated_at = now() + interval '1 hour' where id = $1`, [
      ids['bot 0'],
    ]);
    const by = (field: string, direction: string) => `(orderBy: {field: ${field}, direction: ${direction}})`;
    expect(await titles('sessions', user.token, by('UPDATED_AT', 'DESC'))).toEqual([
      'bot 0',
      'user 1',
      'bot 1',
      'user 0',
    ]);
    expect(await titles('sessions', user.token, by('CREATED_AT', 'ASC'))).toEqual(ofMine.toReversed());
  });

  it.each([
    ['CREATED_AT', 'DESC'],
    ['CREATED_AT', 'ASC'],
    ['UPDATED_AT', 'DESC'],
  ])('pages both ways by %s %s', async (field, direction) => {
    const list: List = {
      token: user.token,
      declared: '$orderBy: SessionOrder',
      variables: { orderBy: { field, direction } },
      field: 'list: sessions(PAGE, orderBy: $orderBy) SELECTION',
      at: (data) => data.list,
    };
    const expected = await titles('sessions', user.token, `(orderBy: {field: ${field}, direction: ${direction}})`);
    const globalIds = expected.map((title) => globalIdOf('Session', ids[title] ?? ''));
    for (const size of [1, 2, 3]) {
      expect(await readAll(test, list, 'forwards', { size })).toEqual(globalIds);
      expect(await readAll(test, list, 'backwards', { size })).toEqual(globalIds);
    }
  });
});

describe('Viewer.sessions', () => {
  it('lists those that the viewer started', async () => {
    expect(await titles('viewer.sessions', user.token)).toEqual(['user 1', 'user 0']);
    expect(await titles('viewer.sessions', user.token, '(filter: {search: "0"})')).toEqual(['user 0']);
    expect(await titles('viewer.sessions', organizations[0]?.token ?? '')).toEqual(['bot 0']);
    const other = `(filter: {createdByIds: ["${organizations[0]?.serviceUserId}"]})`;
    expect(await titles('viewer.sessions', user.token, other)).toEqual([]);
  });

  it('lists those that a key without a user started, and no others', async () => {
    const { organizationId } = organizations[0] ?? {};
    const token = await makeKey(test, { kind: 'SERVICE', organizationId, roleId: 'org_admin' });
    const made = await createSession(test, { title: 'of a key' }, token);
    expect(await titles('viewer.sessions', token)).toEqual(['of a key']);
    await test.app.services.store.execute('update session set is_unlisted = true where id = $1', [made]);
  });
});

describe('Viewer.waitingForMe', () => {
  beforeAll(async () => {
    await test.app.services.store.execute(
      `update session set status = 'running', status_detail = case when title like 'bot%' then 'waiting_for_user' else 'waiting_for_approval' end
        where id = any($1::text[])`,
      [Object.values(ids)],
    );
  });

  it('lists waiting sessions that the viewer started or may manage, over all its organizations, newest first', async () => {
    expect(await titles('viewer.waitingForMe', user.token)).toEqual(['user 1', 'bot 1', 'user 0']);
    expect(await titles('viewer.waitingForMe', organizations[2]?.token ?? '')).toEqual(['bot 2']);
    expect(await titles('viewer.waitingForMe', test.adminToken)).toEqual(['bot 2', ...ofMine]);
    const reader = await makeManager(test, 'VIEW_ACCOUNT_SESSIONS');
    expect(await titles('viewer.waitingForMe', reader.token)).toEqual([]);
    const manager = await makeManager(test, 'VIEW_ACCOUNT_SESSIONS', 'MANAGE_ACCOUNT_SESSIONS');
    expect(await titles('viewer.waitingForMe', manager.token)).toEqual(['bot 2', ...ofMine]);
  });

  it('accepts a filter and an order', async () => {
    const own = `(filter: {createdByIds: ["${user.userId}"]})`;
    expect(await titles('viewer.waitingForMe', user.token, own)).toEqual(['user 1', 'user 0']);
    const approvals = '(filter: {statusDetail: [WAITING_FOR_APPROVAL]})';
    expect(await titles('viewer.waitingForMe', test.adminToken, approvals)).toEqual(['user 1', 'user 0']);
    expect(await titles('viewer.waitingForMe', user.token, '(filter: {statusDetail: [WORKING]})')).toEqual([]);
    const [, two] = organizations;
    expect(
      await titles('viewer.waitingForMe', user.token, `(filter: {organizationIds: ["${two?.organizationId}"]})`),
    ).toEqual(['user 1', 'bot 1']);
    const oldestFirst = '(orderBy: {field: UPDATED_AT, direction: ASC})';
    expect(await titles('viewer.waitingForMe', user.token, oldestFirst)).toEqual(['user 0', 'bot 1', 'user 1']);
    expect(await titles('viewer.waitingForMe', test.adminToken, oldestFirst)).toEqual([
      'user 0',
      'bot 1',
      'user 1',
      'bot 2',
      'bot 0',
    ]);
  });

  it('pages both ways', async () => {
    const list: List = {
      token: user.token,
      field: 'viewer { list: waitingForMe(PAGE) SELECTION }',
      at: (data) => data.viewer.list,
    };
    const globalIds = ['user 1', 'bot 1', 'user 0'].map((title) => globalIdOf('Session', ids[title] ?? ''));
    for (const size of [1, 2]) {
      expect(await readAll(test, list, 'forwards', { size })).toEqual(globalIds);
      expect(await readAll(test, list, 'backwards', { size })).toEqual(globalIds);
    }
  });

  it('drops answered sessions, and those of a deleted organization', async () => {
    await test.app.services.store.execute(`update session set status_detail = 'working' where id = $1`, [
      ids['user 1'],
    ]);
    expect(await titles('viewer.waitingForMe', user.token)).toEqual(['bot 1', 'user 0']);
    const [, , three] = organizations;
    await runMutation(test, 'deleteOrganization', 'deletedOrganizationId', { organizationId: three?.organizationId });
    expect(await titles('viewer.waitingForMe', test.adminToken)).toEqual(['bot 1', 'user 0', 'bot 0']);
    expect(await titles('sessions', test.adminToken, '(filter: {search: "bot"})')).toEqual(['bot 1', 'bot 0']);
  });
});
