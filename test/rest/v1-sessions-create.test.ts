import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { useApp } from '../support/use-app.ts';
import { call, countSessions, makeServiceKey, makeServiceUser, sendRaw } from './rest-app.ts';

const app = useApp();

const create = (body: unknown, headers: Record<string, string> = {}, token: string | null = app.v1Key) =>
  call(app, token, 'POST', '/v1/sessions', body, headers);

/**
 * Expects that the creation is refused with this status, that `detail` is a matching string, and that nothing was
 * written.
 */
async function refused(status: number, detail: RegExp, answer: () => ReturnType<typeof create>): Promise<void> {
  const before = await countSessions(app);
  const { status: got, body, headers } = await answer();
  expect({ got, detail: body.detail }).toEqual({ got: status, detail: expect.stringMatching(detail) });
  expect(headers.get('content-type')).toBe('application/json');
  expect(await countSessions(app)).toBe(before);
}

describe('200', () => {
  test('a prompt is enough', async () => {
    const { status, body, headers } = await create({ prompt: 'say hello' });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json');
    expect(body).toEqual({
      session_id: expect.stringMatching(/^devin-[0-9a-f]{32}$/),
      url: expect.stringMatching(/^http:\/\/.*\/sessions\/[0-9a-f]{32}$/),
    });
    expect(body.url.endsWith(body.session_id.replace('devin-', ''))).toBe(true);
  });

  test('every field of the request is accepted, and null equals an omitted field', async () => {
    const { status, body } = await create({
      prompt: 'say hello',
      title: 'Greeting',
      tags: ['b', 'a', 'b'],
      snapshot_id: 'snapshot-1',
      unlisted: true,
      max_acu_limit: 3,
      secret_ids: [],
      knowledge_ids: null,
      playbook_id: null,
      session_secrets: [{ key: 'TOKEN', value: 'top c4n4ry', sensitive: true }],
      structured_output_schema: { type: 'object' },
    });
    expect(status).toBe(200);
    const details = await call(app, app.v1Key, 'GET', `/v1/sessions/${body.session_id}`);
    expect(details.body).toMatchObject({
      title: 'Greeting',
      tags: ['b', 'a'],
      snapshot_id: 'snapshot-1',
      playbook_id: null,
    });
    expect(JSON.stringify(details.body)).not.toContain('c4n4ry');
  });

  test('a service key may create too, in its own organization', async () => {
    const key = await makeServiceKey(app, app.organizationId);
    expect((await create({ prompt: 'say hello' }, {}, key)).status).toBe(200);
  });

  test.each(['/v1/session', '/v1/sessions/', '/v1/session/'])('%s is the same route', async (path) => {
    const { status, body } = await call(app, app.v1Key, 'POST', path, { prompt: 'say hello' });
    expect({ status, ...body }).toMatchObject({ status: 200, session_id: expect.stringMatching(/^devin-/) });
  });

  test('unknown fields are ignored', async () => {
    expect((await create({ prompt: 'say hello', repos: ['a/b'], future: { deep: [1] } })).status).toBe(200);
  });

  test('the body is read as JSON regardless of its content type', async () => {
    const { status } = await sendRaw(app, app.v1Key, '/v1/sessions', '{"prompt":"say hello"}', {
      'content-type': 'text/plain',
    });
    expect(status).toBe(200);
  });
});

