import { describe, expect, test } from 'vitest';
import { appendEntries, type NewEntry } from '../../src/domain/sessions/log.ts';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeServiceKey, makeUser } from './rest-app.ts';

const app = useApp();

const read = (id: string, key: string = app.v1Key) => call(app, key, 'GET', `/v1/sessions/${id}`);

async function makeSession(key: string = app.v1Key): Promise<string> {
  return (await call(app, key, 'POST', '/v1/sessions', { prompt: 'say hello' })).body.session_id.replace('devin-', '');
}

const append = (id: string, entries: NewEntry[]) =>
  appendEntries(app.app.services.store, id, null, entries, new Date());
const says = (body: string): NewEntry => ({ kind: 'MESSAGE', messageType: 'agent_message', body });

describe('200', () => {
  test('the details with all messages, in order, each with its author', async () => {
    const { userId, v1Key } = await makeUser(app, app.organizationId);
    const id = await makeSession(v1Key);
    await append(id, [says('Hello.'), { kind: 'TOOL_CALL', data: {} }]);
    await call(app, v1Key, 'POST', `/v1/sessions/${id}/message`, { message: 'again' });
    const { status, body, headers } = await read(id, v1Key);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json');
    const message = (type: string, text: string, author: object) => ({
      type,
      event_id: expect.stringMatching(/^event-[0-9a-f]{32}$/),
      message: text,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      ...author,
    });
    const user = { username: expect.stringMatching(/^Person/), user_id: `user-${userId}` };
    expect(body).toEqual({
      session_id: `devin-${id}`,
      url: `${app.app.services.baseUrl}/sessions/${id}`,
      status: 'new',
      status_enum: 'working',
      title: 'say hello',
      created_at: expect.any(String),
      updated_at: expect.any(String),
      snapshot_id: null,
      playbook_id: null,
      tags: [],
      pull_request: null,
      structured_output: null,
      messages: [
        message('initial_user_message', 'say hello', { ...user, origin: 'api' }),
        message('devin_message', 'Hello.', { username: null, origin: null, user_id: null }),
        message('user_message', 'again', { ...user, origin: null }),
      ],
    });
  });

  test.each<[string, (id: string) => string]>([
    ['bare', (id) => id],
    ['prefixed', (id) => `devin-${id}`],
    ['doubly prefixed', (id) => `devin-devin-${id}`],
    ['with capitals', (id) => `devin-${id.toUpperCase()}`],
    ['as a UUID', (id) => `devin-${id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}`],
  ])('accepts an id %s', async (_, write) => {
    const id = await makeSession();
    expect((await read(write(id))).body.session_id).toBe(`devin-${id}`);
    expect((await call(app, app.v1Key, 'GET', `/v1/session/${write(id)}/`)).body.session_id).toBe(`devin-${id}`);
  });

  test('a long session is returned completely and in order, with messages of any length', async () => {
    const id = await makeSession();
    const texts = Array.from({ length: 2_000 }, (_, n) => `${n} ${'ä'.repeat(n % 97 === 0 ? 60_000 : n % 13)}`);
    for (let start = 0; start < texts.length; start += 500) await append(id, texts.slice(start, start + 500).map(says));
    const { status, body } = await read(id);
    expect(status).toBe(200);
    expect(body.messages.length).toBe(2_001);
    expect(body.messages.slice(1).map((message: { message: string }) => message.message)).toEqual(texts);
    expect(new Set(body.messages.map((message: { event_id: string }) => message.event_id)).size).toBe(2_001);
  });

  test('a reader that disconnects in the middle does not affect others', async () => {
    const id = await makeSession();
    await append(
      id,
      Array.from({ length: 200 }, () => says('x'.repeat(50_000))),
    );
    const gone = new AbortController();
    const headers = { authorization: `Bearer ${app.v1Key}` };
    const response = await fetch(`${app.url}/v1/sessions/${id}`, { headers, signal: gone.signal });
    const reader = response.body?.getReader();
    await reader?.read();
    gone.abort();
    await expect(reader?.read()).rejects.toThrow();
    expect((await read(id)).body.messages.length).toBe(201);
  });

  test('HEAD answers like GET without a body', async () => {
    const id = await makeSession();
    await append(
      id,
      Array.from({ length: 100 }, () => says('hello')),
    );
    const { status, body } = await call(app, app.v1Key, 'HEAD', `/v1/sessions/${id}`);
    expect({ status, body }).toEqual({ status: 200, body: null });
  });
});

describe('404', () => {
  test.each([
    ['an unknown id', `devin-${'0'.repeat(32)}`],
    ['no id at all', 'nonsense'],
    ['an id with a NUL', 'devin-%00'],
    ['a broken escape', 'devin-%E0%A4%A'],
    ['an escaped slash', 'a%2Fb'],
    ['SQL', "devin-'%20or%20'1'='1"],
    ['a long id', 'a'.repeat(5_000)],
  ])('%s', async (_, id) => {
    const { status, body } = await read(id);
    expect({ status, body }).toEqual({ status: 404, body: { detail: 'The requested resource does not exist' } });
  });

  test('another organization’s session', async () => {
    const key = await makeServiceKey(app, await makeOrganization(app));
    const id = await makeSession(key);
    expect((await read(id, key)).status).toBe(200);
    const { status, body } = await read(id);
    expect({ status, body }).toEqual({ status: 404, body: { detail: 'The requested resource does not exist' } });
  });
});

test('401: without a key, also for an existing session', async () => {
  const id = await makeSession();
  expect((await call(app, null, 'GET', `/v1/sessions/${id}`)).status).toBe(401);
});
