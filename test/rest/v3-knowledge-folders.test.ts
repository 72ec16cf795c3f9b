import { describe, expect, test } from 'vitest';
import { deleteFolder, updateFolder } from '../../src/domain/library/knowledge/change-folders.ts';
import { makeFolders, readAuditActions } from '../support/knowledge.ts';
import { useApp } from '../support/use-app.ts';
import { asAdministrator, call, makeOrganization, startApp } from './rest-app.ts';

const app = useApp();

const admin = (method: string, path: string, body?: unknown) => call(app, app.adminToken, method, path, body);
const notesOf = (id: string) => `/v3/organizations/${id}/knowledge/notes`;
const foldersOf = (id: string) => `/v3/organizations/${id}/knowledge/folders`;
const enterpriseNotes = '/v3/enterprise/knowledge/notes';
const note = { name: 'Deploys', trigger: 'When deploying', body: 'Never on a Friday.' };
const bare = (id: string) => id.replace(/^\w+-/, '');

describe('folders', () => {
  test('the tree has paths, parents before children, and the number of notes in each', async () => {
    const id = await makeOrganization(app);
    expect((await admin('GET', foldersOf(id))).body).toEqual({ folders: [], root_note_count: 0 });
    const context = await asAdministrator(app);
    const scope = { organizationId: id };
    const zoo = await makeFolders(context, scope, 'zoo');
    const databases = await makeFolders(context, scope, 'Backend/Databases');
    await makeFolders(context, { organizationId: await makeOrganization(app) }, 'Elsewhere');
    for (const folderId of [null, databases, databases, zoo])
      await admin('POST', notesOf(id), { ...note, folder_id: folderId });
    await admin('POST', enterpriseNotes, note);
    const { body } = await admin('GET', foldersOf(id));
    const backend = body.folders[0].folder_id;
    expect(body).toEqual({
      root_note_count: 1,
      folders: [
        { folder_id: backend, parent_folder_id: null, name: 'Backend', path: 'Backend', note_count: 0 },
        {
          folder_id: `folder-${databases}`,
          parent_folder_id: backend,
          name: 'Databases',
          path: 'Backend/Databases',
          note_count: 2,
        },
        { folder_id: `folder-${zoo}`, parent_folder_id: null, name: 'zoo', path: 'zoo', note_count: 1 },
      ],
    });
  });

  test('the enterprise’s tree has its own folders and notes', async () => {
    const own = await startApp();
    try {
      const context = await asAdministrator(own);
      const folder = await makeFolders(context, 'enterprise', 'Shared');
      await makeFolders(context, { organizationId: own.organizationId }, 'Local');
      const mine = (method: string, path: string, body?: unknown) => call(own, own.adminToken, method, path, body);
      await mine('POST', enterpriseNotes, { ...note, folder_id: folder });
      await mine('POST', notesOf(own.organizationId), note);
      expect((await mine('GET', '/v3/enterprise/knowledge/folders')).body).toMatchObject({
        root_note_count: 0,
        folders: [{ path: 'Shared', note_count: 1 }],
      });
      expect((await mine('GET', `${enterpriseNotes}?folder_path=shared`)).body.items).toHaveLength(1);
    } finally {
      await own.close();
    }
  });

  test('a renamed and moved folder keeps its notes; the notes of a deleted one are in no folder', async () => {
    const id = await makeOrganization(app);
    const context = await asAdministrator(app);
    const scope = { organizationId: id };
    const target = await makeFolders(context, scope, 'Target');
    const inner = await makeFolders(context, scope, 'Outer/Inner');
    const { note_id: noteId } = (await admin('POST', notesOf(id), { ...note, folder_id: inner })).body;
    const pathNow = async () => (await admin('GET', `${notesOf(id)}/${noteId}`)).body.folder_path;
    const outer = bare((await admin('GET', foldersOf(id))).body.folders[0].folder_id);
    await updateFolder(context, outer, { name: 'Moved', parentId: target });
    expect(await pathNow()).toBe('Target/Moved/Inner');
    await deleteFolder(context, outer, scope);
    expect(await pathNow()).toBe('');
    expect((await admin('GET', foldersOf(id))).body).toMatchObject({
      root_note_count: 1,
      folders: [{ path: 'Target' }],
    });
    const auditActions = await readAuditActions(app, id, '_folder');
    expect(auditActions.slice(-2).map(({ action, data }) => [action, data])).toEqual([
      ['update_folder', { name: 'Moved', changed: 'parentId name' }],
      ['delete_folder', { name: 'Moved', folders: 2, notes: 1 }],
    ]);
  });

  test('no cycles, no depth above 8, no duplicate names, no moves between scopes', async () => {
    const context = await asAdministrator(app);
    const scope = { organizationId: await makeOrganization(app) };
    const other = { organizationId: await makeOrganization(app) };
    const seventh = await makeFolders(context, scope, '1/2/3/4/5/6/7');
    await makeFolders(context, other, '1');
    const top = bare((await admin('GET', foldersOf(scope.organizationId))).body.folders[0].folder_id);
    const pair = await makeFolders(context, scope, 'a/b');
    const a = bare((await admin('GET', foldersOf(scope.organizationId))).body.folders.at(-2).folder_id);
    await expect(updateFolder(context, top, { parentId: seventh })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(updateFolder(context, top, { parentId: top })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(updateFolder(context, a, { parentId: seventh })).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
    await expect(updateFolder(context, pair, { parentId: null, name: 'A' })).rejects.toMatchObject({
      code: 'NOT_UNIQUE',
    });
    await expect(updateFolder(context, pair, { name: 'x/y' })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    const foreign = bare((await admin('GET', foldersOf(other.organizationId))).body.folders[0].folder_id);
    await expect(updateFolder(context, a, { parentId: foreign })).rejects.toMatchObject({ code: 'UNKNOWN_REFERENCE' });
    await expect(deleteFolder(context, foreign, scope)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await updateFolder(context, pair, { parentId: seventh });
    expect((await admin('GET', foldersOf(scope.organizationId))).body.folders.at(-2).path).toBe('1/2/3/4/5/6/7/b');
  });

  test('one of two concurrent moves that would form a cycle is refused', async () => {
    const context = await asAdministrator(app);
    const scope = { organizationId: await makeOrganization(app) };
    const [one, two] = [await makeFolders(context, scope, 'one'), await makeFolders(context, scope, 'two')];
    const moves = await Promise.allSettled([
      updateFolder(context, one, { parentId: two }),
      updateFolder(context, two, { parentId: one }),
    ]);
    expect(moves.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await admin('GET', foldersOf(scope.organizationId))).body.folders).toHaveLength(2);
  });
});
