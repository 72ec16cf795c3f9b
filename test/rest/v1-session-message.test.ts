import { describe, expect, test } from 'vitest';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeServiceKey, makeUser, sendRaw } from './rest-app.ts';

const app = useApp();

const send = (id: string, body: unknown, headers: Record<string, string> = {}, key: string | null = app.v1Key) =>
  call(app, key, 'POST', `/v1/sessions/${id}/message`, body, headers);

async function makeSession(key: string = app.v1Key): Promise<string> {
  return (await call(app, key, 'POST', '/v1/sessions', { prompt: 'say hello' })).body.session_id;
}

async function messagesOf(id: string, key: string = app.v1Key): Promise<string[]> {
  const { body } = await call(app, key, 'GET', `/v1/sessions/${id}`);
  return body.messages.map((message: { message: string }) => message.message);
}

describe('200', () => {
  test('null, as JSON, when the message was accepted', async () => {
    const id = await makeSession();
    const response = await fetch(`${app.url}/v1/sessions/${id}/message`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.v1Key}`, 'content-type': 'application/json' },
      body: '{"message":"go on"}',
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.text()).toBe('null');
    expect(await messagesOf(id)).toEqual(['say hello', 'go on']);
  });

  test.each(['session/{id}/message', 'session/{id}/messages', 'sessions/{id}/messages'])(
    'the alias /v1/%s and a bare id',
    async (alias) => {
      const id = await makeSession();
      const path = `/v1/${alias.replace('{id}', id.replace('devin-', ''))}`;
      const { status, body } = await call(app, app.v1Key, 'POST', path, { message: 'go on' });
      expect({ status, body }).toEqual({ status: 200, body: null });
      expect(await messagesOf(id)).toEqual(['say hello', 'go on']);
    },
  );

  test('a terminated session accepts none: detail has the reason, and nothing is written', async () => {
    const id = await makeSession();
    await call(app, app.v1Key, 'DELETE', `/v1/sessions/${id}`);
    const { status, body } = await send(id, { message: 'go on' });
    expect({ status, body }).toEqual({ status: 200, body: { detail: expect.stringMatching(/terminated/) } });
    expect(await messagesOf(id)).toEqual(['say hello']);
  });

  test('one Idempotency-Key is one message, also in parallel', async () => {
    const id = await makeSession();
    const headers = { 'idempotency-key': 'message 1' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(id, { message: 'once' }, headers)));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
    expect(await messagesOf(id)).toEqual(['say hello', 'once']);
  });
});

describe('400', () => {
  test('an Idempotency-Key with another message', async () => {
    const id = await makeSession();
    const headers = { 'idempotency-key': 'message 2' };
    await send(id, { message: 'first' }, headers);
    const { status, body } = await send(id, { message: 'second' }, headers);
    expect({ status, body }).toEqual({ status: 400, body: { detail: expect.stringMatching(/other input/) } });
    expect(await messagesOf(id)).toEqual(['say hello', 'first']);
  });

  test.each<[string, Uint8Array | string]>([
    ['no JSON', 'message=hello'],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['too deep', '['.repeat(1_000) + ']'.repeat(1_000)],
  ])('%s', async (_, body) => {
    const answer = await sendRaw(app, app.v1Key, `/v1/sessions/${await makeSession()}/message`, body);
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 400, body: { detail: expect.any(String) } });
  });
});

describe('422', () => {
  test.each<[string, unknown, string[], string]>([
    ['no message', {}, ['body', 'message'], 'missing'],
    ['a message that is a number', { message: 1 }, ['body', 'message'], 'string_type'],
    ['an empty message', { message: '' }, ['body', 'message'], 'value_error'],
    ['a lone surrogate', { message: '\udfff' }, ['body', 'message'], 'value_error'],
    ['a body that is a string', 'hello', ['body'], 'object_type'],
  ])('%s', async (_, body, loc, type) => {
    const id = await makeSession();
    const answer = await send(id, body);
    expect(answer.status).toBe(422);
    expect(answer.body).toEqual({ detail: [{ loc, msg: expect.any(String), type }] });
    expect(await messagesOf(id)).toEqual(['say hello']);
  });

  test('an invalid Idempotency-Key is reported as a header', async () => {
    const { status, body } = await send(await makeSession(), { message: 'x' }, { 'idempotency-key': 'k'.repeat(256) });
    expect(status).toBe(422);
    expect(body.detail[0].loc).toEqual(['header', 'Idempotency-Key']);
  });
});

describe('refused', () => {
  test('401 without a key', async () => {
    expect((await send(await makeSession(), { message: 'x' }, {}, null)).status).toBe(401);
  });

  test('403 to a member for a session of others; 200 for an own one', async () => {
    const [one, two] = [await makeUser(app, app.organizationId), await makeUser(app, app.organizationId)];
    const id = await makeSession(one.v1Key);
    expect((await send(id, { message: 'x' }, {}, one.v1Key)).status).toBe(200);
    const { status, body } = await send(id, { message: 'y' }, {}, two.v1Key);
    expect({ status, body }).toEqual({
      status: 403,
      body: { detail: 'You do not have permission to access this resource' },
    });
    expect(await messagesOf(id)).toEqual(['say hello', 'x']);
  });

  test('404 for another organization’s session, which stays unchanged', async () => {
    const key = await makeServiceKey(app, await makeOrganization(app));
    const id = await makeSession(key);
    expect((await send(id, { message: 'x' })).status).toBe(404);
    expect(await messagesOf(id, key)).toEqual(['say hello']);
  });

  test('413 over 1 MiB', async () => {
    expect((await send(await makeSession(), { message: 'x'.repeat(1_100_000) })).status).toBe(413);
  });
});
