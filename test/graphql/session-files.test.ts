import { describe, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { graphql } from '../support/app.ts';
import { makeRole } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { damageSegment, savedFilesAt, saveWorkspace } from '../support/saved-workspace.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const fields = 'name path type sizeBytes mode modifiedAt target';
const listDocument = `query($id: ID!, $path: String, $checkpointId: ID, $first: Int, $after: String, $last: Int, $before: String) {
  session(id: $id) { files(path: $path, checkpointId: $checkpointId, first: $first, after: $after, last: $last, before: $before) {
    totalCount edges { cursor } nodes { ${fields} } pageInfo { hasNextPage hasPreviousPage endCursor startCursor } } } }`;
const fileDocument = `query($id: ID!, $path: String!, $checkpointId: ID) {
  session(id: $id) { file(path: $path, checkpointId: $checkpointId) { ${fields} text downloadUrl checkpointId savedAt missing { path reason sizeBytes fileCount } } } }`;

const list = async (id: string, variables: object = {}, token = test.adminToken) => {
  const { data, errors } = await graphql(test, token, listDocument, { id, ...variables });
  return errors ? { code: errors[0].extensions.code, message: errors[0].message } : data.session.files;
};
const find = async (id: string, path: string, variables: object = {}, token = test.adminToken) => {
  const { data, errors } = await graphql(test, token, fileDocument, { id, path, ...variables });
  return errors ? { code: errors[0].extensions.code, message: errors[0].message } : data.session.file;
};
const namesOf = (files: any) => files.nodes.map(({ name }: any) => name);
const save = async (files: Parameters<typeof saveWorkspace>[2]['files'], more: object = {}) => {
  const id = await createSession(test);
  return { id, checkpoint: await saveWorkspace(test, id, { files, ...more }) };
};

it('lists directories first, then files and links, with what is known of each', async () => {
  const { id, checkpoint } = await save({
    'workspace/b.txt': { content: 'two\n', mode: 0o600 },
    'workspace/a.sh': { content: '#!/bin/sh\n', mode: 0o755 },
    'workspace/src/main.ts': { content: 'main\n' },
    'workspace/link': { target: '../../etc/passwd' },
    'home/.secret': { content: 'secret' },
  });
  const files = await list(id);
  expect(files).toMatchObject({ totalCount: 4, pageInfo: { hasNextPage: false } });
  expect(await find(id, '')).toMatchObject({
    ...{ name: '', type: 'DIRECTORY', text: null, missing: [] },
    ...{ checkpointId: `checkpoint-${checkpoint.id}`, savedAt: checkpoint.createdAt.toISOString() },
  });
  const modifiedAt = savedFilesAt.toISOString();
  expect(files.nodes).toEqual([
    { name: 'src', path: 'src', type: 'DIRECTORY', sizeBytes: null, mode: '0755', modifiedAt, target: null },
    { name: 'a.sh', path: 'a.sh', type: 'FILE', sizeBytes: 10, mode: '0755', modifiedAt, target: null },
    { name: 'b.txt', path: 'b.txt', type: 'FILE', sizeBytes: 4, mode: '0600', modifiedAt, target: null },
    { name: 'link', path: 'link', type: 'LINK', sizeBytes: null, mode: '0777', modifiedAt, target: '../../etc/passwd' },
  ]);
  expect(namesOf(await list(id, { path: 'src' }))).toEqual(['main.ts']);
  expect(namesOf(await list(id, { path: 'src/' }))).toEqual(['main.ts']);
  expect(await find(id, 'src/main.ts')).toMatchObject({ path: 'src/main.ts', sizeBytes: 5, text: 'main\n' });
});

it('is empty before the first checkpoint, and shows ignored files and missing parts of the workspace alone', async () => {
  const id = await createSession(test);
  expect(await list(id)).toMatchObject({ totalCount: 0, nodes: [] });
  expect(await find(id, 'a.txt')).toBeNull();
  await saveWorkspace(test, id, {
    files: { 'workspace/a.txt': { content: 'a' }, 'workspace/src': {}, 'home/.cache': {} },
    ignored: { 'workspace/node_modules/left/index.js': { content: 'x' }, 'home/.cache/y': { content: 'y' } },
    missing: [
      { path: 'workspace/src/core', reason: 'TOO_LARGE', bytes: 5_000_000_000, files: 1 },
      { path: 'home/.key', reason: 'UNREADABLE', bytes: null, files: 1 },
    ],
  });
  const files = await list(id);
  expect(namesOf(files)).toEqual(['node_modules', 'src', 'a.txt']);
  const core = { path: 'src/core', reason: 'TOO_LARGE', sizeBytes: 5_000_000_000, fileCount: 1 };
  for (const path of ['', 'src']) expect(await find(id, path)).toMatchObject({ missing: [core] });
  for (const path of ['node_modules', 'a.txt']) expect(await find(id, path)).toMatchObject({ missing: [] });
  expect(namesOf(await list(id, { path: 'node_modules/left' }))).toEqual(['index.js']);
});

it('pages through one checkpoint, also while newer ones are saved', async () => {
  const many = Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`workspace/f${n + 10}`, { content: `${n}` }]));
  const { id, checkpoint } = await save(many);
  const first = await list(id, { first: 10 });
  expect(first.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
  const newer = await saveWorkspace(test, id, { files: { 'workspace/only.txt': { content: 'x' } } });
  const second = await list(id, { first: 10, after: first.pageInfo.endCursor });
  expect(namesOf(second)).toEqual(Array.from({ length: 10 }, (_, n) => `f${n + 20}`));
  const last = await list(id, { last: 3, checkpointId: `checkpoint-${checkpoint.id}` });
  expect(namesOf(last)).toEqual(['f32', 'f33', 'f34']);
  const before = await list(id, { last: 2, before: last.pageInfo.startCursor });
  expect(namesOf(before)).toEqual(['f30', 'f31']);
  expect(await list(id)).toMatchObject({ totalCount: 1 });
  expect(await find(id, '')).toMatchObject({ checkpointId: `checkpoint-${newer.id}` });
  await test.app.services.store.execute('delete from checkpoint where id = $1 returning id', [checkpoint.id]);
  expect(await list(id, { after: first.pageInfo.endCursor })).toMatchObject({ code: 'BAD_CURSOR' });
  expect(await list(id, { after: 'nonsense' })).toMatchObject({ code: 'BAD_CURSOR' });
});

