import { once } from 'node:events';
import { get, type IncomingMessage, request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { say } from '../support/sessions.ts';
import { multipart, sendParts } from '../support/uploads.ts';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeUser } from './rest-app.ts';

const test = useApp();

/** A response as it is on the wire, without decompression. */
async function fetchRaw(path: string, token: string, headers: Record<string, string> = {}, body?: string) {
  const url = path.startsWith('http') ? path : test.url + path;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const authorization = { authorization: `Bearer ${token}` };
    const options = { method: body === undefined ? 'GET' : 'POST', headers: { ...authorization, ...headers } };
    request(url, options, resolve).on('error', reject).end(body);
  });
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return { status: answer.statusCode, headers: answer.headers, bytes: Buffer.concat(chunks) };
}

const text = 'Carefully, one step after another. '.repeat(100);

/** An organization with a long and a short playbook and a session. */
async function world() {
  const organizationId = await makeOrganization(test);
  const { v1Key, v3Token } = await makeUser(test, organizationId, 'org_admin');
  const home = `/v3/organizations/${organizationId}`;
  const make = async (body: string) =>
    (await call(test, v3Token, 'POST', `${home}/playbooks`, { title: 'Ship', body })).body.playbook_id as string;
  const { body } = await call(test, v3Token, 'POST', `${home}/sessions`, { prompt: 'say hello' });
  const [long, short] = [await make(text), await make('Go.')];
  return { home, v1Key, v3Token, long, short, sessionId: body.session_id as string };
}

describe('a JSON response above the minimum length', () => {
  it.each(['gzip', 'gzip, deflate, br', 'br;q=1, GZIP;q=0.5', '*', 'deflate, *;q=0.1'])(
    'comes as gzip to who takes %s, and is the same',
    async (encoding) => {
      const { home, v3Token, long } = await world();
      const plain = await fetchRaw(`${home}/playbooks/${long}`, v3Token);
      const packed = await fetchRaw(`${home}/playbooks/${long}`, v3Token, { 'accept-encoding': encoding });
      expect(packed.headers).toMatchObject({
        'content-encoding': 'gzip',
        'content-type': 'application/json',
        'content-length': String(packed.bytes.byteLength),
        etag: plain.headers.etag,
        vary: plain.headers.vary,
      });
      expect(plain.headers.vary).toBe('Authorization, Accept-Encoding');
      expect(plain.headers['content-encoding']).toBe(undefined);
      expect(packed.bytes.byteLength).toBeLessThan(plain.bytes.byteLength / 2);
      expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true);
      expect(JSON.parse(plain.bytes.toString()).body).toBe(text);
    },
  );

  it.each(['', 'identity', 'br', 'gzip;q=0', 'gzip;q=0, *', '*;q=0'])(
    'stays as it is for who takes %j',
    async (encoding) => {
      const { home, v3Token, long } = await world();
      const { headers, bytes } = await fetchRaw(`${home}/playbooks/${long}`, v3Token, { 'accept-encoding': encoding });
      expect(headers['content-encoding']).toBe(undefined);
      expect(headers['content-length']).toBe(String(bytes.byteLength));
      expect(JSON.parse(bytes.toString()).body).toBe(text);
    },
  );

  it('is 304 for a client that has it compressed', async () => {
    const { home, v3Token, long } = await world();
    const gzip = { 'accept-encoding': 'gzip' };
    const { headers } = await fetchRaw(`${home}/playbooks/${long}`, v3Token, gzip);
    const known = { ...gzip, 'if-none-match': headers.etag as string };
    const again = await fetchRaw(`${home}/playbooks/${long}`, v3Token, known);
    expect({ status: again.status, length: again.bytes.byteLength }).toEqual({ status: 304, length: 0 });
    expect(again.headers).toMatchObject({ etag: headers.etag, vary: headers.vary });
    expect(again.headers['content-encoding']).toBe(undefined);
  });
});

it('keeps short responses and refusals uncompressed', async () => {
  const { home, v3Token, short } = await world();
  for (const name of [short, 'nothing']) {
    const { headers, bytes } = await fetchRaw(`${home}/playbooks/${name}`, v3Token, { 'accept-encoding': 'gzip' });
    expect(headers['content-encoding']).toBe(undefined);
    expect(headers['content-length']).toBe(String(bytes.byteLength));
    expect(headers.vary).toContain('Accept-Encoding');
    expect(JSON.parse(bytes.toString())).toBeTypeOf('object');
  }
});

