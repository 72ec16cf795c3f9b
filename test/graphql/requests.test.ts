import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { countRows } from '../support/rows.ts';
import { connect, follow } from '../support/sockets.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

async function send(
  init: RequestInit & { path?: string },
  token: string | null = test.adminToken,
): Promise<{ status: number; body: any; type: string; text: string }> {
  const { path = '/graphql', headers, ...rest } = init;
  const response = await fetch(test.url + path, {
    method: 'POST',
    ...rest,
    headers: {
      'content-type': 'application/json',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(headers as Record<string, string>),
    },
  });
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  return { status: response.status, type, text, body: type.includes('json') ? JSON.parse(text) : null };
}

const mutation = 'mutation { createOrganization(input: { name: "never" }) { organization { id } } }';
const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));

const endless = () => {
  const chunk = new Uint8Array(64 * 1_024).fill(0x20);
  return new ReadableStream({ pull: (controller) => controller.enqueue(chunk) });
};

describe('an invalid request', () => {
  it.each<[string, number, () => RequestInit & { path?: string }]>([
    ['invalid JSON', 400, () => ({ body: '{"query":' })],
    ['no body', 400, () => ({})],
    ['an empty object', 200, () => ({ body: '{}' })],
    ['a number', 400, () => ({ body: '5' })],
    ['null', 400, () => ({ body: 'null' })],
    ['a query that is a list', 400, () => ({ body: '{"query":[]}' })],
    ['variables that are text', 400, () => ({ body: JSON.stringify({ query: mutation, variables: 'x' }) })],
    ['a batch', 400, () => ({ body: JSON.stringify([{ query: mutation }, { query: mutation }]) })],
    ['invalid UTF-8', 400, () => ({ body: bytes('{"query":"{ viewer { a', [0xff, 0xc0], '} }"}') })],
    ['half of a UTF-8 letter', 400, () => ({ body: bytes('{"query":"{ __typename } #', [0xe2, 0x82], '"}') })],
    [
      'two operations without a name',
      400,
      () => ({ body: JSON.stringify({ query: `query A { __typename } query B { __typename }` }) }),
    ],
    ['a mutation by GET', 405, () => ({ method: 'GET', path: `/graphql?query=${encodeURIComponent(mutation)}` })],
    [
      'a wish for a picture',
      406,
      () => ({ headers: { accept: 'image/png' }, body: JSON.stringify({ query: mutation }) }),
    ],
    ['a deletion', 405, () => ({ method: 'DELETE' })],
    ['plain text', 415, () => ({ body: mutation, headers: { 'content-type': 'text/plain' } })],
    [
      'a form of several parts',
      415,
      () => ({
        headers: { 'content-type': 'multipart/form-data; boundary=x' },
        body: `--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n${JSON.stringify({ query: mutation })}\r\n--x--`,
      }),
    ],
    [
      'a body over 1 MiB',
      413,
      () => ({ body: JSON.stringify({ query: mutation, padding: 'x'.repeat(1_024 * 1_024) }) }),
    ],
    ['another address below', 404, () => ({ path: '/graphql/other', body: JSON.stringify({ query: mutation }) })],
  ])('%s is refused with %d in the form of GraphQL, and nothing is written', async (_what, status, init) => {
    const before = await countRows(test);
    const answer = await send(init());
    expect(answer.status, answer.text).toBe(status);
    expect(answer.body).toMatchObject({ errors: [{ message: expect.stringMatching(/.{10,}/) }] });
    expect(answer.body.data).toBeUndefined();
    expect(answer.text).not.toMatch(/node_modules|at .*\.[jt]s:/);
    expect(await countRows(test)).toEqual(before);
  });

  it('is refused before its end if it never ends', async () => {
    const answer = await send({ body: endless(), duplex: 'half' } as RequestInit).catch((error: unknown) => error);
    // A response, or a connection that was closed while the client was sending: the server never reads on.
    expect(answer instanceof Error || (answer as { status: number }).status === 413).toBe(true);
  });
});

it('a body that is too large does not affect later requests of its client', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const post = async (body: string) => {
    const headers = { 'authorization': `Bearer ${test.adminToken}`, 'content-type': 'application/json' };
    const sent = httpRequest(`${test.url}/graphql`, { method: 'POST', agent, headers });
    sent.end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    await once(answer, 'end');
    return [answer.statusCode, answer.headers.connection, answer.headers['keep-alive']];
  };
  expect(await post(JSON.stringify({ query: `{ __typename } #${'x'.repeat(2 * 1_024 * 1_024)}` }))).toEqual([
    413,
    'close',
    undefined,
  ]);
  expect(await post('{"query":"{ __typename }"}')).toEqual([200, 'keep-alive', 'timeout=130']);
  agent.destroy();
});

it('accepts a body of nearly 1 MiB', async () => {
  const body = JSON.stringify({ query: `{ __typename } #${'x'.repeat(1_024 * 1_024 - 60)}` });
  expect(body.length).toBeLessThanOrEqual(1_024 * 1_024);
  expect(await send({ body })).toMatchObject({ status: 200, body: { data: { __typename: 'Query' } } });
});

it('accepts a query by GET', async () => {
  const path = `/graphql?query=${encodeURIComponent('{ viewer { principalType } }')}`;
  expect(await send({ method: 'GET', path })).toMatchObject({
    status: 200,
    body: { data: { viewer: { principalType: 'SERVICE_USER' } } },
  });
});

describe('without a valid token', () => {
  it.each([
    ['none', null, {}],
    ['another', `cog_${'a'.repeat(52)}`, {}],
    ['garbage', '\u00e9', {}],
    ['another scheme', null, { authorization: 'Basic YWRtaW46YWRtaW4=' }],
    ['nothing but the scheme', null, { authorization: 'Bearer ' }],
  ])('(%s) any query is answered 401 UNAUTHENTICATED', async (_what, token, headers) => {
    for (const body of [JSON.stringify({ query: mutation }), '{', JSON.stringify({ query: '{ nothing }' })]) {
      const answer = await send({ body, headers }, token);
      // The same message for all: it must not reveal if a token was ever valid.
      const message =
        'Send a valid token as "Authorization: Bearer <token>": it is missing, unknown, expired or revoked.';
      const error = { message, extensions: { code: 'UNAUTHENTICATED' } };
      expect(answer).toMatchObject({ status: 401, body: { errors: [error] } });
    }
  });
});

it('answers an invalid document alike over every transport', async () => {
  const documents = ['{', '{ nothing }', 'query($a: Int!) { __typename }', mutation.replace('name: "never"', '')];
  for (const query of documents) {
    const posted = await send({ body: JSON.stringify({ query }) });
    const messages = posted.body.errors.map(({ message }: { message: string }) => message);
    const streamed = await send({ body: JSON.stringify({ query }), headers: { accept: 'text/event-stream' } });
    for (const message of messages) expect(streamed.text).toContain(JSON.stringify(message).slice(1, -1));
    const errors = await follow(connect(test.url, test.adminToken), query, {}).errors();
    expect(errors.map(({ message }) => message)).toEqual(messages);
  }
});

it('runs queries and mutations on a socket, too', async () => {
  const client = connect(test.url, test.adminToken);
  const [answer] = await follow(client, '{ viewer { principalType } }', {}).take(1);
  expect(answer).toMatchObject({ data: { viewer: { principalType: 'SERVICE_USER' } } });
  const [made] = await follow(client, mutation, {}).take(1);
  expect(made.data.createOrganization.organization).not.toBeNull();
});
