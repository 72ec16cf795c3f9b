import { describe, expect, test } from 'vitest';
import { makeFolders, readAuditActions, readIds } from '../support/knowledge.ts';
import { useApp } from '../support/use-app.ts';
import { asAdministrator, call, makeOrganization, makeServiceUser, makeUser, startApp } from './rest-app.ts';

const app = useApp();

const admin = (method: string, path: string, body?: unknown) => call(app, app.adminToken, method, path, body);
const notesOf = (id: string) => `/v3/organizations/${id}/knowledge/notes`;
const foldersOf = (id: string) => `/v3/organizations/${id}/knowledge/folders`;
const enterpriseNotes = '/v3/enterprise/knowledge/notes';
const note = { name: 'Deploys', trigger: 'When deploying', body: 'Never on a Friday.' };
const missing = `note-${'0'.repeat(32)}`;
const bare = (id: string) => id.replace(/^\w+-/, '');

describe('a note of an organization', () => {
  test('POST returns all its fields, and GET does by any form of its id', async () => {
    const id = await makeOrganization(app);
    const made = await admin('POST', notesOf(id), note);
    expect(made).toEqual({
      status: 200,
      headers: expect.anything(),
      body: {
        note_id: expect.stringMatching(/^note-[0-9a-f]{32}$/),
        access_type: 'org',
        org_id: `org-${id}`,
        ...note,
        folder_id: null,
        folder_path: '',
        pinned_repo: null,
        macro: null,
        is_enabled: true,
        created_at: expect.any(Number),
        updated_at: expect.any(Number),
      },
    });
    for (const form of [made.body.note_id, bare(made.body.note_id), `note-${made.body.note_id}`]) {
      expect((await admin('GET', `${notesOf(id)}/${form}`)).body).toEqual(made.body);
    }
    const [entry] = await readAuditActions(app, id, '_knowledge');
    expect(entry).toEqual({ action: 'create_knowledge', targetId: bare(made.body.note_id), data: { name: 'Deploys' } });
  });

  test('PUT replaces it: a missing folder or repository is cleared, is_enabled stays', async () => {
    const id = await makeOrganization(app);
    const folder = await makeFolders(await asAdministrator(app), { organizationId: id }, 'Backend/Databases');
    const full = { ...note, folder_id: `folder-${folder}`, pinned_repo: 'acme/api', is_enabled: false };
    const made = (await admin('POST', notesOf(id), full)).body;
    expect(made).toMatchObject({ ...full, folder_path: 'Backend/Databases' });
    const path = `${notesOf(id)}/${made.note_id}`;
    expect((await admin('PUT', path, { ...full, pinned_repo: 'all' })).body).toMatchObject({ pinned_repo: 'all' });
    const cleared = (await admin('PUT', path, { ...note, body: 'Only on Mondays.' })).body;
    expect(cleared).toMatchObject({ folder_id: null, folder_path: '', pinned_repo: null, is_enabled: false });
    expect(cleared.body).toBe('Only on Mondays.');
    expect((await admin('PUT', path, { ...full, is_enabled: null })).body.is_enabled).toBe(false);
    expect((await admin('PUT', path, { ...full, is_enabled: true })).body.is_enabled).toBe(true);
    const auditActions = await readAuditActions(app, id, 'edit_knowledge');
    expect(auditActions.map(({ data }) => data)).toEqual([
      { name: 'Deploys', changed: 'pinnedRepo' },
      { name: 'Deploys', changed: 'folderId body pinnedRepo' },
      { name: 'Deploys', changed: 'folderId body pinnedRepo' },
      { name: 'Deploys', changed: 'isEnabled' },
    ]);
  });

  test.each([
    'all',
    'acme/api',
    'acme/.github',
    'group/sub/repo',
    'group/sub/sub.group/repo',
    'github.com/example/x',
    'git.example.com:8443/group/sub/repo',
  ])('a note can be pinned to %s, and is found by it', async (repository) => {
    const id = await makeOrganization(app);
    const pinned = { ...note, pinned_repo: repository };
    const made = await admin('POST', notesOf(id), pinned);
    expect(made).toMatchObject({ status: 200, body: pinned });
    const list = await admin('GET', `${notesOf(id)}?pinned_repo=${encodeURIComponent(repository)}`);
    expect(list.body.items).toEqual([made.body]);
  });

  test('a name, a trigger and a body need at least one character', async () => {
    const id = await makeOrganization(app);
    const minimal = { name: ' ', trigger: ' ', body: ' ' };
    expect(await admin('POST', notesOf(id), minimal)).toMatchObject({ status: 200, body: minimal });
  });

  test('PUT without a change writes nothing', async () => {
    const id = await makeOrganization(app);
    const made = (await admin('POST', notesOf(id), note)).body;
    expect((await admin('PUT', `${notesOf(id)}/${made.note_id}`, note)).body).toEqual(made);
    expect(await readAuditActions(app, id, 'edit_knowledge')).toEqual([]);
  });

  test('DELETE answers 200 with the note, which is unknown from then on', async () => {
    const id = await makeOrganization(app);
    const made = (await admin('POST', notesOf(id), note)).body;
    const path = `${notesOf(id)}/${made.note_id}`;
    expect(await admin('DELETE', path)).toMatchObject({ status: 200, body: made });
    for (const method of ['GET', 'DELETE']) expect((await admin(method, path)).status).toBe(404);
    expect((await admin('PUT', path, note)).status).toBe(404);
    expect((await admin('GET', notesOf(id))).body.items).toEqual([]);
    expect((await readAuditActions(app, id, 'delete_knowledge')).map(({ data }) => data)).toEqual([
      { name: 'Deploys' },
    ]);
  });

  test.each([
    ['an empty name', { name: '' }, 'name', /empty/],
    ['a name of 10,001', { name: 'n'.repeat(10_001) }, 'name', /10000/],
    ['an empty trigger', { trigger: '' }, 'trigger', /empty/],
    ['a trigger of 10,001', { trigger: 't'.repeat(10_001) }, 'trigger', /10000/],
    ['an empty body', { body: '' }, 'body', /empty/],
    ['a body of 100,001', { body: 'b'.repeat(100_001) }, 'body', /100000/],
    ['a NUL', { body: 'a\u0000b' }, 'body', /NUL/],
    ['no body', { body: undefined }, 'body', /required/],
    ['a trigger of null', { trigger: null }, 'trigger', /null/],
    ['a repository without its owner', { pinned_repo: 'acme' }, 'pinned_repo', /owner\/repo/],
    ['an empty repository', { pinned_repo: '' }, 'pinned_repo', /owner\/repo/],
    ['a repository with an empty segment', { pinned_repo: 'acme//api' }, 'pinned_repo', /owner\/repo/],
    ['a repository with a way up', { pinned_repo: 'acme/../api' }, 'pinned_repo', /owner\/repo/],
    ['a repository with a space', { pinned_repo: 'acme/my api' }, 'pinned_repo', /owner\/repo/],
    ['a repository as an address', { pinned_repo: 'https://github.com/acme/api' }, 'pinned_repo', /owner\/repo/],
    ['no boolean', { is_enabled: 'yes' }, 'is_enabled', /boolean/],
  ])('%s is 422 at the field, and nothing is written', async (_what, wrong, field, message) => {
    const id = await makeOrganization(app);
    const { note_id: noteId } = (await admin('POST', notesOf(id), note)).body;
    for (const [method, path] of [
      ['POST', notesOf(id)],
      ['PUT', `${notesOf(id)}/${noteId}`],
    ] as const) {
      const { status, body } = await admin(method, path, { ...note, ...wrong });
      expect({ status, loc: body.detail[0].loc }).toEqual({ status: 422, loc: ['body', field] });
      expect(body.detail[0].msg).toMatch(message);
    }
    expect((await admin('GET', notesOf(id))).body.items).toMatchObject([note]);
  });

  test('a folder of another scope is 400, like an unknown one', async () => {
    const id = await makeOrganization(app);
    const context = await asAdministrator(app);
    const other = await makeFolders(context, { organizationId: await makeOrganization(app) }, 'Theirs');
    const shared = await makeFolders(context, 'enterprise', `Shared ${id}`);
    for (const folder of [other, shared, '0'.repeat(32), 'nonsense']) {
      const { status, body } = await admin('POST', notesOf(id), { ...note, folder_id: folder });
      expect({ status, detail: body.detail }).toEqual({
        status: 400,
        detail: `"folder_id" refers to "${folder}", which is not a folder of this organization.`,
      });
    }
  });
});

