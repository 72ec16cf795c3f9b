import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { call, makeOrganization, makeUser, startApp, type TestApp } from './rest-app.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ rateLimitRest: 100_000, corsOrigins: ['https://pages.example'] });
});
afterAll(() => test.close());

/** An organization with a session, a playbook long enough for compression, and cached keys. */
async function world() {
  const organizationId = await makeOrganization(test);
  const { v1Key, v3Token } = await makeUser(test, organizationId, 'org_admin');
  const home = `/v3/organizations/${organizationId}`;
  const { body } = await call(test, v3Token, 'POST', `${home}/sessions`, { prompt: 'say hello', tags: ['a'] });
  await call(test, v1Key, 'POST', '/v1/playbooks', { title: 'Ship', body: 'Carefully. '.repeat(200) });
  return { home, v1Key, v3Token, sessionId: body.session_id as string };
}

/** The parts of a response that do not change between equal requests. */
async function readAnswer(response: Response) {
  const ofConnection = /^(?:date|connection|keep-alive|transfer-encoding|ratelimit-(?:remaining|reset))$/;
  const headers = [...response.headers].filter(([name]) => !ofConnection.test(name));
  return { status: response.status, headers: Object.fromEntries(headers), body: await response.text() };
}

/** The parts that differ between equal responses: ids, times, and values that contain the URL. */
const passing = /"instance":"[^"]*"|[0-9a-f]{32}|\b\d{10,13}\b|\d{4}-\d\d-\d\dT[\d:.+-]+Z?/g;

/** Sends a request with Node's `fetch`; returns its response, and true if the fast path answered it. */
async function send(
  path: string,
  headers: Record<string, string>,
  body: string | Uint8Array<ArrayBuffer> | null = null,
) {
  const { fetch: originalFetch } = test.app;
  let isFastPath = true;
  test.app.fetch = (...args) => {
    isFastPath = false;
    return originalFetch(...args);
  };
  try {
    const answer = await readAnswer(
      await fetch(test.url + path, { headers, ...(body === null ? {} : { method: 'POST', body }) }),
    );
    return { isFastPath, ...answer };
  } finally {
    test.app.fetch = originalFetch;
  }
}

it('the fast path returns the same as the normal path', async () => {
  const at = await world();
  const paths: [path: string, token: string][] = [
    [`${at.home}/sessions`, at.v3Token],
    [`${at.home}/sessions?first=1&tags=a&tags=b%20c&is_archived=false`, at.v3Token],
    [`${at.home}/sessions?first=0`, at.v3Token],
    [`${at.home}/sessions?first=x&after=none`, at.v3Token],
    [`${at.home}/sessions/${at.sessionId}`, at.v3Token],
    [`${at.home}/sessions/devin-${at.sessionId}/tags`, at.v3Token],
    [`${at.home}/sessions/none`, at.v3Token],
    [`${at.home}/playbooks`, at.v3Token],
    ['/v3/organizations/org-none/sessions', at.v3Token],
    ['/v3/self', at.v3Token],
    ['/v3/enterprise/sessions', at.v3Token],
    ['/v1/sessions?limit=1', at.v1Key],
    [`/v1/sessions/${at.sessionId}`, at.v1Key],
    ['/v1/playbooks', at.v1Key],
  ];
  const etag = (await call(test, at.v3Token, 'GET', `${at.home}/sessions/${at.sessionId}`)).headers.get('etag') ?? '';
  await call(test, at.v1Key, 'GET', '/v1/sessions');
  const more: Record<string, string>[] = [
    {},
    { 'accept-encoding': 'gzip' },
    { 'accept-encoding': 'identity', origin: 'https://pages.example' },
    { 'if-none-match': etag, origin: 'https://elsewhere.example' },
    { 'if-none-match': '*' },
  ];
  for (const [path, token] of paths) {
    for (const each of more) {
      const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'identity', ...each };
      // A trailing slash, which makes no difference, takes the normal path.
      const [fast, full] = [await send(path, headers), await send(path.replace(/(?=\?|$)/, '/'), headers)];
      expect({ path, fast: fast.isFastPath, full: full.isFastPath }).toEqual({ path, fast: true, full: false });
      expect({
        path,
        ...each,
        ...fast,
        isFastPath: null,
        body: fast.body.replaceAll(passing, ''),
      }).toEqual({
        path,
        ...each,
        ...full,
        isFastPath: null,
        body: full.body.replaceAll(passing, ''),
      });
    }
  }
});

