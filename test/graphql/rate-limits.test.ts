import { getIntrospectionQuery } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { call, graphql, startApp } from '../support/app.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { openStream } from '../support/event-stream.ts';
import { makeKey } from '../support/principals.ts';
import { createSession } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp({ rateLimitGraphql: 100 });
let clock: Clock;
beforeAll(async () => {
  clock = stopClock(test);
});

/** A key with all of its points. The clock moves one minute, so that the administrator has points to create it. */
async function newKey(): Promise<string> {
  clock.advance(60_000);
  return makeKey(test, { kind: 'SERVICE', organizationId: test.organizationId });
}

const spend = (points: number) => `{ organizations(first: ${points}) { nodes { name } } rateLimit { cost remaining } }`;
const post = (token: string, query: string) => call(test, token, 'POST', '/graphql', { query });
const tooMany = { extensions: { code: 'RATE_LIMITED', retryAfter: 50 } };

describe('an operation costs', () => {
  it.each([
    ['1 when it reads no page', '{ viewer { principalType } rateLimit { cost } }', 1],
    ['1 when it asks for the limit only', '{ rateLimit { cost } }', 1],
    ['the items that its page could hold', '{ organizations(first: 7) { nodes { name } } rateLimit { cost } }', 7],
    ['twenty for a page without a size', '{ organizations { nodes { name } } rateLimit { cost } }', 20],
    [
      'the items of pages inside pages multiplied',
      '{ organizations(first: 3) { nodes { sessions(first: 4) { nodes { title } } } } rateLimit { cost } }',
      3 + 3 * 4,
    ],
    ['one for each id of a list', '{ nodes(ids: ["a", "b", "c", "d"]) { id } rateLimit { cost } }', 4],
  ])('%s', async (_what, query, cost) => {
    expect((await graphql(test, await newKey(), query)).data.rateLimit).toEqual({ cost });
  });

  it('ten for each field of a mutation, also in a fragment', async () => {
    const key = await newKey();
    const createSession = 'createSession(input: {prompt: "x"}) { wasReplayed }';
    const answer = await post(
      key,
      `mutation { a: ${createSession} ...F } fragment F on Mutation { b: ${createSession} }`,
    );
    expect(answer.body.data).toEqual({ a: { wasReplayed: false }, b: { wasReplayed: false } });
    expect(answer.headers.get('ratelimit-remaining')).toBe('80');
  });

  it('ten for a subscription, once', async () => {
    const key = await newKey();
    const sessionId = await createSession(test, { prompt: 'x' });
    const query = 'subscription($id: ID!) { sessionMessages(sessionId: $id) { node { body } } }';
    const stream = await openStream(test.url, key, query, { id: sessionId });
    await stream.take(1);
    expect(stream.response.headers.get('ratelimit-remaining')).toBe('90');
    expect((await graphql(test, key, '{ rateLimit { remaining } }')).data.rateLimit).toEqual({ remaining: 89 });
    stream.abort();
  });

  it('ten for each session that a bulk mutation found, out of those that it could find', async () => {
    const key = await newKey();
    const archive = (
      first: string,
    ) => `mutation { archiveSessions(input: {selection: {filter: {tags: ["none"]}}${first}}) {
      results { sessionId } } }`;
    expect(await post(key, archive(''))).toMatchObject({
      body: { errors: [{ extensions: { code: 'LIMIT_EXCEEDED' } }] },
    });
    const { body, headers } = await post(key, archive(', first: 8'));
    expect(body).toMatchObject({ data: { archiveSessions: { results: [] } }, extensions: { cost: 10 } });
    expect(headers.get('ratelimit-remaining')).toBe('90');
    expect((await graphql(test, key, '{ rateLimit { remaining } }')).data.rateLimit).toEqual({ remaining: 89 });
  });

  it('five for each list of introspection', async () => {
    const { headers, status } = await post(await newKey(), getIntrospectionQuery());
    expect({ status, left: headers.get('ratelimit-remaining') }).toEqual({ status: 200, left: '55' });
  });

  it.each([
    ['does not parse', '{', 'GRAPHQL_PARSE_FAILED'],
    ['asks for what is not there', '{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
    [
      'asks for too many items',
      `{ organizations(first: 100) { nodes { sessions(first: 100) { nodes { messages(first: 100) { nodes { body } } } } } } }`,
      'LIMIT_EXCEEDED',
    ],
  ])('one when its text %s', async (_what, query, code) => {
    const key = await newKey();
    const { headers, body } = await post(key, query);
    expect(body.errors[0].extensions.code).toBe(code);
    expect(headers.get('ratelimit-remaining')).toBe('99');
    await follow(connect(test.url, key), query, {}).errors();
    expect((await graphql(test, key, '{ rateLimit { remaining } }')).data.rateLimit).toEqual({ remaining: 97 });
  });
});

it('reports the remaining points in the response and in its headers', async () => {
  const key = await newKey();
  const { body, headers } = await post(key, '{ rateLimit { limit cost remaining resetAt } }');
  const { resetAt, ...rest } = body.data.rateLimit;
  expect(rest).toEqual({ limit: 100, cost: 1, remaining: 99 });
  expect(new Date(resetAt).getTime() - test.app.services.now().getTime()).toBe(50_000);
  const limitHeaders = ['limit', 'remaining', 'reset'].map((name) => headers.get(`ratelimit-${name}`));
  expect(limitHeaders).toEqual(['100', '99', '50']);
});

describe('a key without points', () => {
  it('gets 429 over POST, while cheaper operations still work', async () => {
    const key = await newKey();
    expect((await graphql(test, key, spend(95))).data.rateLimit).toEqual({ cost: 95, remaining: 5 });
    const { status, headers, body } = await post(key, spend(6));
    expect({ status, wait: headers.get('retry-after'), left: headers.get('ratelimit-remaining') }).toEqual({
      status: 429,
      wait: '50',
      left: '5',
    });
    expect(body).toEqual({ errors: [{ ...tooMany, message: expect.stringContaining('costs 6 of the 100 points') }] });
    expect((await graphql(test, key, spend(5))).data.rateLimit).toEqual({ cost: 5, remaining: 0 });
    clock.advance(50_000);
    expect((await graphql(test, key, spend(6))).data.rateLimit).toEqual({ cost: 6, remaining: 94 });
    clock.advance(10_000);
  });

  it('gets 429 over server-sent events, also for an invalid text', async () => {
    const key = await newKey();
    await graphql(test, key, spend(95));
    const query = 'subscription { sessionMessages(sessionId: "x") { node { body } } }';
    const { response } = await openStream(test.url, key, query, {});
    expect({ status: response.status, wait: response.headers.get('retry-after') }).toEqual({ status: 429, wait: '50' });
    expect(await response.json()).toMatchObject({ errors: [tooMany] });
    await graphql(test, key, spend(5));
    expect((await post(key, '{')).status).toBe(429);
  });

  it('gets an error for only that operation over WebSocket', async () => {
    const key = await newKey();
    const client = connect(test.url, key);
    expect((await follow(client, spend(95), {}).take(1))[0].data.rateLimit.remaining).toBe(5);
    expect(await follow(client, spend(6), {}).errors()).toEqual([expect.objectContaining(tooMany)]);
    const sessionMessages = 'subscription { sessionMessages(sessionId: "x") { node { body } } }';
    expect(await follow(client, sessionMessages, {}).errors()).toEqual([expect.objectContaining(tooMany)]);
    expect((await follow(client, spend(5), {}).take(1))[0].data.rateLimit.remaining).toBe(0);
    expect(await follow(client, '{', {}).errors()).toEqual([expect.objectContaining(tooMany)]);
  });

  it('changes nothing, and does not affect others', async () => {
    const [key, other] = [await newKey(), await newKey()];
    await graphql(test, key, spend(95));
    const create = 'mutation { createSession(input: {prompt: "never"}) { session { title } } }';
    expect((await post(key, create)).status).toBe(429);
    const list = `{ organizations { nodes { sessions(first: 1) { nodes { title } } } } }`;
    const { data } = await graphql(test, other, list);
    expect(data.organizations.nodes[0].sessions.nodes).not.toContainEqual({ title: 'never' });
  });
});

it('refuses an operation above the limit of a minute permanently', async () => {
  const { status, body, headers } = await post(
    await newKey(),
    '{ organizations(first: 50) { nodes { sessions(first: 2) { nodes { title } } } } }',
  );
  expect({ status, wait: headers.get('retry-after') }).toEqual({ status: 200, wait: null });
  expect(body.errors[0]).toMatchObject({
    message: expect.stringContaining('costs 150 points, more than the 100'),
    extensions: { code: 'LIMIT_EXCEEDED' },
  });
});

it('sets no limit, and no headers of one, if the limit is disabled', async () => {
  const free = await startApp({ rateLimitGraphql: 0 });
  try {
    const query =
      '{ organizations(first: 100) { nodes { sessions(first: 100) { nodes { title } } } } rateLimit { limit cost remaining resetAt } }';
    for (let n = 0; n < 7; n++) {
      const { body, headers } = await call(free, free.adminToken, 'POST', '/graphql', { query });
      expect(body.data.rateLimit).toEqual({ limit: 0, cost: 10_100, remaining: null, resetAt: null });
      expect(headers.has('ratelimit-limit')).toBe(false);
    }
  } finally {
    await free.close();
  }
});