describe('notes of others', () => {
  test('a note of another organization is answered like an unknown one', async () => {
    const [here, there] = [await makeOrganization(app), await makeOrganization(app)];
    const { note_id: foreign } = (await admin('POST', notesOf(there), note)).body;
    const { v3Token } = await makeUser(app, here, 'org_admin');
    for (const [method, body] of [['GET'], ['PUT', note], ['DELETE']] as const) {
      for (const token of [v3Token, app.adminToken]) {
        const answers = await Promise.all(
          [foreign, missing].map((each) => call(app, token, method, `${notesOf(here)}/${each}`, body)),
        );
        const [known, unknown] = answers.map((each) =>
          JSON.stringify([each.status, each.body]).replace(foreign, missing),
        );
        expect(known).toBe(unknown);
        expect(answers[0]?.status).toBe(404);
      }
    }
    expect((await admin('GET', `${notesOf(there)}/${foreign}`)).status).toBe(200);
    expect((await call(app, v3Token, 'GET', notesOf(there))).status).toBe(403);
  });

  test('a reader gets the missing permission', async () => {
    const id = await makeOrganization(app);
    const { note_id: noteId } = (await admin('POST', notesOf(id), note)).body;
    const { v3Token } = await makeUser(app, id);
    const mine = (method: string, path: string, body?: unknown) => call(app, v3Token, method, path, body);
    expect((await mine('GET', `${notesOf(id)}/${noteId}`)).status).toBe(200);
    expect((await mine('GET', foldersOf(id))).status).toBe(200);
    for (const answer of [
      await mine('POST', notesOf(id), note),
      await mine('PUT', `${notesOf(id)}/${noteId}`, note),
      await mine('DELETE', `${notesOf(id)}/${noteId}`),
      await mine('DELETE', `${notesOf(id)}/${missing}`),
    ]) {
      expect(answer).toMatchObject({ status: 403, body: { detail: 'Missing permission ManageOrgKnowledge' } });
    }
    const { token } = await makeServiceUser(app, { roleId: 'account_member' });
    for (const [method, path, body] of [
      ['GET', enterpriseNotes],
      ['GET', '/v3/enterprise/knowledge/folders'],
      ['POST', enterpriseNotes, note],
      ['GET', `${enterpriseNotes}/${noteId}`],
      ['PUT', `${enterpriseNotes}/${noteId}`, note],
      ['DELETE', `${enterpriseNotes}/${noteId}`],
    ] as const) {
      const refused = await call(app, token, method, path, body);
      expect(refused).toMatchObject({ status: 403, body: { detail: 'Missing permission ManageAccountKnowledge' } });
    }
  });
});

