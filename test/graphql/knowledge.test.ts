import { describe, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { type List, readAll } from '../support/pages.ts';
import { makeManager, runMutation } from '../support/people.ts';
import { homeScope, makeUser } from '../support/principals.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const noteFields = `knowledgeNote { id knowledgeNoteId name body trigger pinnedRepo macro isEnabled
  folder { name path } organization { organizationId } createdBy { ... on ServiceUser { serviceUserId } } }`;
const folderFields =
  'knowledgeFolder { id knowledgeFolderId name description path parent { name } organization { name } }';
const words = { name: 'Deploying', body: 'Push to main.', trigger: 'When deploying' };

const run = (field: string, selection: string, input: Record<string, unknown>, token?: string) =>
  runMutation(test, field, selection, input, token);
const makeNote = async (token: string, input: Record<string, unknown> = {}) =>
  (await run('createKnowledgeNote', noteFields, { scope: homeScope(token), ...words, ...input }, token)).knowledgeNote;
const makeFolder = async (token: string, input: Record<string, unknown>) =>
  (await run('createKnowledgeFolder', folderFields, { scope: homeScope(token), ...input }, token)).knowledgeFolder;

/** The names and the number of an organization's notes that match. */
async function names(token: string, organizationId: string, filter: string, page = ''): Promise<[string[], number]> {
  const document = `query($id: ID!) { organization(id: $id) { knowledgeNotes(first: 100, filter: {${filter}} ${page}) { nodes { name } totalCount } } }`;
  const { data, errors } = await graphql(test, token, document, { id: organizationId });
  expect(errors).toBeUndefined();
  const { nodes, totalCount } = data.organization.knowledgeNotes;
  return [nodes.map(({ name }: { name: string }) => name), totalCount];
}

async function firstCursor(token: string, organizationId: string): Promise<string> {
  const document = `query($id: ID!) { organization(id: $id) { knowledgeNotes(first: 1) { pageInfo { endCursor } } } }`;
  const { data } = await graphql(test, token, document, { id: organizationId });
  return data.organization.knowledgeNotes.pageInfo.endCursor;
}

it('lists the folders in a folder to callers that may read it', async () => {
  const { token } = await makeOrganization(test, 'Nested');
  const outer = await makeFolder(token, { name: 'Backend' });
  for (const name of ['Databases', 'Queues']) await makeFolder(token, { name, parentId: outer.id });
  const inner = await makeFolder(token, { name: 'Caches', parentId: outer.id });
  await makeFolder(token, { name: 'Redis', parentId: inner.id });
  const document = `query($id: ID!, $after: String) { node(id: $id) { ... on KnowledgeFolder {
    children(first: 2, after: $after) { nodes { name path } totalCount pageInfo { hasNextPage endCursor } } } } }`;
  const { data } = await graphql(test, token, document, { id: outer.id });
  const { nodes, totalCount, pageInfo } = data.node.children;
  expect(nodes).toEqual([
    { name: 'Caches', path: 'Backend/Caches' },
    { name: 'Queues', path: 'Backend/Queues' },
  ]);
  expect({ totalCount, hasNextPage: pageInfo.hasNextPage }).toEqual({ totalCount: 3, hasNextPage: true });
  const next = await graphql(test, token, document, { id: outer.id, after: pageInfo.endCursor });
  expect(next.data.node.children.nodes).toEqual([{ name: 'Databases', path: 'Backend/Databases' }]);
  const stranger = await makeOrganization(test, 'Not nested');
  expect((await graphql(test, stranger.token, document, { id: outer.id })).data.node).toBeNull();
});

describe('a note', () => {
  it('is created, changed and deleted, and names its creator', async () => {
    const { organizationId, token, serviceUserId } = await makeOrganization(test, 'Notes');
    const folder = await makeFolder(token, { name: 'Backend' });
    const made = await makeNote(token, { folderId: folder.id, macro: '!deploy', pinnedRepo: 'acme/site' });
    expect(made).toEqual({
      ...words,
      id: expect.any(String),
      knowledgeNoteId: expect.stringMatching(/^note-[0-9a-f]{32}$/),
      pinnedRepo: 'acme/site',
      macro: '!deploy',
      isEnabled: true,
      folder: { name: 'Backend', path: 'Backend' },
      organization: { organizationId },
      createdBy: { serviceUserId },
    });
    const changed = await run(
      'updateKnowledgeNote',
      noteFields,
      { knowledgeNoteId: made.id, name: 'Shipping', macro: null, folderId: null },
      token,
    );
    const after = { ...made, name: 'Shipping', macro: null, folder: null };
    expect(changed).toEqual({ knowledgeNote: after, userErrors: [], clientMutationId: null });
    const read = await graphql(
      test,
      token,
      `query($id: ID!) { node(id: $id) { ... on KnowledgeNote { name body } } }`,
      {
        id: made.id,
      },
    );
    expect(read.data.node).toEqual({ name: 'Shipping', body: words.body });
    const on = { knowledgeNoteId: made.id };
    for (const [verb, isEnabled] of [
      ['disable', false],
      ['disable', false],
      ['enable', true],
      ['enable', true],
    ] as const) {
      const switched = await run(`${verb}KnowledgeNote`, 'knowledgeNote { isEnabled }', on, token);
      expect(switched).toEqual({ knowledgeNote: { isEnabled }, userErrors: [], clientMutationId: null });
    }
    const id = made.knowledgeNoteId;
    const gone = await run('deleteKnowledgeNote', 'deletedKnowledgeNoteId', { knowledgeNoteId: id }, token);
    expect(gone).toEqual({ deletedKnowledgeNoteId: made.id, userErrors: [], clientMutationId: null });
    expect(await run('deleteKnowledgeNote', 'deletedKnowledgeNoteId', { knowledgeNoteId: id }, token)).toMatchObject({
      error: 'NOT_FOUND',
    });
  });

  it('is refused with the path of the problem, and nothing is created', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Refused notes');
    const scope = { organizationId };
    await makeNote(token, { macro: '!taken' });
    const other = await makeOrganization(test, 'Other notes');
    const foreign = await makeFolder(other.token, { name: 'Foreign' });
    const refusals: [Record<string, unknown>, object][] = [
      [{ name: '' }, { code: 'INVALID_INPUT', path: ['input', 'name'] }],
      [{ body: 'x'.repeat(100_001) }, { code: 'INVALID_INPUT', path: ['input', 'body'] }],
      [{ macro: 'no' }, { code: 'INVALID_INPUT', path: ['input', 'macro'] }],
      [{ macro: '!TAKEN' }, { code: 'NOT_UNIQUE', path: ['input', 'macro'] }],
      [{ folderId: foreign.id }, { code: 'UNKNOWN_REFERENCE', path: ['input', 'folderId'] }],
      [{ pinnedRepo: 'x' }, { code: 'INVALID_INPUT', path: ['input', 'pinnedRepo'] }],
      [{ scope: { enterprise: false } }, { code: 'INVALID_INPUT', path: ['input', 'scope', 'enterprise'] }],
    ];
    for (const [input, error] of refusals) {
      const payload = await run('createKnowledgeNote', noteFields, { scope, ...words, ...input }, token);
      expect(payload).toMatchObject({ knowledgeNote: null, userErrors: [error] });
    }
    for (const odd of [
      {},
      { scope: {} },
      { scope: { ...scope, enterprise: true } },
      { scope: { organizationId: null } },
    ]) {
      const payload = await run('createKnowledgeNote', noteFields, { ...words, ...odd }, token);
      expect(payload).toMatchObject({ error: 'INVALID_INPUT' });
    }
    expect((await names(token, organizationId, ''))[1]).toBe(1);
  });

  it('cannot clear its required members', async () => {
    const { token } = await makeOrganization(test, 'Null notes');
    const { id } = await makeNote(token);
    const payload = await run(
      'updateKnowledgeNote',
      noteFields,
      { knowledgeNoteId: id, name: null, body: null },
      token,
    );
    expect(payload.userErrors).toEqual([
      { code: 'INVALID_INPUT', message: '"name" must be a text.', path: ['input', 'name'] },
      { code: 'INVALID_INPUT', message: '"body" must be a text.', path: ['input', 'body'] },
    ]);
  });

  it('is changed by callers with the permission, and only visible to others', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Kept notes');
    const { id } = await makeNote(token);
    const member = await makeUser(test, { organizationId });
    const change = { knowledgeNoteId: id, name: 'Mine' };
    expect(await run('updateKnowledgeNote', noteFields, change, member.token)).toEqual({
      error: 'FORBIDDEN',
      message: 'Missing permission MANAGE_ORG_KNOWLEDGE.',
    });
    const own = { scope: { organizationId }, ...words };
    expect(await run('createKnowledgeNote', noteFields, own, member.token)).toMatchObject({ error: 'FORBIDDEN' });
    expect((await names(member.token, organizationId, ''))[0]).toEqual([words.name]);
    const stranger = await makeOrganization(test, 'Strangers to notes');
    expect(await run('updateKnowledgeNote', noteFields, change, stranger.token)).toMatchObject({ error: 'NOT_FOUND' });
    const { data } = await graphql(test, stranger.token, 'query($id: ID!) { node(id: $id) { id } }', { id });
    expect(data).toEqual({ node: null });
  });
});

describe('the notes of an organization', () => {
  it('are filtered by text, folder, path and repository, newest first, and counted', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Found notes');
    const folder = await makeFolder(token, { name: 'Backend' });
    const inner = await makeFolder(token, { name: 'Databases', parentId: folder.knowledgeFolderId });
    expect(inner).toMatchObject({ path: 'Backend/Databases', parent: { name: 'Backend' } });
    await makeNote(token, { name: 'One', folderId: folder.id });
    await makeNote(token, { name: 'Two', folderId: inner.id, pinnedRepo: 'acme/site' });
    await makeNote(token, { name: 'Three', body: 'About ALPACAS' });
    const found = (filter: string, page = '') => names(token, organizationId, filter, page);
    expect(await found('')).toEqual([['Three', 'Two', 'One'], 3]);
    expect(await found('', `after: "${await firstCursor(token, organizationId)}"`)).toEqual([['Two', 'One'], 3]);
    expect(await found('search: "alpaca"')).toEqual([['Three'], 1]);
    expect(await found(`folderId: "${folder.id}"`)).toEqual([['One'], 1]);
    expect(await found('folderPath: "backend/databases"')).toEqual([['Two'], 1]);
    expect(await found('folderPath: "/"')).toEqual([['Three'], 1]);
    expect(await found('pinnedRepo: "ACME/site"')).toEqual([['Two'], 1]);
    expect(await found('search: "nothing like it"')).toEqual([[], 0]);
  });

  it('are paged both ways, each once', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Paged notes');
    const ids: string[] = [];
    for (let n = 0; n < 7; n++) ids.unshift((await makeNote(token, { name: `Note ${n}` })).id);
    const list: List = {
      token,
      declared: '$id: ID!',
      variables: { id: organizationId },
      field: 'organization(id: $id) { list: knowledgeNotes(PAGE) SELECTION }',
      at: (data) => data.organization.list,
    };
    expect(await readAll(test, list, 'forwards', { size: 3 })).toEqual(ids);
    expect(await readAll(test, list, 'backwards', { size: 3 })).toEqual(ids);
  });

  it('need the permission to view sessions there', async () => {
    const { organizationId } = await makeOrganization(test, 'Hidden notes');
    const { token } = await makeManager(test, 'READ_ACCOUNT_META');
    const document = `query($id: ID!) { organization(id: $id) { knowledgeNotes { nodes { id } } } }`;
    const { data } = await graphql(test, token, document, { id: organizationId });
    expect(data).toEqual({ organization: null });
    const listed = await graphql(
      test,
      token,
      '{ enterprise { organizations(first: 1) { nodes { knowledgeNotes { nodes { id } } } } } }',
    );
    expect(listed.errors).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
  });
});

describe('the enterprise', () => {
  it('has its own notes and folders, which every organization may use', async () => {
    const { token: admin } = await makeManager(test, 'READ_ACCOUNT_META', 'MANAGE_ACCOUNT_KNOWLEDGE');
    const folder = await makeFolder(admin, { scope: { enterprise: true }, name: 'Everywhere', description: 'For all' });
    expect(folder).toMatchObject({ organization: null, description: 'For all' });
    const made = await makeNote(admin, { scope: { enterprise: true }, name: 'Shared', folderId: folder.id });
    expect(made.organization).toBeNull();
    const { organizationId, token } = await makeOrganization(test, 'Shares notes');
    await makeNote(token, { name: 'Own' });
    expect(await names(token, organizationId, '')).toEqual([['Own'], 1]);
    expect((await names(token, organizationId, 'accessType: ENTERPRISE'))[0]).toContain('Shared');
    const all = async (args: string) => {
      const document = `{ enterprise { knowledgeNotes(${args}) { nodes { name } totalCount totalCountIsExact }
        knowledgeFolders(first: 100) { nodes { name notes(first: 5) { nodes { name } totalCount } } } } }`;
      const { data, errors } = await graphql(test, admin, document);
      expect(errors).toBeUndefined();
      return data.enterprise;
    };
    const both = await all('filter: {search: "Push"}, first: 100');
    const listed = both.knowledgeNotes.nodes.map(({ name }: { name: string }) => name);
    expect(listed).toEqual(expect.arrayContaining(['Shared', 'Own']));
    expect(both.knowledgeNotes).toMatchObject({ totalCount: listed.length, totalCountIsExact: true });
    expect(both.knowledgeFolders.nodes).toContainEqual({
      name: 'Everywhere',
      notes: { nodes: [{ name: 'Shared' }], totalCount: 1 },
    });
    const own = (await all('filter: {accessType: ENTERPRISE}')).knowledgeNotes.nodes;
    expect(own).toContainEqual({ name: 'Shared' });
    expect(own).not.toContainEqual({ name: 'Own' });
    expect(await run('deleteKnowledgeNote', 'deletedKnowledgeNoteId', { knowledgeNoteId: made.id }, token)).toEqual({
      error: 'FORBIDDEN',
      message: 'Missing permission MANAGE_ACCOUNT_KNOWLEDGE.',
    });
  });
});

describe('a folder', () => {
  it('moves with its contents, and its notes are in no folder after its deletion', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Folders');
    const one = await makeFolder(token, { name: 'One' });
    const two = await makeFolder(token, { name: 'Two', parentId: one.id });
    const note = await makeNote(token, { folderId: two.id });
    const update = (input: Record<string, unknown>) => run('updateKnowledgeFolder', folderFields, input, token);
    const into = await update({ knowledgeFolderId: one.id, parentId: two.id });
    expect(into).toMatchObject({ knowledgeFolder: null, userErrors: [{ path: ['input', 'parentId'] }] });
    const moved = await update({ knowledgeFolderId: two.id, parentId: null, description: 'Alone' });
    expect(moved.knowledgeFolder).toMatchObject({ path: 'Two', parent: null, description: 'Alone' });
    expect((await update({ knowledgeFolderId: two.id, name: 'one' })).userErrors).toMatchObject([
      { code: 'NOT_UNIQUE', path: ['input', 'name'] },
    ]);
    const remove = { knowledgeFolderId: two.id };
    const gone = await run('deleteKnowledgeFolder', 'deletedKnowledgeFolderId', remove, token);
    expect(gone.deletedKnowledgeFolderId).toBe(two.id);
    const document = `query($id: ID!, $note: ID!) {
      organization(id: $id) { knowledgeFolders { nodes { name } totalCount } } node(id: $note) { ... on KnowledgeNote { folder { id } } } }`;
    const { data } = await graphql(test, token, document, { id: organizationId, note: note.id });
    expect(data).toEqual({
      organization: { knowledgeFolders: { nodes: [{ name: 'One' }], totalCount: 1 } },
      node: { folder: null },
    });
  });
});
