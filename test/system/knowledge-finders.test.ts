import { afterAll, beforeAll, expect, test } from 'vitest';
import { authenticate } from '../../src/auth/authenticate.ts';
import type { Context } from '../../src/domain/context.ts';
import type { Scope } from '../../src/domain/identity/organizations/scope.ts';
import { createFolder, deleteFolder, updateFolder } from '../../src/domain/library/knowledge/change-folders.ts';
import { createNote, deleteNote, updateNote } from '../../src/domain/library/knowledge/change-notes.ts';
import { findFolders, listFolders } from '../../src/domain/library/knowledge/folders.ts';
import { findNotes, getNote, listNotes } from '../../src/domain/library/knowledge/notes.ts';
import { createPlaybook, deletePlaybook, updatePlaybook } from '../../src/domain/library/playbooks/change-playbooks.ts';
import { findPlaybooks, getPlaybook, listPlaybooks } from '../../src/domain/library/playbooks/playbooks.ts';
import {
  asAdministrator,
  makeOrganization,
  makeServiceUser,
  makeUser,
  startApp,
  type TestApp,
} from '../rest/rest-app.ts';

// Functions of the domain that REST does not use: ids without a scope, batches, pages from the end.
let app: TestApp;
let admin: Context;
beforeAll(async () => {
  app = await startApp();
  admin = await asAdministrator(app);
});
afterAll(() => app.close());

const note = { name: 'n', trigger: 't', body: 'b' };
const playbook = { title: 't', body: 'b' };
const never = '0'.repeat(32);

async function contextOf(token: string): Promise<Context> {
  return { ...admin, viewer: await authenticate(app.app.services, token, null) };
}

/** Creates a note, a folder and a playbook of an organization, of another one, and of the enterprise. */
async function seed() {
  const here = { organizationId: await makeOrganization(app) };
  const there = { organizationId: await makeOrganization(app) };
  const seedIn = async (scope: Scope, name: string) => ({
    note: (await createNote(admin, scope, note)).id,
    folder: (await createFolder(admin, scope, { name: `${name} ${here.organizationId}` })).id,
    playbook: (await createPlaybook(admin, scope, playbook)).id,
  });
  return {
    here,
    own: await seedIn(here, 'own'),
    foreign: await seedIn(there, 'foreign'),
    shared: await seedIn('enterprise', 'all'),
  };
}

test('batches return objects that the viewer may read, in the order of the ids, and null for all others', async () => {
  const { here, own, foreign, shared } = await seed();
  const member = await contextOf((await makeUser(app, here.organizationId)).v3Token);
  const finders = { note: findNotes, folder: findFolders, playbook: findPlaybooks };
  for (const [kind, find] of Object.entries(finders)) {
    const pick = kind as keyof typeof own;
    const ids = [foreign[pick], shared[pick], never, own[pick]];
    const idsFor = async (context: Context) => (await find(context, ids)).map((each) => each?.id ?? null);
    expect(await idsFor(member)).toEqual([null, shared[pick], null, own[pick]]);
    expect(await idsFor(admin)).toEqual([foreign[pick], shared[pick], null, own[pick]]);
    const outsider = await contextOf((await makeServiceUser(app, { roleId: 'account_member' })).token);
    expect(await idsFor(outsider)).toEqual([null, null, null, null]);
  }
});

test('without a scope, an action finds its object wherever the viewer may act, and names the missing permission', async () => {
  const { here, own, foreign, shared } = await seed();
  const boss = await contextOf((await makeUser(app, here.organizationId, 'org_admin')).v3Token);
  const member = await contextOf((await makeUser(app, here.organizationId)).v3Token);
  expect((await getNote(boss, shared.note)).organizationId).toBeNull();
  expect((await updateNote(boss, own.note, { macro: '!m', isEnabled: false })).isEnabled).toBe(false);
  expect((await updateNote(boss, own.note, { name: 'other' })).macro).toBe('!m');
  await expect(getNote(boss, foreign.note)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(getPlaybook(boss, foreign.playbook)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  const changes = [
    (context: Context, each: typeof own) => updateNote(context, each.note, note),
    (context: Context, each: typeof own) => deleteNote(context, each.note),
    (context: Context, each: typeof own) => updateFolder(context, each.folder, { name: 'x' }),
    (context: Context, each: typeof own) => deleteFolder(context, each.folder),
    (context: Context, each: typeof own) => updatePlaybook(context, each.playbook, { title: 'x' }),
    (context: Context, each: typeof own) => deletePlaybook(context, each.playbook),
  ];
  for (const change of changes) {
    await expect(change(boss, foreign)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(change(boss, shared)).rejects.toMatchObject({ message: expect.stringMatching(/ManageAccount\w+/) });
    await expect(change(member, own)).rejects.toMatchObject({ message: expect.stringMatching(/ManageOrg\w+/) });
  }
  for (const change of changes) await change(boss, own);
});

test('pages can be read from both ends', async () => {
  const scope = { organizationId: await makeOrganization(app) };
  const limits = { max: 10, default: 10 };
  const lists = [
    {
      make: async (n: number) => (await createNote(admin, scope, { ...note, name: `n${n}` })).id,
      list: (page: object) => listNotes(admin, { scope, ...page }, limits),
    },
    {
      make: async (n: number) => (await createFolder(admin, scope, { name: `f${n}` })).id,
      list: (page: object) => listFolders(admin, { scope, ...page }, limits),
    },
    {
      make: async (n: number) => (await createPlaybook(admin, scope, { ...playbook, title: `p${n}` })).id,
      list: (page: object) => listPlaybooks(admin, { scope, ...page }, limits),
    },
  ];
  for (const { make, list } of lists) {
    const [oldest, second, third, fourth, newest] = [
      await make(1),
      await make(2),
      await make(3),
      await make(4),
      await make(5),
    ];
    const ids = (items: readonly { id: string }[]) => items.map(({ id }) => id);
    const last = await list({ last: 2 });
    expect({ ids: ids(last.items), more: last.hasPreviousPage }).toEqual({ ids: [second, oldest], more: true });
    const cursor = (last.cursorOf as (item: unknown) => string)(last.items[0]);
    expect(ids((await list({ last: 2, before: cursor })).items)).toEqual([fourth, third]);
    expect(ids((await list({ first: 1 })).items)).toEqual([newest]);
    await expect(list({ first: 11 })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  }
});
