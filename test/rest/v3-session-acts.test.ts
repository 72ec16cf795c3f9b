import { describe, expect, test } from 'vitest';
import { createRole } from '../../src/domain/identity/people/change-roles.ts';
import { readMessages } from '../support/session-waits.ts';
import { useApp } from '../support/use-app.ts';
import { asAdministrator, call, makeOrganization, makeServiceUser, makeUser } from './rest-app.ts';

const app = useApp();

/** A separate organization with a session, and a function for requests to it. */
async function oneSession(body: object = {}) {
  const organizationId = await makeOrganization(app);
  const sessions = `/v3/organizations/org-${organizationId}/sessions`;
  const made = await call(app, app.adminToken, 'POST', sessions, { prompt: 'say hello', ...body });
  const id: string = made.body.session_id;
  const ask = (method: string, rest: string = '', sent?: unknown, token: string = app.adminToken) =>
    call(app, token, method, `${sessions}/${id}${rest}`, sent);
  return { organizationId, sessions, id, ask };
}

const setStatus = (id: string, columns: string) =>
  app.app.services.store.execute(`update session set ${columns} where id = $1`, [id]);

const actionsOf = async (id: string) =>
  (
    await app.app.services.store.query<{ action: string }>(
      'select action from audit_entry where session_id = $1 order by created_at, id',
      [id],
    )
  ).map(({ action }) => action);

describe('archive and unarchive', () => {
  test.each([
    ['new', "status = 'new'"],
    ['claimed', "status = 'claimed'"],
    ['running', "status = 'running', status_detail = 'working'"],
    ['resuming', "status = 'resuming', request = 'resume'"],
  ])('200: a session in %s is suspended and leaves the queue', async (_status, columns) => {
    const { id, ask } = await oneSession();
    await setStatus(id, columns);
    const before = (await ask('GET')).body.updated_at;
    const { status, body } = await ask('POST', '/archive');
    expect(status).toBe(200);
    expect(body.updated_at).toBe(before);
    expect(body).toMatchObject({
      session_id: id,
      is_archived: true,
      status: 'suspended',
      status_detail: 'user_request',
    });
    expect(await app.app.services.store.query('select queued_at from run where session_id = $1', [id])).toEqual([
      { queued_at: null },
    ]);
    expect(await actionsOf(id)).toEqual(['create_session', 'sleep_session', 'archive_session']);
    expect((await ask('GET')).body).toMatchObject({ is_archived: true, status: 'suspended' });
  });

  test.each(['exit', 'error', 'suspended'])('200: a session in %s keeps its status', async (before) => {
    const { id, ask } = await oneSession();
    await setStatus(id, `status = '${before}', ended_by = ${before === 'exit' ? "'finished'" : 'null'}`);
    expect((await ask('POST', '/archive')).body).toMatchObject({ is_archived: true, status: before });
    expect(await actionsOf(id)).toEqual(['create_session', 'archive_session']);
    // The second time changes nothing.
    expect(await ask('POST', '/archive')).toMatchObject({ status: 200, body: { is_archived: true } });
    expect((await ask('POST', '/unarchive')).body).toMatchObject({ is_archived: false, status: before });
  });

  test('every change is logged, and an archived session accepts no messages until it is unarchived', async () => {
    const { id, ask } = await oneSession();
    await ask('POST', '/archive');
    expect(await ask('POST', '/messages', { message: 'hello' })).toMatchObject({
      status: 409,
      body: { detail: 'The session is archived and takes no further messages.' },
    });
    expect(await ask('POST', '/unarchive')).toMatchObject({
      status: 200,
      body: { is_archived: false, status: 'suspended' },
    });
    const woken = await ask('POST', '/messages', { message: 'wake up' });
    expect(woken).toMatchObject({ status: 200, body: { status: 'resuming' } });
    const entries = await app.app.services.store.query<{ data: any }>(
      `select data from log_entry where session_id = $1 and kind = 'STATUS' order by seq`,
      [id],
    );
    expect(entries.map(({ data }) => [data.status, data.isArchived])).toEqual([
      ['new', false],
      ['suspended', false],
      ['suspended', true],
      ['suspended', false],
      ['resuming', false],
    ]);
    expect(await readMessages(app, id)).toEqual(['INITIAL_USER_MESSAGE: say hello', 'USER_MESSAGE: wake up']);
  });

  test('unarchiving does not affect children; a session shows its children and its parent', async () => {
    const { id, sessions, ask } = await oneSession();
    const children: string[] = [];
    for (const prompt of ['one', 'two']) {
      children.push((await call(app, app.adminToken, 'POST', sessions, { prompt })).body.session_id);
    }
    await app.app.services.store.execute('update session set parent_id = $1 where id = any($2::text[])', [
      id,
      children,
    ]);
    await ask('POST', '/archive');
    for (const child of children) await call(app, app.adminToken, 'POST', `${sessions}/${child}/archive`);
    expect((await ask('POST', '/unarchive')).body.child_session_ids).toEqual(children.toReversed());
    const list = await call(app, app.adminToken, 'GET', `${sessions}?parent_session_id=devin-${id}`);
    expect(list.body.items.map((item: any) => [item.session_id, item.parent_session_id, item.is_archived])).toEqual(
      children.toReversed().map((child) => [child, id, true]),
    );
    const all = await call(app, app.adminToken, 'GET', `${sessions}?first=5`);
    expect(all.body.items.map((item: any) => item.child_session_ids)).toEqual([[], [], children.toReversed()]);
  });

  test('DELETE with ?archive=true archives and terminates it', async () => {
    const { ask } = await oneSession();
    expect((await ask('DELETE', '?archive=true')).body).toMatchObject({ is_archived: true, status: 'exit' });
    expect((await ask('POST', '/unarchive')).body).toMatchObject({ is_archived: false, status: 'exit' });
  });
});