describe('a streamed response', () => {
  it('is compressed while it is written', async () => {
    const { v1Key, sessionId } = await world();
    const words = Array.from({ length: 300 }, (_, n) => `message ${n} of a long talk`);
    await say(test, sessionId.replace('devin-', ''), ...words);
    const plain = await fetchRaw(`/v1/sessions/${sessionId}`, v1Key);
    const packed = await fetchRaw(`/v1/sessions/${sessionId}`, v1Key, { 'accept-encoding': 'gzip' });
    expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Authorization, Accept-Encoding' });
    expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true);
    expect(JSON.parse(plain.bytes.toString()).messages).toHaveLength(301);
  });

  it('stays uncompressed if it is short', async () => {
    const { v1Key } = await world();
    const { headers, bytes } = await fetchRaw('/v1/knowledge', v1Key, { 'accept-encoding': 'gzip' });
    expect(headers['content-encoding']).toBe(undefined);
    expect(JSON.parse(bytes.toString())).toEqual({ folders: [], knowledge: [] });
  });

  it('ends for a client that disconnects in the middle, without an effect on others', async () => {
    const { v1Key, sessionId } = await world();
    const noise = Array.from({ length: 200 }, () =>
      Buffer.from(crypto.getRandomValues(new Uint8Array(16_384))).toString('base64'),
    );
    await say(test, sessionId.replace('devin-', ''), ...noise);
    for (let n = 0; n < 3; n++) {
      const answer = await new Promise<IncomingMessage>((resolve) => {
        const headers = { authorization: `Bearer ${v1Key}`, 'accept-encoding': 'gzip' };
        get(`${test.url}/v1/sessions/${sessionId}`, { headers }, resolve);
      });
      expect(answer.headers['content-encoding']).toBe('gzip');
      await new Promise((resolve) => answer.once('data', resolve));
      answer.destroy();
    }
    const whole = await fetchRaw(`/v1/sessions/${sessionId}`, v1Key, { 'accept-encoding': 'gzip' });
    expect(JSON.parse(gunzipSync(whole.bytes).toString()).messages).toHaveLength(201);
  });
});

it('event streams are never compressed: each event arrives when it occurs', async () => {
  const { home, v3Token, sessionId } = await world();
  const headers = { authorization: `Bearer ${v3Token}`, accept: 'text/event-stream', 'accept-encoding': 'gzip' };
  const answer = await new Promise<IncomingMessage>((resolve) => {
    get(`${test.url}${home}/sessions/${sessionId}/messages`, { headers }, resolve);
  });
  expect(answer.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
  });
  expect([answer.headers['content-encoding'], answer.headers.etag]).toEqual([undefined, undefined]);
  let received = '';
  answer.setEncoding('utf8').on('data', (part: string) => {
    received += part;
    answer.emit('more');
  });
  for (const word of ['first', 'second']) {
    await say(test, sessionId.replace('devin-', ''), word);
    while (!received.includes(`"message":"${word}"`)) await once(answer, 'more');
  }
  answer.destroy();
});

it('files stay uncompressed, even JSON files', async () => {
  const { home, v3Token } = await world();
  const content = JSON.stringify({ text });
  const part = { disposition: 'name="file"; filename="notes.json"', type: 'application/json', content };
  const { body } = await sendParts(test, v3Token, `${home}/attachments`, multipart([part]));
  const { headers } = await fetch(`${test.url}${new URL(body.url).pathname}`, {
    headers: { authorization: `Bearer ${v3Token}` },
    redirect: 'manual',
  });
  const file = await fetchRaw(headers.get('location') ?? '', v3Token, { 'accept-encoding': 'gzip' });
  expect(file.status).toBe(200);
  expect(file.headers['content-encoding']).toBe(undefined);
  expect(file.bytes.toString()).toBe(content);
});

describe('GraphQL', () => {
  const ask = (query: string, accept: string) =>
    fetchRaw(
      '/graphql',
      test.adminToken,
      { 'content-type': 'application/json', 'accept-encoding': 'gzip', accept },
      JSON.stringify({ query }),
    );
  const long = '{ __schema { types { name description } } }';

  it.each(['application/json', 'application/graphql-response+json'])('is compressed as %s', async (accept) => {
    const { headers, bytes } = await ask(long, accept);
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', 'content-length': String(bytes.byteLength) });
    expect(headers['content-type']).toContain(accept);
    expect(JSON.parse(gunzipSync(bytes).toString()).data.__schema.types.length).toBeGreaterThan(50);
  });

  it('stays uncompressed if the result is short', async () => {
    const { headers, bytes } = await ask('{ __typename }', 'application/json');
    expect(headers['content-encoding']).toBe(undefined);
    expect(JSON.parse(bytes.toString()).data).toEqual({ __typename: 'Query' });
  });

  it('is never compressed as an event stream', async () => {
    const { headers, bytes } = await ask(long, 'text/event-stream');
    expect(headers['content-encoding']).not.toBe('gzip');
    expect(bytes.toString()).toContain('event: complete');
  });
});

it('compresses the OpenAPI document of a version', async () => {
  const { headers, bytes } = await fetchRaw('/openapi/v3.json', '', { 'accept-encoding': 'gzip' });
  expect(headers).toMatchObject({ 'content-encoding': 'gzip', etag: expect.stringMatching(/^W\//) });
  expect(JSON.parse(gunzipSync(bytes).toString()).openapi).toBe('3.1.0');
});
