import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { call } from '../support/app.ts';
import { openStream } from '../support/event-stream.ts';
import { makeKey } from '../support/principals.ts';
import { createSession, say } from '../support/sessions.ts';
import { reserve } from '../support/single-connection.ts';
import { connect, follow } from '../support/sockets.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp({ maxSockets: 3 });

const messages =
  'subscription($id: ID!, $after: String) { sessionMessages(sessionId: $id, after: $after) { node { body } } }';
const waitForOpen = (socket: number, stream: number) =>
  expect.poll(() => test.app.streams.count(), { interval: 5, timeout: 60_000 }).toEqual({ socket, stream });
beforeEach(() => waitForOpen(0, 0));

it('are limited for each principal, across all transports', async () => {
  const id = await createSession(test);
  const socket = connect(test.url, test.adminToken);
  await follow(socket, messages, { id }).take(1);
  const stream = await openStream(test.url, test.adminToken, messages, { id });
  await stream.take(1);
  const single = await reserve(test, test.adminToken);
  await waitForOpen(1, 2);

  expect(await follow(connect(test.url, test.adminToken), messages, { id }).ended).toMatchObject({
    code: 4429,
    reason: 'At most 3 sockets and streams',
  });
  const more = await openStream(test.url, test.adminToken, messages, { id });
  expect(more.response.status).toBe(429);
  expect(await more.response.json()).toMatchObject({ errors: [{ extensions: { code: 'LIMIT_EXCEEDED' } }] });
  const reserved = await call(test, test.adminToken, 'PUT', '/graphql/stream');
  expect(reserved.status).toBe(429);
  // Other principals, and operations that open no stream, are not affected.
  const other = await makeKey(test, { kind: 'SERVICE', organizationId: test.organizationId });
  await expect(follow(connect(test.url, other), messages, { id }).take(1)).resolves.toHaveLength(1);
  expect((await call(test, test.adminToken, 'POST', '/graphql', { query: '{ __typename }' })).status).toBe(200);

  // Every way of disconnecting frees the slot.
  single.abort();
  await waitForOpen(2, 1);
  stream.abort();
  await waitForOpen(2, 0);
  socket.terminate();
  await waitForOpen(1, 0);
});

it('resumes by itself after the id of the last event', async () => {
  const id = await createSession(test);
  await say(test, id, 'one', 'two');
  const open = async (lastEventId: string | null) => {
    const aborting = new AbortController();
    onTestFinished(() => aborting.abort());
    const address = new URL(`${test.url}/graphql`);
    address.searchParams.set('query', messages);
    address.searchParams.set('variables', JSON.stringify({ id }));
    const response = await fetch(address, {
      headers: {
        authorization: `Bearer ${test.adminToken}`,
        accept: 'text/event-stream',
        ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }),
      },
      signal: aborting.signal,
    });
    const found: { id: string; body: string }[] = [];
    let text = '';
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += new TextDecoder().decode(chunk);
      for (const [, eventId, data] of text.matchAll(/^event: next\nid: (.+)\ndata: (.+)\n\n/gm)) {
        const { body } = JSON.parse(data as string).data?.sessionMessages?.node ?? {};
        if (!found.some((each) => each.body === body)) found.push({ id: eventId as string, body });
      }
      if (found.some(({ body }) => body === 'two') || text.includes('event: complete')) break;
    }
    aborting.abort();
    return { found, text };
  };
  const { found } = await open(null);
  expect(found.map(({ body }) => body)).toEqual(['say hello', 'one', 'two']);
  const [, one] = found;
  expect((await open(one?.id ?? '')).found).toEqual(found.slice(2));
  const { text } = await open('no-cursor');
  expect(text).toContain('BAD_CURSOR');
  expect(text).toContain('Last-Event-ID');
});

it.each(['*/*', 'application/json', 'application/graphql-response+json', 'multipart/mixed'])(
  'refuses a subscription to clients that do not accept events: %s',
  async (accept) => {
    const id = await createSession(test);
    const response = await fetch(`${test.url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${test.adminToken}`, 'content-type': 'application/json', accept },
      body: JSON.stringify({ query: messages, variables: { id } }),
    });
    expect(response.status).toBe(406);
    const text = await response.text();
    expect(text).toContain('text/event-stream');
    expect(text).toContain('BAD_REQUEST');
    expect(test.app.watches.active()).toBe(0);
  },
);
