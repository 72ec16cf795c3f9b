import { describe, expect, it } from 'vitest';
import { say } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeUser } from './rest-app.ts';

const test = useApp({ rateLimitRest: 1_000 });

/** An organization with a playbook, a session and a user: readable paths, with the key that reads them. */
async function readable() {
  const organizationId = await makeOrganization(test);
  const { v1Key, v3Token } = await makeUser(test, organizationId, 'org_admin');
  const home = `/v3/organizations/${organizationId}`;
  const playbook = await call(test, v1Key, 'POST', '/v1/playbooks', { title: 'Ship', body: 'Carefully.' });
  const session = await call(test, v3Token, 'POST', `${home}/sessions`, { prompt: 'say hello' });
  const { playbook_id } = playbook.body;
  const { session_id } = session.body;
  return { organizationId, home, v1Key, v3Token, playbookId: playbook_id, sessionId: session_id };
}

describe('a response to a read', () => {
  it.each([
    ['v1', 'v1Key', (at: Awaited<ReturnType<typeof readable>>) => `/v1/playbooks/${at.playbookId}`],
    ['v3', 'v3Token', (at: Awaited<ReturnType<typeof readable>>) => `${at.home}/sessions/${at.sessionId}`],
    ['v3, a short list', 'v3Token', (at: Awaited<ReturnType<typeof readable>>) => `${at.home}/playbooks`],
  ] as const)('has a validator, and no body for a client that has it: %s', async (_version, key, pathOf) => {
    const at = await readable();
    const path = pathOf(at);
    const whole = await call(test, at[key], 'GET', path);
    const etag = whole.headers.get('etag') ?? '';
    expect(etag).toMatch(/^W\/"[\w-]{22}"$/);
    expect(whole.headers.get('cache-control')).toBe('private, no-cache');
    expect(whole.headers.get('vary')).toContain('Authorization');

    for (const condition of [etag, etag.replace('W/', ''), `"other", ${etag}`, '*']) {
      const again = await call(test, at[key], 'GET', path, undefined, { 'if-none-match': condition });
      expect({ status: again.status, body: again.body }).toEqual({ status: 304, body: null });
      for (const name of ['etag', 'cache-control', 'vary']) {
        expect(again.headers.get(name), name).toBe(whole.headers.get(name));
      }
      expect(again.headers.get('ratelimit-limit')).toBe('1000');
      expect(again.headers.get('content-type')).toBe(null);
    }
    for (const other of ['"other"', etag.toUpperCase(), 'other', '']) {
      const again = await call(test, at[key], 'GET', path, undefined, { 'if-none-match': other });
      expect({ status: again.status, body: again.body }).toEqual({ status: 200, body: whole.body });
    }
  });

  it('has another validator after a change', async () => {
    const { v3Token, home, sessionId } = await readable();
    const read = (condition: string) =>
      call(test, v3Token, 'GET', `${home}/sessions/${sessionId}/tags`, undefined, { 'if-none-match': condition });
    const before = (await read('')).headers.get('etag') ?? '';
    expect((await read(before)).status).toBe(304);
    await call(test, v3Token, 'PUT', `${home}/sessions/${sessionId}/tags`, { tags: ['new'] });
    const after = await read(before);
    expect({ status: after.status, body: after.body }).toEqual({ status: 200, body: { tags: ['new'] } });
    expect(after.headers.get('etag')).not.toBe(before);
  });

  it('is checked again for another key: a validator grants no access', async () => {
    const { v3Token, home, sessionId } = await readable();
    const { headers } = await call(test, v3Token, 'GET', `${home}/sessions/${sessionId}`);
    const other = await readable();
    const etag = headers.get('etag') ?? '';
    const conditional = { 'if-none-match': etag };
    expect(
      await call(test, other.v3Token, 'GET', `${home}/sessions/${sessionId}`, undefined, conditional),
    ).toMatchObject({
      status: 403,
    });
    expect(await call(test, null, 'GET', `${home}/sessions/${sessionId}`, undefined, conditional)).toMatchObject({
      status: 401,
    });
  });
});

it('has no validator after a write or a refusal', async () => {
  const { v3Token, home } = await readable();
  const made = await call(test, v3Token, 'POST', `${home}/playbooks`, { title: 'Ship', body: 'Now.' });
  const refused = await call(test, v3Token, 'GET', `${home}/playbooks/nothing`);
  expect([made.status, refused.status]).toEqual([200, 404]);
  for (const { headers } of [made, refused]) {
    expect(headers.get('etag')).toBe(null);
    expect(headers.get('cache-control')).toBe('no-store');
  }
});

