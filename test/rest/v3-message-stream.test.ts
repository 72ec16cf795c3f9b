import { get } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { logCursor } from '../../src/domain/sessions/list-log.ts';
import { say } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeServiceUser, makeUser, startApp, type TestApp } from './rest-app.ts';

const app = useApp();

interface Sent {
  readonly id: string;
  readonly data: { event_id: string; source: string; message: string; created_at: number };
}

/** A stream of messages as a client reads it. */
async function openMessages(path: string, token: string, headers: Record<string, string> = {}, at: TestApp = app) {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const response = await fetch(at.url + path, {
    headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream', ...headers },
    signal: leaving.signal,
  });
  const events = response.body ? readEvents(response.body) : null;
  return {
    response,
    leave: () => leaving.abort(),
    async take(count: number): Promise<Sent[]> {
      const taken: Sent[] = [];
      while (taken.length < count) {
        const next = await events?.next();
        if (!next || next.done) throw new Error(`The stream ended after ${taken.length} of ${count} events.`);
        taken.push(next.value);
      }
      return taken;
    },
    /** Resolves with the remaining events when the stream has ended. */
    async rest(): Promise<Sent[]> {
      const left: Sent[] = [];
      for (let next = await events?.next(); next && !next.done; next = await events?.next()) left.push(next.value);
      return left;
    },
  };
}

async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<Sent, undefined> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const lines = text.slice(0, end).split('\n');
      text = text.slice(end + 2);
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const [id, data] = [field('id'), field('data')];
      if (id !== undefined && data !== undefined) yield { id, data: JSON.parse(data) };
    }
  }
  return undefined;
}

async function oneSession() {
  const organizationId = await makeOrganization(app);
  const robot = await makeServiceUser(app, { organizationId, roleId: 'org_admin' });
  const sessions = `/v3/organizations/org-${organizationId}/sessions`;
  const id: string = (await call(app, robot.token, 'POST', sessions, { prompt: 'first' })).body.session_id;
  return { organizationId, id, token: robot.token, path: `${sessions}/${id}/messages` };
}

const words = (sent: readonly Sent[]) => sent.map(({ data }) => data.message);

test('sends existing messages, then new ones, each once and in order, as in the list', async () => {
  const { id, path, token } = await oneSession();
  await say(app, id, 'second');
  const stream = await openMessages(path, token);
  expect(stream.response.status).toBe(200);
  expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(stream.response.headers.get('cache-control')).toBe('no-store');
  const before = await stream.take(2);
  await say(app, id, 'third');
  await call(app, token, 'POST', path, { message: 'fourth\nof two lines' });
  const all = [...before, ...(await stream.take(2))];
  expect(words(all)).toEqual(['first', 'second', 'third', 'fourth\nof two lines']);
  const { body } = await call(app, token, 'GET', path);
  expect(all.map(({ data }) => data)).toEqual(body.items);
  expect(all.at(-1)?.id).toBe(body.end_cursor);
});

test('continues after `after`, and after Last-Event-ID, which a reconnecting client sends to the same address', async () => {
  const { id, path, token } = await oneSession();
  await say(app, id, 'second', 'third', 'fourth');
  const first = await openMessages(path, token);
  const [one, , three] = await first.take(4);
  first.leave();
  const second = await openMessages(`${path}?after=${one?.id}`, token);
  expect(words(await second.take(3))).toEqual(['second', 'third', 'fourth']);
  const third = await openMessages(`${path}?after=${one?.id}`, token, { 'last-event-id': three?.id ?? '' });
  await say(app, id, 'fifth');
  expect(words(await third.take(2))).toEqual(['fourth', 'fifth']);
});

test('a client that is disconnected repeatedly gets every message exactly once', async () => {
  const { id, path, token } = await oneSession();
  const count = 120;
  const speaking = (async () => {
    for (let n = 0; n < count; n++) await say(app, id, `word ${n}`);
  })();
  const seen: Sent[] = [];
  while (seen.length < count + 1) {
    const stream = await openMessages(path, token, { 'last-event-id': seen.at(-1)?.id ?? '' });
    seen.push(...(await stream.take(Math.min(7, count + 1 - seen.length))));
    stream.leave();
  }
  await speaking;
  expect(words(seen)).toEqual(['first', ...Array.from({ length: count }, (_, n) => `word ${n}`)]);
});

test('the enterprise’s path streams too', async () => {
  const { id } = await oneSession();
  const stream = await openMessages(`/v3/enterprise/sessions/${id}/messages`, app.adminToken);
  expect(words(await stream.take(1))).toEqual(['first']);
});

