import { beforeAll, describe, expect, test } from 'vitest';
import { appendEntries } from '../../src/domain/sessions/log.ts';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeServiceUser, makeUser, sendRaw } from './rest-app.ts';

const app = useApp();
let sessions: string;
beforeAll(async () => {
  sessions = `/v3/organizations/org-${app.organizationId}/sessions`;
});

async function makeSession(token: string = app.adminToken): Promise<string> {
  return (await call(app, token, 'POST', sessions, { prompt: 'say hello' })).body.session_id;
}

const send = (id: string, body: unknown, headers: Record<string, string> = {}, token: string | null = app.adminToken) =>
  call(app, token, 'POST', `${sessions}/${id}/messages`, body, headers);
const list = (id: string, query: string = '') => call(app, app.adminToken, 'GET', `${sessions}/${id}/messages${query}`);

async function agentSays(id: string, texts: string[]): Promise<void> {
  const entries = texts.map((body) => ({ kind: 'MESSAGE', messageType: 'agent_message', body }) as const);
  await appendEntries(app.app.services.store, id, null, entries, new Date());
}

describe('GET', () => {
  test('the messages, oldest first, with the event ids of v1', async () => {
    const id = await makeSession();
    await agentSays(id, ['Hello.']);
    await send(id, { message: 'again' });
    const { status, body } = await list(`devin-${id}`);
    expect(status).toBe(200);
    const message = (source: string, text: string) => ({
      event_id: expect.stringMatching(/^event-[0-9a-f]{32}$/),
      source,
      message: text,
      created_at: expect.any(Number),
    });
    expect(body).toEqual({
      items: [message('user', 'say hello'), message('devin', 'Hello.'), message('user', 'again')],
      end_cursor: expect.any(String),
      has_next_page: false,
      total: null,
    });
    const v1 = await call(app, app.v1Key, 'GET', `/v1/sessions/${id}`);
    const eventIds = (messages: { event_id: string }[]) => messages.map((each) => each.event_id);
    expect(eventIds(body.items)).toEqual(eventIds(v1.body.messages));
  });

  test('a poller with end_cursor receives every message once', async () => {
    const id = await makeSession();
    const texts = Array.from({ length: 25 }, (_, n) => `message ${n}`);
    await agentSays(id, texts);
    const seen: string[] = [];
    let query = '?first=10';
    for (;;) {
      const { body } = await list(id, query);
      seen.push(...body.items.map((item: { message: string }) => item.message));
      query = `?first=10&after=${body.end_cursor}`;
      if (!body.has_next_page) break;
    }
    expect(seen).toEqual(['say hello', ...texts]);
    expect((await list(id, query)).body).toMatchObject({ items: [], has_next_page: false, end_cursor: null });
    await agentSays(id, ['one more']);
    expect((await list(id, query)).body.items).toMatchObject([{ message: 'one more' }]);
  });

  test('422: a limit out of range, and another session’s cursor', async () => {
    const [one, two] = [await makeSession(), await makeSession()];
    expect((await list(one, '?first=201')).body.detail[0].loc).toEqual(['query', 'first']);
    const { body } = await list(one);
    const wrong = await list(two, `?after=${body.end_cursor}`);
    expect({ status: wrong.status, type: wrong.body.detail[0].type }).toEqual({ status: 422, type: 'bad_cursor' });
  });

  test('404: another organization’s session', async () => {
    const other = await makeOrganization(app);
    const { body } = await call(app, app.adminToken, 'POST', `/v3/organizations/${other}/sessions`, { prompt: 'x' });
    expect((await list(body.session_id)).status).toBe(404);
  });
});