describe('tags', () => {
  test('GET returns, POST adds, PUT replaces; duplicates are dropped, order is kept', async () => {
    const { id, sessions, ask } = await oneSession({ tags: ['b', 'a'] });
    const { updated_at } = (await ask('GET')).body;
    expect((await ask('GET', '/tags')).body).toEqual({ tags: ['b', 'a'] });
    expect((await ask('POST', '/tags', { tags: ['c', 'a', 'c'] })).body).toEqual({ tags: ['b', 'a', 'c'] });
    expect((await ask('PUT', '/tags', { tags: ['d', 'a', 'd'] })).body).toEqual({ tags: ['d', 'a'] });
    expect((await ask('GET')).body).toMatchObject({ tags: ['d', 'a'], updated_at });
    const found = async (tag: string) =>
      (await call(app, app.adminToken, 'GET', `${sessions}?tags=${tag}`)).body.items.map(
        (item: any) => item.session_id,
      );
    expect([await found('b'), await found('c'), await found('d'), await found('a')]).toEqual([[], [], [id], [id]]);
    expect((await ask('PUT', '/tags', { tags: [] })).body).toEqual({ tags: [] });
    expect(await found('a')).toEqual([]);
    const notices = await app.app.services.store.query(
      `select body, data from log_entry where session_id = $1 and kind = 'NOTICE' order by seq`,
      [id],
    );
    expect(notices).toEqual([
      { body: 'Tags: b, a, c.', data: { tags: ['b', 'a', 'c'] } },
      { body: 'Tags: d, a.', data: { tags: ['d', 'a'] } },
      { body: 'The tags were removed.', data: { tags: [] } },
    ]);
  });

  test('at most 50, also after additions: 422 for more in one request, 400 for more in total', async () => {
    const many = (count: number, from: number = 0) => Array.from({ length: count }, (_, n) => `tag ${n + from}`);
    const { ask } = await oneSession({ tags: many(49) });
    expect((await ask('PUT', '/tags', { tags: many(51) })).body.detail[0]).toMatchObject({ loc: ['body', 'tags'] });
    expect(await ask('POST', '/tags', { tags: many(2, 49) })).toMatchObject({
      status: 400,
      body: { detail: '"tags" must be at most 50 on a session, but would be 51.' },
    });
    expect((await ask('POST', '/tags', { tags: many(2, 48) })).body.tags).toHaveLength(50);
    expect((await ask('PUT', '/tags', { tags: [''] })).status).toBe(422);
    expect((await ask('PUT', '/tags', { tags: 'a' })).status).toBe(422);
    expect((await ask('PUT', '/tags', {})).status).toBe(422);
    expect((await ask('GET', '/tags')).body.tags).toHaveLength(50);
  });

  test('concurrent additions lose none', async () => {
    const { ask } = await oneSession();
    const tags = Array.from({ length: 12 }, (_, n) => `t${n}`);
    await Promise.all(tags.map((tag) => ask('POST', '/tags', { tags: [tag] })));
    expect((await ask('GET', '/tags')).body.tags.toSorted()).toEqual(tags.toSorted());
  });
});