describe('notes of the enterprise', () => {
  test('are readable in every organization, and changed with the enterprise’s permission', async () => {
    const id = await makeOrganization(app);
    const made = (await admin('POST', enterpriseNotes, { ...note, name: 'For all' })).body;
    expect(made).toMatchObject({ access_type: 'enterprise', org_id: null });
    expect((await readAuditActions(app, null, 'create_knowledge')).at(-1)?.targetId).toBe(bare(made.note_id));
    const path = `${notesOf(id)}/${made.note_id}`;
    const { v3Token } = await makeUser(app, id, 'org_admin');
    expect((await call(app, v3Token, 'GET', path)).body).toEqual(made);
    for (const [method, body] of [['PUT', note], ['DELETE']] as const) {
      const refused = await call(app, v3Token, method, path, body);
      expect(refused).toMatchObject({ status: 403, body: { detail: 'Missing permission ManageAccountKnowledge' } });
    }
    expect((await admin('PUT', `${enterpriseNotes}/${made.note_id}`, { ...note, name: 'New' })).body.name).toBe('New');
    expect((await admin('DELETE', path)).status).toBe(200);
    expect((await admin('GET', `${enterpriseNotes}/${made.note_id}`)).status).toBe(404);
  });

  test('the enterprise lists all organizations’ notes too; access_type distinguishes them', async () => {
    const own = await startApp();
    try {
      const mine = (method: string, path: string, body?: unknown) => call(own, own.adminToken, method, path, body);
      const [first, second] = [own.organizationId, await makeOrganization(own)];
      const make = async (path: string, name: string) => (await mine('POST', path, { ...note, name })).body.note_id;
      const [a, b, c] = [
        await make(notesOf(first), 'A'),
        await make(notesOf(second), 'B'),
        await make(enterpriseNotes, 'C'),
      ];
      const ids = (path: string) => readIds(own, { token: own.adminToken, path, id: 'note_id' });
      expect(await ids(enterpriseNotes)).toEqual([c, b, a]);
      expect(await ids(`${enterpriseNotes}?access_type=org`)).toEqual([b, a]);
      expect(await ids(`${enterpriseNotes}?access_type=enterprise`)).toEqual([c]);
      expect(await ids(notesOf(first))).toEqual([a]);
      expect(await ids(`${notesOf(first)}?access_type=enterprise`)).toEqual([c]);
      const wrong = await mine('GET', `${enterpriseNotes}?access_type=mine`);
      expect({ status: wrong.status, loc: wrong.body.detail[0].loc }).toEqual({
        status: 422,
        loc: ['query', 'access_type'],
      });
      expect((await mine('PUT', `${enterpriseNotes}/${b}`, { ...note, name: 'B2' })).body).toMatchObject({
        name: 'B2',
        org_id: `org-${second}`,
      });
      await mine('DELETE', `/v3/enterprise/organizations/${second}`);
      expect(await ids(enterpriseNotes)).toEqual([c, a]);
      expect((await mine('GET', `${enterpriseNotes}/${b}`)).status).toBe(404);
      expect((await mine('DELETE', `${enterpriseNotes}/${b}`)).status).toBe(404);
    } finally {
      await own.close();
    }
  });
});