describe('refusals come before the stream begins', () => {
  test.each([
    ['?after=nonsense', {}],
    ['', { 'last-event-id': 'nonsense' }],
  ])('422: an invalid cursor (%s, %j)', async (query, headers) => {
    const { path, token } = await oneSession();
    const { response } = await openMessages(path + query, token, headers);
    expect(response.status).toBe(422);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    await response.body?.cancel().catch(() => undefined);
  });

  test('422: a cursor of another session; 404: another organization’s session; 403; 401', async () => {
    const one = await oneSession();
    const other = await oneSession();
    const cursor = logCursor({ sessionId: other.id, seq: 1 });
    const statusOf = async (path: string, token: string) => (await openMessages(path, token)).response.status;
    expect(await statusOf(`${one.path}?after=${cursor}`, one.token)).toBe(422);
    expect(await statusOf(one.path.replace(one.id, other.id), one.token)).toBe(404);
    expect(await statusOf(one.path, other.token)).toBe(403);
    expect(await statusOf(one.path, 'cog_nonsense')).toBe(401);
    expect(app.app.watches.active()).toBe(0);
  });
});

describe('a stream ends', () => {
  const waitUntilQuiet = () =>
    vi.waitFor(() => expect([app.app.watches.active(), app.app.services.liveViewers.count()]).toEqual([0, 0]));

  test('when its client disconnects, and leaves nothing behind', async () => {
    await waitUntilQuiet();
    const { path, token } = await oneSession();
    const streams = [await openMessages(path, token), await openMessages(path, token)];
    for (const stream of streams) await stream.take(1);
    expect(app.app.services.liveViewers.count()).toBe(2);
    for (const stream of streams) stream.leave();
    await waitUntilQuiet();
  });

  test('at once for HEAD', async () => {
    await waitUntilQuiet();
    const { path, token } = await oneSession();
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
    const response = await fetch(app.url + path, { method: 'HEAD', headers });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect([app.app.watches.active(), app.app.services.liveViewers.count()]).toEqual([0, 0]);
  });

  test('with its key', async () => {
    const { organizationId, path } = await oneSession();
    const { userId, v3Token } = await makeUser(app, organizationId);
    const stream = await openMessages(path, v3Token);
    await stream.take(1);
    expect((await call(app, app.adminToken, 'DELETE', `/v3/enterprise/members/users/user-${userId}`)).status).toBe(200);
    expect(await stream.rest()).toEqual([]);
    await waitUntilQuiet();
  });

  test('with the role that allows reading', async () => {
    const { organizationId, id, path } = await oneSession();
    const { userId, v3Token } = await makeUser(app, organizationId);
    const stream = await openMessages(path, v3Token);
    await stream.take(1);
    const member = `/v3/enterprise/organizations/org-${organizationId}/members/users/user-${userId}`;
    expect((await call(app, app.adminToken, 'DELETE', member)).status).toBe(200);
    await vi.waitFor(async () => {
      await say(app, id, 'not for you');
      expect(app.app.watches.active()).toBe(0);
    });
    await stream.rest();
    await waitUntilQuiet();
  });

  test('with the service, cleanly', async () => {
    const own = await startApp();
    const { body } = await call(own, own.adminToken, 'POST', `/v3/organizations/${own.organizationId}/sessions`, {
      prompt: 'first',
    });
    const path = `/v3/organizations/${own.organizationId}/sessions/${body.session_id}/messages`;
    const stream = await openMessages(path, own.adminToken, {}, own);
    expect(words(await stream.take(1))).toEqual(['first']);
    const ended = stream.rest();
    await own.close();
    expect(await ended).toEqual([]);
  });
});

test('without reading ahead for a client that does not read', { timeout: 240_000 }, async () => {
  const { id, path, token } = await oneSession();
  const { store } = app.app.services;
  const count = 3_000;
  await store.execute(
    `insert into log_entry (session_id, seq, id, kind, message_type, body, created_at)
     select $1, n + 1000, md5($1 || n), 'MESSAGE', 'agent_message', n || repeat('x', 10000), now()
       from generate_series(1, $2::int) n`,
    [id, count],
  );
  await store.execute('update session_head set next_seq = 5000 where session_id = $1', [id]);
  let read = 0;
  const { sessionLogs } = app.app.watches;
  const original = sessionLogs.read;
  sessionLogs.read = async (requests) => {
    const batches = await original.call(sessionLogs, requests);
    for (const [n, { log }] of requests.entries()) if (log.sessionId === id) read += batches[n]?.items.length ?? 0;
    return batches;
  };
  onTestFinished(() => {
    sessionLogs.read = original;
  });
  // Node's own client, paused: fetch would buffer the data.
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
    get(app.url + path, { headers }, resolve).on('error', reject);
  });
  response.pause();
  // Until the server has stopped by itself: sockets can buffer some data, but not 30 MB.
  let before = -1;
  while (before !== read || read === 0) {
    before = read;
    for (let n = 0; n < 200; n++) await setImmediate();
    await call(app, token, 'GET', `/v3/self`);
  }
  expect(read).toBeLessThan(count);
  // Then it receives everything.
  const chunks: string[] = [];
  let tail = '';
  response.setEncoding('utf8');
  for await (const chunk of response) {
    chunks.push(chunk);
    // Searching all of it each time would take longer than everything else.
    tail = tail.slice(-100) + chunk;
    if (tail.includes(`"${count}xxx`)) break;
  }
  expect(chunks.join('').split('\nid: ').length).toBe(count + 2);
});