describe('POST', () => {
  test('200: returns the session; a finished one resumes', async () => {
    const id = await makeSession();
    expect(await send(id, { message: 'go on' })).toMatchObject({
      status: 200,
      body: { session_id: id, status: 'new' },
    });
    await app.app.services.store.execute("update session set status = 'exit', ended_by = 'finished' where id = $1", [
      id,
    ]);
    expect(await send(id, { message: 'more' })).toMatchObject({ status: 200, body: { status: 'resuming' } });
  });

  test('one Idempotency-Key is one message; another message with it is 422', async () => {
    const id = await makeSession();
    const headers = { 'idempotency-key': 'v3 message' };
    await Promise.all(Array.from({ length: 10 }, () => send(id, { message: 'once' }, headers)));
    expect((await list(id)).body.items).toHaveLength(2);
    const conflict = await send(id, { message: 'twice' }, headers);
    expect({ status: conflict.status, loc: conflict.body.detail[0].loc }).toEqual({
      status: 422,
      loc: ['header', 'Idempotency-Key'],
    });
  });

  test('409: a terminated and an archived session accept none', async () => {
    for (const query of ['', '?archive=true']) {
      const id = await makeSession();
      await call(app, app.adminToken, 'DELETE', `${sessions}/${id}${query}`);
      const { status, body, headers } = await send(id, { message: 'x' });
      expect({ status, type: headers.get('content-type') }).toEqual({ status: 409, type: 'application/problem+json' });
      expect(body).toMatchObject({
        title: 'Conflict',
        status: 409,
        detail: expect.stringMatching(/takes no further messages/),
      });
      expect((await list(id)).body.items).toHaveLength(1);
    }
  });

  test('422, 400, 413: invalid bodies, and nothing is written', async () => {
    const id = await makeSession();
    for (const body of [{}, { message: '' }, { message: 7 }, { message: '\ud800' }, { message: 'a\u0000b' }]) {
      const answer = await send(id, body);
      expect({ status: answer.status, loc: answer.body.detail[0].loc }).toEqual({
        status: 422,
        loc: ['body', 'message'],
      });
    }
    expect((await sendRaw(app, app.adminToken, `${sessions}/${id}/messages`, Buffer.from([0xff]))).status).toBe(400);
    expect((await send(id, { message: 'x'.repeat(1_100_000) })).status).toBe(413);
    expect((await list(id)).body.items).toHaveLength(1);
  });

  test('401 without a key, 403 to a member for a session of others, 404 for an unknown one', async () => {
    const id = await makeSession();
    const { v3Token } = await makeUser(app, app.organizationId);
    expect((await send(id, { message: 'x' }, {}, null)).status).toBe(401);
    const forbidden = await send(id, { message: 'x' }, {}, v3Token);
    expect({ status: forbidden.status, detail: forbidden.body.detail }).toEqual({
      status: 403,
      detail: 'Missing permission ManageOrgSessions',
    });
    expect((await send('0'.repeat(32), { message: 'x' })).status).toBe(404);
    const own = await makeSession(v3Token);
    expect((await send(own, { message: 'x' }, {}, v3Token)).status).toBe(200);
  });
});

describe('POST as a user', () => {
  const author = async (id: string) => {
    const { body } = await call(app, app.v1Key, 'GET', `/v1/sessions/${id}`);
    return body.messages.at(-1).user_id;
  };

  test('200: the message has the member as its author', async () => {
    const { userId } = await makeUser(app, app.organizationId);
    const id = await makeSession();
    expect((await send(id, { message: 'as another', message_as_user_id: `user-${userId}` })).status).toBe(200);
    expect(await author(id)).toBe(`user-${userId}`);
  });

  test('400 for a user who is no member, like for an unknown one', async () => {
    const stranger = await makeUser(app, await makeOrganization(app, 'Elsewhere'));
    const id = await makeSession();
    const answers = await Promise.all(
      [stranger.userId, '0'.repeat(32), 'nobody'].map((userId) =>
        send(id, { message: 'x', message_as_user_id: userId }),
      ),
    );
    for (const { status, body } of answers) {
      expect([status, body.detail]).toEqual([400, '"message_as_user_id" is not a member of this organization.']);
    }
    expect((await list(id)).body.items).toHaveLength(1);
  });

  test('403 without ImpersonateOrgSessions, and with another user’s token', async () => {
    const { userId } = await makeUser(app, app.organizationId);
    const member = await makeServiceUser(app, { organizationId: app.organizationId, roleId: 'org_member' });
    const id = await makeSession(member.token);
    const without = await send(id, { message: 'x', message_as_user_id: userId }, {}, member.token);
    expect([without.status, without.body.detail]).toEqual([403, 'Missing permission ImpersonateOrgSessions']);
    const person = await makeUser(app, app.organizationId, 'org_admin');
    const asOther = await send(id, { message: 'x', message_as_user_id: userId }, {}, person.v3Token);
    expect(asOther.status).toBe(403);
    const asSelf = await send(id, { message: 'x', message_as_user_id: person.userId }, {}, person.v3Token);
    expect(asSelf.status).toBe(200);
    expect(await author(id)).toBe(`user-${person.userId}`);
  });
});
