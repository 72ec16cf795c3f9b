import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, stopClock } from '../support/clock.ts';
import { makeKey } from '../support/principals.ts';
import { useApp } from '../support/use-app.ts';
import { call, startApp } from './rest-app.ts';

const test = useApp({ rateLimitRest: 3 });
let clock: Clock;
beforeAll(async () => {
  clock = stopClock(test);
});

const v1Key = () => makeKey(test, { kind: 'SERVICE', organizationId: test.organizationId });
const v3Key = async () => {
  const { body } = await call(test, test.adminToken, 'POST', '/graphql', {
    query:
      'mutation { createServiceUser(input: {name: "robot", roleId: "account_admin", scope: {enterprise: true}}) { serviceUser { id } } }',
  });
  return makeKey(test, { kind: 'SERVICE_USER', serviceUserId: body.data.createServiceUser.serviceUser.id });
};
const get = (token: string, path: string) => call(test, token, 'GET', path);
const limits = (headers: Headers) =>
  ['limit', 'remaining', 'reset'].map((name) => headers.get(`ratelimit-${name}`)).join();

describe.each([
  ['v1', v1Key, '/v1/sessions', { detail: expect.stringContaining('3 requests in a minute'), retry_after: 50 }],
  [
    'v3',
    v3Key,
    '/v3/self',
    {
      type: 'about:blank',
      title: 'Too Many Requests',
      status: 429,
      detail: expect.stringContaining('3 requests in a minute'),
      instance: '/v3/self',
      retry_after: 50,
    },
  ],
] as const)('%s', (_version, make, path, problem) => {
  it('reports the remaining requests, and answers 429 without any until the next minute', async () => {
    const key = await make();
    for (const left of [2, 1, 0]) {
      const { status, headers } = await get(key, path);
      expect({ status, limits: limits(headers) }).toEqual({ status: 200, limits: `3,${left},50` });
    }
    const { status, headers, body } = await get(key, path);
    expect({ status, limits: limits(headers), wait: headers.get('retry-after') }).toEqual({
      status: 429,
      limits: '3,0,50',
      wait: '50',
    });
    expect(body).toEqual(problem);
    clock.advance(49_000);
    expect((await get(key, path)).headers.get('retry-after')).toBe('1');
    clock.advance(1_000);
    const again = await get(key, path);
    expect({ status: again.status, limits: limits(again.headers) }).toEqual({ status: 200, limits: '3,2,60' });
    clock.advance(10_000);
  });

  it('counts each key separately', async () => {
    const [mine, other] = [await make(), await make()];
    for (let n = 0; n < 4; n++) await get(mine, path);
    expect((await get(mine, path)).status).toBe(429);
    expect((await get(other, path)).status).toBe(200);
  });
});

it('counts refused requests too, and reads nothing for a request above the limit', async () => {
  const key = await v1Key();
  const post = () => call(test, key, 'POST', '/v1/sessions', { prompt: 7 });
  const answers = [await post(), await post(), await post(), await post()];
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 429]);
  expect(limits(answers[0]?.headers as Headers)).toBe('3,2,50');
});

it('sends no limits to unauthenticated callers', async () => {
  const { status, headers } = await get(`cog_${'a'.repeat(40)}`, '/v3/self');
  expect({ status, limits: limits(headers) }).toEqual({ status: 401, limits: ',,' });
});

it('has no limit, and no headers of one, if it is disabled', { timeout: 240_000 }, async () => {
  const free = await startApp({ rateLimitRest: 0 });
  try {
    const answers: Awaited<ReturnType<typeof call>>[] = [];
    // Not all at once: a system refuses connections that arrive faster than they are accepted.
    for (let n = 0; n < 14; n++) {
      const some = Array.from({ length: 50 }, () => call(free, free.adminToken, 'GET', '/v3/self'));
      answers.push(...(await Promise.all(some)));
    }
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(limits(answers[0]?.headers as Headers)).toBe(',,');
  } finally {
    await free.close();
  }
});