describe('idempotency', () => {
  test('the same idempotent request returns the same session and reports that', async () => {
    const body = { prompt: 'once', tags: ['x'], idempotent: true };
    const first = await create(body);
    const second = await create(body);
    expect(first.body.is_new_session).toBe(true);
    expect(second.body).toEqual({ ...first.body, is_new_session: false });
  });

  test('different idempotent requests create two sessions', async () => {
    const first = await create({ prompt: 'one of two', idempotent: true });
    const second = await create({ prompt: 'two of two', idempotent: true });
    expect(second.body.is_new_session).toBe(true);
    expect(second.body.session_id).not.toBe(first.body.session_id);
  });

  test('null and a missing field are the same input', async () => {
    const first = await create({ prompt: 'nulls', idempotent: true });
    const second = await create({ prompt: 'nulls', idempotent: true, title: null, secret_ids: null });
    expect(second.body.session_id).toBe(first.body.session_id);
  });

  test('without idempotent the same request creates two sessions, and is_new_session is absent', async () => {
    const first = await create({ prompt: 'twice' });
    const second = await create({ prompt: 'twice', idempotent: false });
    expect(first.body).not.toHaveProperty('is_new_session');
    expect(second.body).not.toHaveProperty('is_new_session');
    expect(second.body.session_id).not.toBe(first.body.session_id);
  });

  test('one Idempotency-Key is one session; is_new_session is absent unless idempotent is true', async () => {
    const headers = { 'idempotency-key': 'order 17' };
    const first = await create({ prompt: 'by key' }, headers);
    const second = await create({ prompt: 'by key' }, headers);
    expect(second.body).toEqual(first.body);
    expect(first.body).not.toHaveProperty('is_new_session');
    const third = await create({ prompt: 'by key', idempotent: true }, headers);
    expect(third.body).toEqual({ ...first.body, is_new_session: false });
  });

  test('an Idempotency-Key with other input is refused with 400', async () => {
    const headers = { 'idempotency-key': 'conflicting' };
    await create({ prompt: 'first input' }, headers);
    await refused(400, /other input/, () => create({ prompt: 'second input' }, headers));
  });

  test.each([
    ['empty', ''],
    ['too long', 'k'.repeat(256)],
    ['not ASCII', 'caf\u00e9'],
  ])('a key that is %s is refused', async (_, key) => {
    await refused(400, /1 to 255 printable ASCII/, () => create({ prompt: 'bad key' }, { 'idempotency-key': key }));
  });

  test('a hundred parallel identical requests create one session', async () => {
    const before = await countSessions(app);
    const body = { prompt: 'a hundred at once', idempotent: true };
    const answers = await Promise.all(Array.from({ length: 100 }, () => create(body)));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
    expect(new Set(answers.map((answer) => answer.body.session_id)).size).toBe(1);
    expect(answers.filter((answer) => answer.body.is_new_session).length).toBe(1);
    expect(await countSessions(app)).toBe(before + 1);
  });

  test('another caller’s key is separate', async () => {
    const body = { prompt: 'whose', idempotent: true };
    const other = await makeServiceKey(app, app.organizationId);
    const mine = await create(body);
    const theirs = await create(body, {}, other);
    expect(theirs.body.session_id).not.toBe(mine.body.session_id);
  });
});