describe('paths', () => {
  it('follows no link, and refuses paths that lead out of the workspace', async () => {
    const { id } = await save({
      'workspace/dir/file': { content: 'x' },
      'workspace/out': { target: '/etc' },
      'workspace/in': { target: 'dir' },
      'home/.ssh/id': { content: 'secret' },
    });
    for (const path of ['out/passwd', 'in/file', 'dir/file/x', 'nothing']) expect(await find(id, path)).toBeNull();
    for (const path of ['out', 'in']) {
      expect(await find(id, path)).toMatchObject({ type: 'LINK', text: null, downloadUrl: null });
      expect(await list(id, { path })).toMatchObject({ code: 'NOT_FOUND' });
    }
    for (const path of ['..', '../home/.ssh/id', 'dir/../../home', '/etc/passwd', '/', './dir', 'dir//file', 'a\0b']) {
      expect(await find(id, path)).toMatchObject({ code: 'INVALID_INPUT' });
      expect(await list(id, { path })).toMatchObject({ code: 'INVALID_INPUT' });
    }
    expect(await find(id, 'x'.repeat(9_000))).toMatchObject({ code: 'INVALID_INPUT' });
  });

  it('reads files of any name', async () => {
    const names = [
      'ü.txt',
      ' ',
      'a\nb',
      '\u202egpj.exe',
      '<img src=x>',
      '%2e%2e',
      'a\\b',
      '...',
      '-rf',
      'x'.repeat(255),
    ];
    const latin1 = (name: string) => Buffer.from(name).toString('latin1');
    const files = Object.fromEntries(names.map((name) => [`workspace/${latin1(name)}`, { content: name }]));
    const { id } = await save({
      ...files,
      'workspace/\xff\xfe\x41': { content: 'bytes' },
      'workspace/\xc3': { content: 'c3' },
    });
    const listed = await list(id, { first: 100 });
    expect(new Set(namesOf(listed))).toEqual(new Set([...names, '\\xff\\xfeA', '\\xc3']));
    for (const name of names) expect(await find(id, name)).toMatchObject({ text: name });
    expect(await find(id, '\\xff\\xfeA')).toMatchObject({ text: 'bytes' });
  });
});

