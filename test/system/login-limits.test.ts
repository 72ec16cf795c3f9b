import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { call, startApp, type TestApp } from '../support/app.ts';
import { stopClock } from '../support/clock.ts';

const wrong = (prefix = 'cog_') => `${prefix}${'aB3'.repeat(14)}`;
const range = (count: number) => Array.from({ length: count }, (_, n) => n);
const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status);

async function attempt(test: TestApp, token: string, from: string, path = '/v3/self') {
  const body = path === '/graphql' ? { query: '{ viewer { principalType } }' } : undefined;
  return call(test, token, body ? 'POST' : 'GET', path, body, { 'x-forwarded-for': from });
}

/** Returns the close event of a socket with this token; null if it is accepted. */
async function attemptSocket(
  test: TestApp,
  token: string,
  from: string,
): Promise<{ code: number; reason: string } | null> {
  const headers = { 'x-forwarded-for': from };
  const socket = new WebSocket(`${test.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', { headers });
  onTestFinished(() => socket.terminate());
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: token } }));
  return new Promise((resolve) => {
    socket.once('message', () => resolve(null));
    socket.once('close', (code, reason) => resolve({ code, reason: String(reason) }));
  });
}

describe('behind a trusted proxy', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startApp({ trustProxy: ['loopback'], rateLimitLogin: 30 });
    stopClock(test);
  });
  afterAll(() => test.close());

  it('limits fifty wrong tokens from one address, but no valid one from any address', async () => {
    const answers = [];
    for (const _ of range(50)) answers.push(await attempt(test, wrong(), '203.0.113.1'));
    expect(statuses(answers)).toEqual([...range(30).map(() => 401), ...range(20).map(() => 429)]);
    expect(answers.at(-1)).toMatchObject({ body: { status: 429, retry_after: 50 } });
    expect(answers.at(-1)?.headers.get('retry-after')).toBe('50');
    expect((await attempt(test, test.adminToken, '203.0.113.1')).status).toBe(200);
    expect((await attempt(test, test.adminToken, '203.0.113.1', '/graphql')).status).toBe(200);
    expect(await attemptSocket(test, test.adminToken, '203.0.113.1')).toBeNull();
    expect((await attempt(test, test.adminToken, '203.0.113.2')).status).toBe(200);
    expect((await attempt(test, wrong(), '203.0.113.2')).status).toBe(401);
  });

  it('counts and limits attempts in all APIs together', async () => {
    const from = '203.0.113.3';
    for (const _ of range(10)) {
      expect((await attempt(test, wrong(), from, '/graphql')).status).toBe(401);
      expect((await attempt(test, wrong('apk_'), from, '/v1/sessions')).status).toBe(401);
      expect(await attemptSocket(test, wrong(), from)).toEqual({
        code: 4403,
        reason: 'The token is missing, unknown, expired or revoked',
      });
    }
    expect(await attempt(test, wrong('apk_'), from, '/v1/sessions')).toMatchObject({
      status: 429,
      body: { detail: expect.stringContaining('Too many invalid tokens'), retry_after: 50 },
    });
    const query = { query: '{ viewer { principalType } }' };
    for (const accept of ['application/json', 'text/event-stream']) {
      const headers = { 'x-forwarded-for': from, accept };
      const answer = await call(test, wrong(), 'POST', '/graphql', query, headers);
      expect(answer).toMatchObject({
        status: 429,
        body: { errors: [{ extensions: { code: 'RATE_LIMITED', retryAfter: 50 } }] },
      });
      expect(answer.headers.get('retry-after')).toBe('50');
    }
    expect(await attemptSocket(test, wrong(), from)).toEqual({ code: 4403, reason: 'Too many failed attempts' });
  });

  it('an IPv6 client cannot start over from another address of its network', async () => {
    for (const n of range(30)) expect((await attempt(test, wrong(), `2001:db8:0:1:${n + 1}::${n}`)).status).toBe(401);
    expect((await attempt(test, wrong(), '2001:db8::1:ffff:0:0:1')).status).toBe(429);
    expect((await attempt(test, wrong(), '2001:db8:0:2::1')).status).toBe(401);
  });

  it('ignores header values that the client wrote before the proxy, and invalid ones', async () => {
    const forged = (n: number) => [`198.51.100.${n}, 203.0.113.4`, `,,\u00e9"<${n}>, 203.0.113.4`][n % 2] as string;
    for (const n of range(30)) expect((await attempt(test, wrong(), forged(n))).status).toBe(401);
    expect((await attempt(test, wrong(), forged(31))).status).toBe(429);
    for (const n of range(30)) expect((await attempt(test, wrong(), `nobody-${n}`)).status).toBe(401);
    expect((await attempt(test, wrong(), 'nobody-31')).status).toBe(429);
  });

  it('a request without a token does not count as an attempt', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.5' };
    for (const _ of range(40)) expect((await call(test, null, 'GET', '/v3/self', undefined, headers)).status).toBe(401);
    expect((await attempt(test, wrong(), '203.0.113.5')).status).toBe(401);
  });
});

it('without a trusted proxy, ignores the address headers', async () => {
  const test = await startApp({ rateLimitLogin: 30 });
  stopClock(test);
  try {
    for (const n of range(30)) expect((await attempt(test, wrong(), `203.0.113.${n}`)).status).toBe(401);
    expect((await attempt(test, wrong(), '203.0.113.99')).status).toBe(429);
    expect(await attemptSocket(test, wrong(), '203.0.113.98')).toMatchObject({ reason: 'Too many failed attempts' });
  } finally {
    await test.close();
  }
});

it('no attempt is limited when the limit is disabled', async () => {
  const test = await startApp({ rateLimitLogin: 0 });
  try {
    const answers = await Promise.all(range(60).map(() => attempt(test, wrong(), '203.0.113.1')));
    expect(new Set(statuses(answers))).toEqual(new Set([401]));
  } finally {
    await test.close();
  }
});
