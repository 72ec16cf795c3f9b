import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schema } from '../../src/api/graphql/schema/index.ts';
import { loadTrustedDocuments } from '../../src/api/graphql/trusted-documents.ts';
import { call, startApp, type TestApp } from '../support/app.ts';
import { say } from '../support/sessions.ts';
import { connect, followOperation, rawSocket } from '../support/sockets.ts';
import { transportNames, transports } from '../support/transports.ts';

const viewerQuery = 'query Who { viewer { principalType } }';
const one = 'query One($id: ID!) { session(id: $id) { title } }';
const messages = 'subscription Follow($id: ID!) { sessionMessages(sessionId: $id) { node { body } } }';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const manifest = { who1: viewerQuery, '0c7a': one, follow: messages };

let directory: string;
let mixed: TestApp;
let strict: TestApp;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'switchyard-manifest-'));
  const path = await write('persisted.json', manifest);
  mixed = await startApp({ trustedDocuments: { path, isOnly: false } });
  strict = await startApp({ trustedDocuments: { path, isOnly: true } });
});
afterAll(async () => {
  await mixed.close();
  await strict.close();
  await rm(directory, { recursive: true, force: true });
});

async function write(name: string, content: unknown): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

/** Through REST: a GraphQL text would be refused. */
async function startSession(): Promise<string> {
  const { body } = await call(strict, strict.v1Key, 'POST', '/v1/sessions', { prompt: 'say hello' });
  return body.session_id.replace('devin-', '');
}

/** All ways to name a document. */
const named: [string, Record<string, unknown>][] = [
  ['documentId', { documentId: 'who1' }],
  ['the hash of its text as documentId', { documentId: `sha256:${sha256(viewerQuery)}` }],
  ['doc_id, as Relay does', { doc_id: 'who1' }],
  ['id, as Relay does', { id: 'who1' }],
  ['Apollo’s hash', { extensions: { persistedQuery: { version: 1, sha256Hash: sha256(viewerQuery) } } }],
];

describe.each(transportNames)('by %s', (name) => {
  const send = transports[name];

  it.each(named)('accepts a document named by %s', async (_way, naming) => {
    for (const test of [mixed, strict]) {
      const { data, errors } = await send(test, test.adminToken, naming);
      expect({ data, errors }).toEqual({ data: { viewer: { principalType: 'SERVICE_USER' } }, errors: undefined });
    }
  });

  it('accepts variables', async () => {
    const id = await startSession();
    const { data } = await send(strict, strict.adminToken, { documentId: '0c7a', variables: { id } });
    expect(data).toEqual({ session: { title: 'say hello' } });
  });

  it.each([
    ['another text', { query: '{ viewer { permissions } }' }],
    ['the text of one that is trusted', { query: viewerQuery }],
    ['introspection', { query: '{ __schema { queryType { name } } }' }],
  ])('refuses %s if only trusted documents may run', async (_what, operation) => {
    const { data, errors } = await send(strict, strict.adminToken, operation);
    expect(data ?? null).toBeNull();
    expect(errors?.[0]).toMatchObject({ extensions: { code: 'PERSISTED_QUERY_ONLY' } });
    const beside = await send(mixed, mixed.adminToken, operation);
    expect(beside.errors).toBeUndefined();
  });

  it('refuses an unknown id even with a text; without a manifest, the text runs', async () => {
    const unknown = { errors: [expect.objectContaining({ extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } })] };
    expect(await send(mixed, mixed.adminToken, { documentId: 'x' })).toEqual(unknown);
    expect(await send(strict, strict.adminToken, { documentId: 'x', query: viewerQuery })).toEqual(unknown);
    const { data } = await send(mixed, mixed.adminToken, { documentId: 'x', query: viewerQuery });
    expect(data).toEqual({ viewer: { principalType: 'SERVICE_USER' } });
  });
});

it('accepts a named subscription, on a socket also without a text', async () => {
  const id = await startSession();
  const following = followOperation(connect(strict.url, strict.adminToken), {
    query: '',
    extensions: { persistedQuery: { sha256Hash: sha256(messages) } },
    variables: { id },
  });
  await say(strict, id, 'by hash');
  expect((await following.take(2)).map(({ data }) => data.sessionMessages.node.body)).toEqual(['say hello', 'by hash']);

  const socket = rawSocket(strict.url);
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: strict.adminToken } }));
  await once(socket, 'message');
  socket.send(JSON.stringify({ type: 'subscribe', id: 'a', payload: { documentId: 'follow', variables: { id } } }));
  const [first] = await once(socket, 'message');
  expect(JSON.parse(String(first))).toMatchObject({ id: 'a', type: 'next', payload: { data: {} } });
});

describe('a manifest', () => {
  const load = async (content: unknown, name = 'other.json') =>
    loadTrustedDocuments({ path: await write(name, content), isOnly: true }, schema);

  it('in Apollo’s form is accepted', async () => {
    const operations = [{ id: 'abc', name: 'Who', type: 'query', body: viewerQuery }];
    const { find, count } = await load({ format: 'apollo-persisted-query-manifest', version: 1, operations });
    expect([find('abc'), find(sha256(viewerQuery)), find('abd'), count]).toEqual([viewerQuery, viewerQuery, null, 1]);
  });

  it.each([
    ['is no JSON', '{', 'other.json is not JSON'],
    ['is of another form', [1], 'other.json must be an object of ids and documents'],
    ['has what does not parse', { ok: viewerQuery, bad: '{' }, '"bad": Syntax Error'],
    ['has what the schema has not', { bad: '{ viewer { nothing } }' }, '"bad": Cannot query field "nothing"'],
    [
      'has what is too large',
      { bad: `{ ${'viewer { permissions } '.repeat(21)} }` },
      '"bad": The operation has too many',
    ],
  ])('that %s is refused with its path', async (_what, content, message) => {
    await expect(load(content)).rejects.toThrow(message);
    await expect(load(content)).rejects.toThrow(directory);
  });

  it('that does not exist is refused with its path at the start of the service', async () => {
    const path = join(directory, 'missing.json');
    await expect(startApp({ trustedDocuments: { path, isOnly: false } })).rejects.toThrow(
      `TRUSTED_DOCUMENTS: ${path} cannot be read (ENOENT).`,
    );
  });
});