it('has no validator if it is streamed', async () => {
  const { v1Key, sessionId } = await readable();
  for (const path of [`/v1/sessions/${sessionId}`, '/v1/playbooks']) {
    const { status, headers } = await call(test, v1Key, 'GET', path, undefined, { 'if-none-match': '*' });
    expect({ path, status, etag: headers.get('etag') }).toEqual({ path, status: 200, etag: null });
  }
});

it('of a session’s messages depends on Accept, with the header Vary', async () => {
  const { v3Token, home, sessionId } = await readable();
  await say(test, sessionId.replace('devin-', ''), 'hello');
  const { status, headers } = await call(test, v3Token, 'GET', `${home}/sessions/${sessionId}/messages`);
  expect({ status, vary: headers.get('vary') }).toEqual({
    status: 200,
    vary: 'Authorization, Accept, Accept-Encoding',
  });
});

describe('HEAD', () => {
  const head = async (path: string, token: string, encoding: string) => {
    const send = (method: string) =>
      fetch(test.url + path, { method, headers: { authorization: `Bearer ${token}`, 'accept-encoding': encoding } });
    const [get, answer] = [await send('GET'), await send('HEAD')];
    const of = ({ status, headers }: Response) => ({
      status,
      ...Object.fromEntries(
        [...headers].filter(([name]) => !/^(?:date|x-request-id|ratelimit-.*|keep-alive|connection)$/.test(name)),
      ),
    });
    expect(await answer.text()).toBe('');
    return { get: of(get), head: of(answer), body: await get.text() };
  };

  it.each(['identity', 'gzip'])('has the headers of GET, including the length: %s', async (encoding) => {
    const { v1Key, v3Token, home, sessionId, playbookId } = await readable();
    const tags = await head(`${home}/sessions/${sessionId}/tags`, v3Token, encoding);
    expect(tags.head).toEqual(tags.get);
    expect(tags.head).toMatchObject({ status: 200, 'content-length': String(tags.body.length) });
    const playbook = await head(`/v1/playbooks/${playbookId}`, v1Key, encoding);
    expect(playbook.head).toEqual(playbook.get);
  });

  it('reports a long response as compressed, without its length, which is unknown', async () => {
    const { v3Token, home } = await readable();
    const body = 'Carefully. '.repeat(200);
    await call(test, v3Token, 'POST', `${home}/playbooks`, { title: 'Long', body });
    const { head: headOnly, get } = await head(`${home}/playbooks`, v3Token, 'gzip');
    const { 'content-length': length, ...others } = get as Record<string, unknown>;
    expect(headOnly).toEqual(others);
    expect(headOnly).toMatchObject({ 'content-encoding': 'gzip', etag: expect.stringMatching(/^W\//) });
    expect(Number(length)).toBeLessThan(1_024);
  });

  it('counts as one request, and is 404 if GET is', async () => {
    const { v3Token, home } = await readable();
    const answer = await call(test, v3Token, 'HEAD', `${home}/playbooks/nothing`);
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 404, body: null });
    expect(Number(answer.headers.get('ratelimit-remaining'))).toBeLessThan(1_000);
  });
});

it('treats a path with a trailing slash like one without', async () => {
  const { v3Token, home, sessionId } = await readable();
  const [bare, slashed] = await Promise.all(
    ['', '/'].map((end) => call(test, v3Token, 'GET', `${home}/sessions/${sessionId}/tags${end}`)),
  );
  expect(slashed?.status).toBe(200);
  expect(slashed?.headers.get('etag')).toBe(bare?.headers.get('etag'));
});

describe('OPTIONS', () => {
  it.each([
    ['/v1/sessions', 'GET, HEAD, POST, OPTIONS'],
    ['/v1/session/', 'GET, HEAD, POST, OPTIONS'],
    ['/v1/secrets/x', 'DELETE, OPTIONS'],
    ['/v3/self', 'GET, HEAD, OPTIONS'],
    ['/v3/organizations/x/playbooks/y', 'GET, HEAD, PUT, DELETE, OPTIONS'],
    ['/attachments/x/y', 'GET, HEAD, OPTIONS'],
    ['/openapi/v3.json', 'GET, HEAD, OPTIONS'],
    ['/graphql', 'GET, POST, OPTIONS'],
    ['/healthz', 'GET, HEAD, OPTIONS'],
  ])('lists without a key the methods of %s', async (path, allow) => {
    const answer = await call(test, null, 'OPTIONS', path);
    const { status, body, headers } = answer;
    expect({ status, body, allow: headers.get('allow') }).toEqual({ status: 204, body: null, allow });
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('is 404 for an unknown path', async () => {
    for (const path of ['/v1/nothing', '/v3/nothing', '/v9', '/openapi/v9.json']) {
      expect({ path, status: (await call(test, null, 'OPTIONS', path)).status }).toEqual({ path, status: 404 });
    }
  });
});