it('the fast path accepts JSON like the normal path', async () => {
  const at = await world();
  const messages = `${at.home}/sessions/${at.sessionId}/messages`;
  const bodies: [path: string, token: string, body: string | Uint8Array<ArrayBuffer>][] = [
    [messages, at.v3Token, '{"message":"Go on."}'],
    [messages, at.v3Token, '{"message":"Größer 🎈","attachment_urls":null}'],
    [messages, at.v3Token, '{"message":"x","message_as_user_id":"nobody"}'],
    [messages, at.v3Token, '{"message":"see https://files.example/attachments/a/b.txt"}'],
    [messages, at.v3Token, '{"message":""}'],
    [messages, at.v3Token, '{"message":7}'],
    [messages, at.v3Token, '{"message":"\\ud800"}'],
    [messages, at.v3Token, '{}'],
    [messages, at.v3Token, '[]'],
    [messages, at.v3Token, ''],
    [messages, at.v3Token, '{"message":'],
    [messages, at.v3Token, new Uint8Array([0x22, 0xff, 0x22])],
    [messages, at.v3Token, '['.repeat(200) + ']'.repeat(200)],
    [`${messages}?none=1`, at.v3Token, '{"message":"Go on."}'],
    [messages.replace(at.sessionId, 'none'), at.v3Token, '{"message":"Go on."}'],
    [`${at.home}/sessions`, at.v3Token, '{"prompt":"say hello","tags":["a"]}'],
    [`${at.home}/sessions`, at.v3Token, '{"prompt":"say hello","max_acu_limit":-1}'],
    [`${at.home}/knowledge/notes`, at.v3Token, '{"name":"Style","body":"Short.","trigger":"Always"}'],
    ['/v1/sessions', at.v1Key, '{"prompt":"say hello","title":"Hello"}'],
    ['/v1/sessions', at.v1Key, '{"prompt":5}'],
    [`/v1/sessions/${at.sessionId}/message`, at.v1Key, '{"message":"Go on."}'],
  ];
  await call(test, at.v1Key, 'GET', '/v1/sessions');
  for (const [path, token, body] of bodies) {
    for (const more of [{}, { origin: 'https://pages.example', 'accept-encoding': 'gzip' }]) {
      const headers = { 'authorization': `Bearer ${token}`, 'content-type': 'application/json', ...more };
      const [fast, full] = [await send(path, headers, body), await send(path.replace(/(?=\?|$)/, '/'), headers, body)];
      const what = { path, body: body.toString().slice(0, 60) };
      expect({ ...what, fast: fast.isFastPath, full: full.isFastPath }).toEqual({ ...what, fast: true, full: false });
      const shown = (answer: typeof fast) => ({
        ...what,
        ...answer,
        isFastPath: null,
        body: answer.body.replaceAll(passing, ''),
      });
      expect(shown(fast)).toEqual(shown(full));
      expect(fast.status).toBeLessThan(500);
    }
  }
  const authorization = `Bearer ${at.v3Token}`;
  const sent = (await call(test, at.v3Token, 'GET', messages)).body.items.map(({ message }: any) => message);
  expect(sent.filter((text: string) => text === 'Go on.')).toHaveLength(12);
  expect(sent.filter((text: string) => text === 'Größer 🎈')).toHaveLength(4);
  const large = JSON.stringify({ message: 'x'.repeat(1_100_000) });
  expect(await send(messages, { authorization }, large)).toMatchObject({ isFastPath: false, status: 413 });
});

