import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, makeOrganization, makeUser, startApp, type TestApp } from './rest-app.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ rateLimitRest: 100_000, corsOrigins: ['https://pages.example'] });
});
afterAll(() => test.close());

/** An organization with a session, a playbook that is long enough to be compressed, and keys that have been seen. */
async function world() {
  const organizationId = await makeOrganization(test);
  const { v1Key, v3Token } = await makeUser(test, organizationId, 'org_admin');
  const home = `/v3/organizations/${organizationId}`;
  const { body } = await call(test, v3Token, 'POST', `${home}/sessions`, { prompt: 'say hello', tags: ['a'] });
  await call(test, v1Key, 'POST', '/v1/playbooks', { title: 'Ship', body: 'Carefully. '.repeat(200) });
  return { home, v1Key, v3Token, sessionId: body.session_id as string };
}

/** What one way answers, as far as it does not differ from one request to the next. */
async function told(response: Response) {
  const passing = /^(?:date|connection|keep-alive|transfer-encoding|ratelimit-(?:remaining|reset))$/;
  const headers = [...response.headers].filter(([name]) => !passing.test(name));
  return { status: response.status, headers: Object.fromEntries(headers), body: await response.text() };
}

/** Whether a request, which Node's `fetch` sends, was answered by the short way; and what it was answered. */
async function send(path: string, headers: Record<string, string>) {
  const { fetch: whole } = test.app;
  let isShort = true;
  test.app.fetch = (...asked) => {
    isShort = false;
    return whole(...asked);
  };
  try {
    const said = await told(await fetch(test.url + path, { headers }));
    return { isShort, ...said };
  } finally {
    test.app.fetch = whole;
  }
}

it('answers by the short way what it answers by the long one', async () => {
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
      // A slash at the end, which makes no difference, takes the long way.
      const [short, long] = [await send(path, headers), await send(path.replace(/(?=\?|$)/, '/'), headers)];
      expect({ path, short: short.isShort, long: long.isShort }).toEqual({ path, short: true, long: false });
      expect({
        path,
        ...each,
        ...short,
        isShort: null,
        body: short.body.replaceAll(/"instance":"[^"]*"/g, ''),
      }).toEqual({
        path,
        ...each,
        ...long,
        isShort: null,
        body: long.body.replaceAll(/"instance":"[^"]*"/g, ''),
      });
    }
  }
});

it('leaves to the long way what is unusual, or not by a key that was seen lately', async () => {
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
    expect({ each, isShort: answer.isShort, status: answer.status }).toEqual({ each, isShort: false, status });
  }
});

it('takes no two headers of one name for one', async () => {
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