describe('lists', () => {
  test('each note once, newest first, while others are created and deleted', async () => {
    const id = await makeOrganization(app);
    const made: string[] = [];
    for (let n = 0; n < 7; n++)
      made.unshift((await admin('POST', notesOf(id), { ...note, name: `n${n}` })).body.note_id);
    let page = 0;
    const seen = await readIds(app, { token: app.adminToken, path: notesOf(id), id: 'note_id' }, async () => {
      await admin('POST', notesOf(id), { ...note, name: 'later' });
      // A note on a page that was already read is deleted: the next page must not shift.
      await admin('DELETE', `${notesOf(id)}/${made[page++]}`);
    });
    expect(seen).toEqual(made);
  });

  test('filters: search, folder_path, pinned_repo', async () => {
    const id = await makeOrganization(app);
    const context = await asAdministrator(app);
    const scope = { organizationId: id };
    const backend = await makeFolders(context, scope, 'Backend');
    const inner = await makeFolders(context, { organizationId: id }, 'Frontend/Style Guide');
    const make = async (more: object) => (await admin('POST', notesOf(id), { ...note, ...more })).body.note_id;
    const [root, named, triggered, bodied] = [
      await make({ pinned_repo: 'Acme/API' }),
      await make({ name: 'A needle_100%', folder_id: backend }),
      await make({ trigger: 'the NEEDLE_100% here', folder_id: inner, pinned_repo: 'all' }),
      await make({ body: 'x needle_100% y', folder_id: inner }),
    ];
    const list = (query: string) =>
      readIds(app, { token: app.adminToken, path: `${notesOf(id)}?${new URLSearchParams(query)}`, id: 'note_id' });
    expect(await list('search=Needle_100%25')).toEqual([bodied, triggered, named]);
    expect(await list('search=needle.100')).toEqual([]);
    expect(await list('folder_path=backend')).toEqual([named]);
    expect(await list('folder_path=/Frontend/style guide/')).toEqual([bodied, triggered]);
    expect(await list('folder_path=Frontend')).toEqual([]);
    expect(await list('folder_path=Nowhere/at/all')).toEqual([]);
    expect(await list('folder_path=/')).toEqual([root]);
    expect(await list('pinned_repo=acme/api')).toEqual([root]);
    expect(await list('pinned_repo=all&search=needle')).toEqual([triggered]);
    expect(await list('search=')).toHaveLength(4);
    const umlaut = await make({ name: 'Die ÄHRE' });
    expect(await list('search=ähre')).toEqual([umlaut]);
    expect((await admin('GET', `${notesOf(id)}?search=${'s'.repeat(1_001)}`)).status).toBe(422);
    expect((await admin('GET', `${notesOf(id)}?first=201`)).status).toBe(422);
  });

  test('a cursor of another list is 422', async () => {
    const id = await makeOrganization(app);
    await admin('POST', `/v3/organizations/${id}/playbooks`, { title: 't', body: 'b' });
    const cursor = (await admin('GET', `/v3/organizations/${id}/playbooks`)).body.end_cursor;
    const refused = await admin('GET', `${notesOf(id)}?after=${cursor}`);
    expect(refused.body.detail[0]).toMatchObject({ loc: ['query', 'after'], type: 'bad_cursor' });
  });
});