it('survives a connection that ends within its body, and serves the next', async () => {
  const at = await world();
  const path = `${at.home}/sessions/${at.sessionId}/messages`;
  await call(test, at.v3Token, 'GET', path);
  const { hostname, port } = new URL(test.url);
  const head = `POST ${path} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${at.v3Token}\r\n`;
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.end(`${head}content-length: 1000\r\n\r\n{"message":"half`);
  await once(socket.resume(), 'close');
  const body = '{"message":"whole"}';
  const two = connect(Number(port), hostname);
  const request = `${head}content-length: ${body.length}\r\n`;
  two.write(`${request}\r\n${body}${request}connection: close\r\n\r\n${body}`);
  const chunks: Buffer[] = [];
  for await (const chunk of two) chunks.push(chunk as Buffer);
  expect(
    Buffer.concat(chunks)
      .toString()
      .match(/HTTP\/1.1 200 OK/g),
  ).toHaveLength(2);
  const { items } = (await call(test, at.v3Token, 'GET', path)).body;
  expect(items.map(({ message }: any) => message)).toEqual(['say hello', 'whole', 'whole']);
});

it('accepts a complete request of a client that disconnects after its last byte', async () => {
  const at = await world();
  const path = `${at.home}/sessions/${at.sessionId}/messages`;
  await call(test, at.v3Token, 'GET', path);
  const { hostname, port } = new URL(test.url);
  const sent: string[] = [];
  for (const suffix of ['', '/'])
    for (let n = 0; n < 5; n += 1) {
      const message = `message ${n} of ${suffix} `.padEnd(n * 30_000, '.');
      const body = JSON.stringify({ message });
      const socket = connect(Number(port), hostname);
      // Forces a statement for the key: the client disconnects before the body is read.
      test.app.services.keyCache.invalidate();
      socket.end(
        `POST ${path}${suffix} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${at.v3Token}\r\n` +
          `content-length: ${body.length}\r\n\r\n${body}`,
      );
      await once(socket.resume(), 'close');
      sent.push(message);
    }
  const summaryOf = (messages: string[]) => messages.map((text) => `${text.slice(0, 20)} ${text.length}`).toSorted();
  await vi.waitFor(async () => {
    const { items } = (await call(test, at.v3Token, 'GET', `${path}?first=100`)).body;
    expect(summaryOf(items.slice(1).map(({ message }: any) => message))).toEqual(summaryOf(sent));
  }, 10_000);
});

it('leaves unusual requests, and keys that are not cached, to the normal path', async () => {
  const { home, v1Key, v3Token, sessionId } = await world();
  const path = `${home}/sessions/${sessionId}`;
  const authorization = `Bearer ${v3Token}`;
  await call(test, v3Token, 'GET', path);
  const cases: [path: string, headers: Record<string, string>, status: number][] = [
    [path, {}, 401],
    [path, { authorization: `Bearer cog_${'a'.repeat(40)}` }, 401],
    [path, { authorization: `Bearer ${v1Key}` }, 401],
    [path, { authorization: v3Token }, 401],
    [path.replace('sessions', 'session%73'), { authorization }, 200],
    [`${path}/messages`, { authorization }, 200],
    [`${path}/nothing`, { authorization }, 404],
    ['/v9/self', { authorization }, 404],
  ];
  for (const [each, headers, status] of cases) {
    const answer = await send(each, headers);
    expect({ each, isFastPath: answer.isFastPath, status: answer.status }).toEqual({ each, isFastPath: false, status });
  }
});

it('refuses duplicate headers', async () => {
  const { home, v3Token, sessionId } = await world();
  const path = `${home}/sessions/${sessionId}`;
  await call(test, v3Token, 'GET', path);
  const { hostname, port } = new URL(test.url);
  const socket = connect(Number(port), hostname);
  const token = `authorization: Bearer ${v3Token}\r\n`;
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\n${token}${token}connection: close\r\n\r\n`);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  expect(Buffer.concat(chunks).toString().split('\r\n')[0]).toBe('HTTP/1.1 401 Unauthorized');
});