it('returns the text of text files of up to 1 MiB', async () => {
  const { id } = await save({
    'workspace/bom': { content: '\ufeffhello' },
    'workspace/empty': { content: '' },
    'workspace/binary': { content: 'a\0b' },
    'workspace/latin1': { content: Buffer.from('caf\xe9', 'latin1') },
    'workspace/limit': { content: 'x'.repeat(65_536), repeat: 16 },
    'workspace/larger': { content: 'x'.repeat(65_537), repeat: 16 },
  });
  const textOf = async (path: string) => (await find(id, path)).text;
  expect(await textOf('bom')).toBe('\ufeffhello');
  expect(await textOf('empty')).toBe('');
  expect(await textOf('limit')).toHaveLength(1_048_576);
  for (const path of ['binary', 'latin1', 'larger']) expect(await textOf(path)).toBeNull();
  const aliases = Array.from({ length: 17 }, (_, n) => `a${n}: file(path: "limit") { text }`).join(' ');
  const { errors } = await graphql(test, test.adminToken, `query($id: ID!) { session(id: $id) { ${aliases} } }`, {
    id,
  });
  expect(errors?.[0].extensions.code).toBe('LIMIT_EXCEEDED');
});

describe('permissions', () => {
  it('shows nothing to another organization, or without the permission to view sessions', async () => {
    const { id, checkpoint } = await save({ 'workspace/a.txt': { content: 'ours' } });
    const other = await makeOrganization(test, 'Other');
    expect((await graphql(test, other.token, fileDocument, { id, path: 'a.txt' })).data.session).toBeNull();
    const theirs = await createSession(test, {}, other.token);
    const checkpointId = `checkpoint-${checkpoint.id}`;
    for (const variables of [
      { checkpointId },
      { checkpointId: `checkpoint-${newId()}` },
      { checkpointId: 'nonsense' },
    ]) {
      expect(await find(theirs, 'a.txt', variables, other.token)).toMatchObject({ code: 'NOT_FOUND' });
      expect(await list(theirs, variables, other.token)).toMatchObject({ code: 'NOT_FOUND' });
    }
    const mine = await createSession(test);
    expect(await find(mine, 'a.txt', { checkpointId })).toMatchObject({ code: 'NOT_FOUND' });
    const cursor = (await list(id)).edges[0].cursor;
    expect(await list(mine, { after: cursor })).toMatchObject({ code: 'BAD_CURSOR' });
    const { roleId } = await makeRole(test, 'ORGANIZATION', ['MANAGE_ORG_SESSIONS']);
    const { token } = await makeUser(test, { roleId });
    const refused = await graphql(test, token, fileDocument, { id, path: 'a.txt' });
    expect(refused.data?.session?.file ?? null).toBeNull();
  });
});

it('refuses a damaged checkpoint, and reads the one before', async () => {
  const { id, checkpoint } = await save({ 'workspace/a.txt': { content: 'good' } });
  const bad = await saveWorkspace(test, id, { files: { 'workspace/a.txt': { content: 'bad' } } });
  for (const segmentId of bad.segmentIds) await damageSegment(test, segmentId);
  const refusal = { code: 'INVALID_STATE', message: expect.stringContaining('damaged') };
  expect(await list(id)).toMatchObject(refusal);
  expect(await find(id, 'a.txt')).toMatchObject(refusal);
  expect(await find(id, 'a.txt', { checkpointId: `checkpoint-${checkpoint.id}` })).toMatchObject({ text: 'good' });
});