describe('insights', () => {
  test('counts come from the log, the size from the ACUs, without an analysis', async () => {
    const { id, sessions, ask } = await oneSession();
    await ask('POST', '/messages', { message: 'and this' });
    await app.app.services.store.execute(
      `insert into log_entry (session_id, seq, id, kind, message_type, body, created_at)
       select $1, n, md5($1 || n), case when n % 2 = 0 then 'MESSAGE' else 'THOUGHT' end,
              case when n % 2 = 0 then 'agent_message' end, 'said', now() from generate_series(1000, 1005) n`,
      [id],
    );
    const quiet = (await call(app, app.adminToken, 'POST', sessions, { prompt: 'another' })).body.session_id;
    const sizes: string[] = [];
    for (const acus of [0, 0.99, 1, 2.99, 3, 6, 12]) {
      await setStatus(id, `acus_consumed = ${acus}`);
      sizes.push((await ask('GET', '/insights')).body.session_size);
    }
    expect(sizes).toEqual(['xs', 'xs', 's', 's', 'm', 'l', 'xl']);
    const { body } = await ask('GET', '/insights');
    expect(body).toEqual({
      ...(await ask('GET')).body,
      num_user_messages: 2,
      num_devin_messages: 3,
      session_size: 'xl',
      analysis: null,
    });
    const list = await call(app, app.adminToken, 'GET', `${sessions}/insights?first=1`);
    expect(list.body).toMatchObject({
      items: [{ session_id: quiet, num_user_messages: 1, num_devin_messages: 0 }],
      has_next_page: true,
    });
    const next = await call(app, app.adminToken, 'GET', `${sessions}/insights?after=${list.body.end_cursor}`);
    expect(next.body.items).toEqual([body]);
    const filtered = await call(app, app.adminToken, 'GET', `${sessions}/insights?session_ids=${quiet}`);
    expect(filtered.body.items).toHaveLength(1);
  });

  test('generate: they always exist', async () => {
    const { id, ask } = await oneSession();
    expect(await ask('POST', '/insights/generate')).toMatchObject({
      status: 200,
      body: { session_id: id, status: 'already_exists' },
    });
  });
});

describe('permissions', () => {
  const acts: [string, string, object?][] = [
    ['POST', '/interrupt'],
    ['POST', '/archive'],
    ['POST', '/unarchive'],
    ['POST', '/tags', { tags: ['a'] }],
    ['PUT', '/tags', { tags: ['a'] }],
    ['POST', '/insights/generate'],
    ['DELETE', ''],
  ];

  test.each(acts)(
    '%s …%s: its owner, and managers of sessions without read permission, but no other member',
    async (method, rest, sent) => {
      const { organizationId, sessions, ask } = await oneSession();
      const [owner, other] = [await makeUser(app, organizationId), await makeUser(app, organizationId)];
      const own = (await call(app, owner.v3Token, 'POST', sessions, { prompt: 'x' })).body.session_id;
      expect(await call(app, other.v3Token, method, `${sessions}/${own}${rest}`, sent)).toMatchObject({
        status: 403,
        body: { detail: 'Missing permission ManageOrgSessions' },
      });
      expect((await call(app, owner.v3Token, method, `${sessions}/${own}${rest}`, sent)).status).toBe(200);
      const role = {
        name: `Manager ${organizationId}`,
        scope: 'organization',
        permissions: ['ManageOrgSessions'],
      } as const;
      const { id: roleId } = await createRole(await asAdministrator(app), role);
      const manager = await makeServiceUser(app, { organizationId, roleId });
      expect((await ask(method, rest, sent, manager.token)).status).toBe(200);
      expect((await ask('GET', '', undefined, manager.token)).status).toBe(403);
    },
  );

  test.each([...acts, ['GET', '/tags'], ['GET', '/insights'], ['GET', '/messages']] as typeof acts)(
    '404: %s …%s of another organization’s session, or an unknown one',
    async (method, rest, sent) => {
      const { sessions } = await oneSession();
      const { id: foreign } = await oneSession();
      for (const id of [foreign, 'devin-00000000000000000000000000000000', 'nonsense']) {
        const { status, body } = await call(app, app.adminToken, method, `${sessions}/${id}${rest}`, sent);
        expect({ id, status, detail: body.detail }).toEqual({ id, status: 404, detail: 'There is no such session.' });
      }
    },
  );
});
