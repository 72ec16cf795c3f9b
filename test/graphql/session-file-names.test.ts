import { expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { makeRole } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { saveWorkspace } from '../support/saved-workspace.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const document = `query($id: ID!, $name: String!, $count: Int) {
  session(id: $id) { filesByName(name: $name, count: $count) { path type target text } } }`;

const search = async (id: string, name: string, more: object = {}, token = test.adminToken) => {
  const { data, errors } = await graphql(test, token, document, { id, name, ...more });
  return errors ? { code: errors[0].extensions.code, message: errors[0].message } : data.session?.filesByName;
};
const pathsOf = async (id: string, name: string, more: object = {}) =>
  (await search(id, name, more)).map(({ path }: any) => path);
const x = { content: 'x' };

it('finds files by their names before their paths, the best match first', async () => {
  const id = await createSession(test);
  expect(await search(id, 'index')).toEqual([]);
  await saveWorkspace(test, id, {
    files: {
      'workspace/lib/index': x,
      'workspace/src/index.ts': x,
      'workspace/src/my-index.ts': x,
      'workspace/src/reindex.ts': x,
      'workspace/indexes/a/b.ts': x,
      'workspace/src/in/depth/x.md': x,
      'home/index.ts': { content: 'secret' },
    },
  });
  expect(await pathsOf(id, 'INDEX')).toEqual([
    ...['indexes', 'lib/index', 'src/index.ts', 'src/my-index.ts', 'src/reindex.ts'],
    ...['indexes/a', 'indexes/a/b.ts', 'src/in/depth/x.md'],
  ]);
  expect(await pathsOf(id, 'ind', { count: 2 })).toEqual(['indexes', 'lib/index']);
  expect(await pathsOf(id, 'src/ix')).toEqual([
    'src/index.ts',
    'src/reindex.ts',
    'src/my-index.ts',
    'src/in/depth/x.md',
  ]);
  expect(await pathsOf(id, 'src/')).toEqual([
    'src/in',
    'src/index.ts',
    'src/reindex.ts',
    'src/my-index.ts',
    'src/in/depth',
    'src/in/depth/x.md',
  ]);
  expect(await pathsOf(id, '')).toEqual(['lib', 'src', 'indexes']);
  for (const nothing of ['zzz', '../home', 'secret', 'a\0b', '\ud800']) expect(await pathsOf(id, nothing)).toEqual([]);
});

it('skips what git ignores, .git and node_modules, unless the text names the directory', async () => {
  const id = await createSession(test);
  await saveWorkspace(test, id, {
    files: {
      'workspace/.git/found': x,
      'workspace/packages/a/node_modules/found.js': x,
      'workspace/src/found.ts': x,
      'workspace/dist': {},
    },
    ignored: { 'workspace/dist/found.js': x, 'workspace/dist/deep/found.js': x },
  });
  expect(await pathsOf(id, 'found')).toEqual(['src/found.ts']);
  expect(await pathsOf(id, 'dist/fo')).toEqual(['dist/found.js']);
  expect(await pathsOf(id, 'packages/a/node_modules/')).toEqual(['packages/a/node_modules/found.js']);
});

it('finds links without following them, and names that are not UTF-8', async () => {
  const id = await createSession(test);
  await saveWorkspace(test, id, {
    files: {
      'workspace/out-link': { target: '/etc' },
      'workspace/bytes-\xff': { content: 'bytes' },
      'workspace/\xc3\x9cbung.md': x,
    },
  });
  expect(await search(id, 'out')).toEqual([{ path: 'out-link', type: 'LINK', target: '/etc', text: null }]);
  expect(await pathsOf(id, 'out-link/passwd')).toEqual([]);
  expect(await search(id, 'bytes')).toMatchObject([{ path: 'bytes-\\xff', text: 'bytes' }]);
  expect(await pathsOf(id, 'übu')).toEqual(['Übung.md']);
});

it('returns at most 20 files, and refuses other numbers and long texts', async () => {
  const id = await createSession(test);
  const many = Object.fromEntries(Array.from({ length: 6_000 }, (_, n) => [`workspace/d${n % 7}/file${n}`, x]));
  await saveWorkspace(test, id, { files: many });
  expect((await pathsOf(id, 'file')).length).toBe(20);
  expect(await pathsOf(id, 'file5999')).toEqual(['d0/file5999']);
  for (const count of [0, -1, 21]) expect(await search(id, 'file', { count })).toMatchObject({ code: 'INVALID_INPUT' });
  expect(await search(id, 'x'.repeat(1_001))).toMatchObject({ code: 'INVALID_INPUT' });
});

it('finds nothing for viewers of another organization, and for those who may not view sessions', async () => {
  const id = await createSession(test);
  await saveWorkspace(test, id, { files: { 'workspace/found': x } });
  const other = await makeOrganization(test, 'Other');
  expect(await search(id, 'found', {}, other.token)).toBeUndefined();
  const { roleId } = await makeRole(test, 'ORGANIZATION', ['MANAGE_ORG_SESSIONS']);
  const { token } = await makeUser(test, { roleId });
  const refused = await graphql(test, token, document, { id, name: 'found' });
  expect(refused.data?.session ?? null).toBeNull();
});