describe('400', () => {
  const bad: [string, unknown, RegExp][] = [
    ['no prompt', {}, /"prompt" is required/],
    ['a prompt that is a number', { prompt: 5 }, /"prompt" must be a string, but was a number/],
    ['a prompt that is null', { prompt: null }, /"prompt" must be a string, but was null/],
    ['an empty prompt', { prompt: '' }, /"prompt" must not be empty/],
    ['a prompt of spaces', { prompt: ' \n ' }, /"prompt" must not be empty/],
    ['a prompt with a NUL', { prompt: 'a\u0000b' }, /"prompt" must be Unicode text/],
    ['a prompt with a lone surrogate', { prompt: 'a\ud800b' }, /"prompt" must be Unicode text/],
    ['a title with a lone surrogate', { prompt: 'x', title: '\udc00' }, /"title" must be Unicode text/],
    [
      '51 tags',
      { prompt: 'x', tags: Array.from({ length: 51 }, (_, n) => `t${n}`) },
      /"tags" must have at most 50 items, but has 51/,
    ],
    ['tags that are a string', { prompt: 'x', tags: 'a' }, /"tags" must be an array, but was a string/],
    ['a tag that is a number', { prompt: 'x', tags: ['a', 1] }, /"tags.1" must be a string, but was a number/],
    ['a limit of 0', { prompt: 'x', max_acu_limit: 0 }, /"max_acu_limit" must be greater than 0, but was 0/],
    ['a negative limit', { prompt: 'x', max_acu_limit: -1 }, /"max_acu_limit" must be greater than 0/],
    ['a limit of a half', { prompt: 'x', max_acu_limit: 1.5 }, /"max_acu_limit" must be an integer/],
    ['a limit as text', { prompt: 'x', max_acu_limit: '5' }, /"max_acu_limit" must be a number/],
    ['a limit past all sense', { prompt: 'x', max_acu_limit: 1e300 }, /"max_acu_limit"/],
    ['idempotent as text', { prompt: 'x', idempotent: 'yes' }, /"idempotent" must be a boolean/],
    [
      'a schema that is an array',
      { prompt: 'x', structured_output_schema: [] },
      /"structured_output_schema" must be an object/,
    ],
    [
      'a schema with an external $ref',
      { prompt: 'x', structured_output_schema: { $ref: 'https://a/b' } },
      /"structured_output_schema" must be self-contained/,
    ],
    [
      'a schema over 64 KB',
      { prompt: 'x', structured_output_schema: { description: 'x'.repeat(65_537) } },
      /"structured_output_schema" must be at most 64 KB/,
    ],
    [
      'a schema that is none',
      { prompt: 'x', structured_output_schema: { type: 'nonsense' } },
      /"structured_output_schema" is not a JSON Schema/,
    ],
    ['an unknown secret', { prompt: 'x', secret_ids: ['sec_nope'] }, /"secret_ids" refers to "sec_nope"/],
    ['an unknown note', { prompt: 'x', knowledge_ids: ['\ud800'] }, /"knowledge_ids" refers to/],
    ['an unknown playbook', { prompt: 'x', playbook_id: 'playbook-nope' }, /"playbook_id" refers to "playbook-nope"/],
    [
      'a session secret without a value',
      { prompt: 'x', session_secrets: [{ key: 'A' }] },
      /"session_secrets.0.value" is required/,
    ],
    [
      'a session secret without a name',
      { prompt: 'x', session_secrets: [{ key: '', value: 'v' }] },
      /must not be empty/,
    ],
    ['a body that is an array', [{ prompt: 'x' }], /The body must be an object, but was an array/],
    ['a body that is null', null, /The body must be an object, but was null/],
  ];
  test.each(bad)('%s', async (_, body, detail) => {
    await refused(400, detail, () => create(body));
  });

  test.each<[string, Uint8Array | string, RegExp]>([
    ['no JSON', '{"prompt": ', /not valid JSON/],
    ['an empty body', '', /must be JSON, but is empty/],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), /not valid UTF-8/],
    [
      'an encoded surrogate',
      Buffer.concat([Buffer.from('{"prompt":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
      /not valid UTF-8/,
    ],
    ['UTF-16', Buffer.from('{"prompt":"hello"}', 'utf16le'), /not valid/],
    ['arrays in arrays in arrays', '['.repeat(500_000) + ']'.repeat(500_000), /nest deeper|not valid JSON/],
    [
      'a deep schema',
      `{"prompt":"x","structured_output_schema":${'{"not":'.repeat(5_000)}{}${'}'.repeat(5_000)}}`,
      /nest deeper/,
    ],
  ])('%s', async (_, body, detail) => {
    await refused(400, detail, () => sendRaw(app, app.v1Key, '/v1/sessions', body));
  });
});

describe('401', () => {
  test.each<[string, Record<string, string>]>([
    ['no header', {}],
    ['another scheme', { authorization: 'Basic YTpi' }],
    ['a bare key', { authorization: 'apk_user_aaaaaaaaaaaaaaaaaaaaaaaa' }],
    ['an unknown key', { authorization: 'Bearer apk_user_aaaaaaaaaaaaaaaaaaaaaaaa' }],
    ['an odd key', { authorization: 'Bearer apk_user_%00' }],
  ])('%s', async (_, headers) => {
    await refused(401, /^Missing or invalid Authorization header$/, () => create({ prompt: 'x' }, headers, null));
  });

  test('the error for a key of version 3 names the accepted keys', async () => {
    await refused(401, /"apk_user_".*"apk_"/, () => create({ prompt: 'x' }, {}, app.adminToken));
  });

  test('the key is checked before the body is read', async () => {
    await refused(401, /Authorization/, () => create({}, {}, null));
  });
});

test('403: a key whose role may not start sessions', async () => {
  const { token } = await makeServiceUser(app, { roleId: 'account_member' });
  const { status, body } = await call(app, token, 'POST', `/v3/organizations/org-${app.organizationId}/sessions`, {
    prompt: 'x',
  });
  expect({ status, detail: body.detail }).toEqual({
    status: 403,
    detail: 'You do not have access to this organization.',
  });
});

describe('413', () => {
  test('a body over 1 MiB', async () => {
    await refused(413, /at most 1048576 bytes/, () => create({ prompt: 'x'.repeat(1_100_000) }));
  });

  const spaces = (chunks: number): ReadableStream<Uint8Array> => {
    let left = chunks;
    return new ReadableStream({
      pull(controller) {
        left -= 1;
        if (left < 0) controller.close();
        else controller.enqueue(new Uint8Array(64 * 1_024).fill(0x20));
      },
    });
  };

  test('a body over 1 MiB without a length, after which the connection can be reused', async () => {
    for (let round = 0; round < 5; round++) {
      await refused(413, /at most 1048576 bytes/, () => sendRaw(app, app.v1Key, '/v1/sessions', spaces(32)));
    }
  });

  test('a body with an announced gigabyte is refused before it arrives', async () => {
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname);
    const answer = new Promise<string>((resolve, reject) => {
      let text = '';
      socket.on('data', (data) => {
        text += data;
      });
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
    });
    socket.write(
      `POST /v1/sessions HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${app.v1Key}\r\nContent-Length: 1000000000\r\n\r\n{`,
    );
    expect(await answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*connection: close[\s\S]*at most 1048576 bytes/i);
  });
});

test('405: other methods get the list of allowed methods', async () => {
  const { status, headers, body } = await call(app, app.v1Key, 'PATCH', '/v1/sessions', {});
  expect({ status, allow: headers.get('allow') }).toEqual({ status: 405, allow: 'GET, HEAD, POST, OPTIONS' });
  expect(body.detail).toMatch(/GET, HEAD, POST/);
});
