import { afterAll, beforeAll, expect, it } from 'vitest';
import { prefixedId } from '../../src/domain/ids.ts';
import { patchOf } from '../support/scim.ts';
import type { Answer } from './operation.ts';
import { readRows, writtenLater } from './rows.ts';
import { send } from './send.ts';
import { startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.test.close());

/** The ids of the users of each enterprise, and their texts, which the responses to the other one must not contain. */
async function usersOf(isOurs: boolean) {
  const { enterpriseId } = world.test.app.installation;
  const rows = await world.test.app.services.store.query<{ id: string; email: string; externalId: string | null }>(
    `select id, email, external_id as "externalId" from user_account
      where (enterprise_id = $1) = $2 and deleted_at is null order by id`,
    [enterpriseId, isOurs],
  );
  return rows.map((row) => ({ ...row, id: prefixedId('user', row.id) }));
}

async function expectUnchanged() {
  const unchanged = [...world.rows].filter(([table]) => !writtenLater.has(table));
  const found = await readRows(
    world.test,
    unchanged.map(([table]) => table),
  );
  expect(JSON.stringify([...found])).toBe(JSON.stringify(unchanged));
}

/** The ids and names of the groups of each enterprise. */
async function groupsOf(isOurs: boolean) {
  const { enterpriseId } = world.test.app.installation;
  const rows = await world.test.app.services.store.query<{ id: string; name: string }>(
    'select id, name from idp_group where (enterprise_id = $1) = $2 order by id',
    [enterpriseId, isOurs],
  );
  return rows.map((row) => ({ ...row, id: prefixedId('idpGroup', row.id) }));
}

const ask = (token: string, method: string, path: string, body?: unknown): Promise<Answer> =>
  send(world, token, { method, path: `/scim/v2${path}`, body, headers: {} } as Parameters<typeof send>[2]);

it('shows each enterprise its own users alone, and changes no others', async () => {
  const [ours, theirs] = [await usersOf(true), await usersOf(false)];
  expect([ours.length, theirs.length].every((count) => count > 3)).toBe(true);
  for (const [tokens, own, others] of [
    [world.e, ours, theirs],
    [world.xe, theirs, ours],
  ] as const) {
    for (const token of [tokens.accountAdmin, tokens.peopleManager, tokens.serviceUser]) {
      const listed = JSON.parse((await ask(token, 'GET', '/Users?count=200')).text);
      expect(listed.Resources.map(({ id }: any) => id).sort()).toEqual(own.map(({ id }) => id).sort());
      for (const { id, email, externalId } of others) {
        const attempts = [
          ...['GET', 'DELETE'].map((method) => ask(token, method, `/Users/${id}`)),
          ask(token, 'PUT', `/Users/${id}`, { userName: 'taken-over@example.com' }),
          ask(token, 'PATCH', `/Users/${id}`, patchOf({ op: 'replace', value: { active: false } })),
        ];
        for (const { status } of await Promise.all(attempts)) expect(status).toBe(404);
        const filters = [
          `id eq "${id}"`,
          `userName eq "${email}"`,
          `externalId eq ${JSON.stringify(externalId ?? 'none')}`,
        ];
        for (const filter of filters) {
          const { text } = await ask(token, 'GET', `/Users?filter=${encodeURIComponent(filter)}`);
          expect(JSON.parse(text).totalResults).toBe(0);
        }
      }
    }
  }
  await expectUnchanged();
});

it('shows each enterprise its own groups alone, and takes no members of another one', async () => {
  const [ours, theirs] = [await groupsOf(true), await groupsOf(false)];
  const [ourUsers, theirUsers] = [await usersOf(true), await usersOf(false)];
  expect([ours.length, theirs.length].every((count) => count > 1)).toBe(true);
  for (const [tokens, own, others, strangers] of [
    [world.e, ours, theirs, theirUsers],
    [world.xe, theirs, ours, ourUsers],
  ] as const) {
    for (const token of [tokens.accountAdmin, tokens.peopleManager, tokens.serviceUser]) {
      const listed = JSON.parse((await ask(token, 'GET', '/Groups')).text);
      expect(listed.Resources.map(({ id }: any) => id).sort()).toEqual(own.map(({ id }) => id).sort());
      const texts = JSON.stringify(listed);
      for (const { id, email } of strangers)
        expect([texts.includes(id), texts.includes(email)]).toEqual([false, false]);
      for (const { id, name } of others) {
        const leave = patchOf({ op: 'remove', path: 'members' });
        const answers = await Promise.all([
          ...['GET', 'DELETE'].map((method) => ask(token, method, `/Groups/${id}`)),
          ask(token, 'PUT', `/Groups/${id}`, { displayName: 'Taken over' }),
          ask(token, 'PATCH', `/Groups/${id}`, leave),
        ]);
        expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
        const filter = encodeURIComponent(`displayName eq ${JSON.stringify(name)}`);
        expect(JSON.parse((await ask(token, 'GET', `/Groups?filter=${filter}`)).text).totalResults).toBe(0);
      }
      const [stranger] = strangers;
      const unknown = prefixedId('user', '0'.repeat(32));
      const [foreign, missing] = await Promise.all(
        [stranger?.id ?? '', unknown].map(async (id) => {
          const add = { displayName: 'Both', members: [{ value: id }] };
          return (await ask(token, 'POST', '/Groups', add)).text.replace(id, '');
        }),
      );
      expect([foreign, JSON.parse(foreign ?? '').status]).toEqual([missing, '400']);
    }
  }
  await expectUnchanged();
});

it('shows no user to principals without the permission, and to none of an organization', async () => {
  const [ours] = await usersOf(true);
  const withinOrganizations = [world.a, world.b, world.x].flatMap(({ member, orgAdmin, custom, serviceUser }) => [
    member,
    orgAdmin,
    custom,
    serviceUser,
  ]);
  for (const token of [...withinOrganizations, world.e.accountMember, world.xe.accountMember]) {
    for (const id of [ours?.id ?? '', prefixedId('user', '0'.repeat(32))]) {
      const answers = await Promise.all([
        ask(token, 'GET', '/Users'),
        ask(token, 'GET', `/Users/${id}`),
        ask(token, 'GET', '/Groups'),
        ask(token, 'POST', '/Groups', { displayName: 'Mine', members: [{ value: id }] }),
        ask(token, 'DELETE', `/Users/${id}`),
        ask(token, 'POST', '/Users', { userName: 'somebody@example.com' }),
        ask(token, 'PATCH', `/Users/${id}`, patchOf({ op: 'replace', value: { active: false } })),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403, 403]);
      expect(answers.map(({ text }) => text).join('')).not.toContain('canary');
    }
  }
  for (const token of Object.values(world.dead)) expect((await ask(token, 'GET', '/Users')).status).toBe(401);
});
