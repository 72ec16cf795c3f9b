import { describe, expect, test } from 'vitest';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeServiceUser, makeUser } from './rest-app.ts';

const app = useApp();

/** A separate organization with these sessions, oldest first. */
async function organizationWith(bodies: object[]) {
  const organizationId = await makeOrganization(app);
  const path = `/v3/organizations/org-${organizationId}/sessions`;
  const ids: string[] = [];
  for (const body of bodies)
    ids.push((await call(app, app.adminToken, 'POST', path, { prompt: 'x', ...body })).body.session_id);
  const list = (query: string = '', token: string = app.adminToken) => call(app, token, 'GET', `${path}${query}`);
  const idsOf = async (query: string) =>
    (await list(query)).body.items.map((item: { session_id: string }) => item.session_id);
  return { organizationId, path, ids, list, idsOf };
}

const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ title: `Session ${n}` }));

describe('pages', () => {
  test('an empty page has every field', async () => {
    const { list } = await organizationWith([]);
    expect(await list()).toMatchObject({
      status: 200,
      body: { items: [], end_cursor: null, has_next_page: false, total: null },
    });
  });

  test('first and after page through all sessions, newest first, each once', async () => {
    const { ids, list } = await organizationWith(numbered(7));
    const seen: string[] = [];
    let after = '';
    for (;;) {
      const { body } = await list(`?first=3${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`);
      seen.push(...body.items.map((item: { session_id: string }) => item.session_id));
      if (!body.has_next_page) break;
      after = body.end_cursor;
    }
    expect(seen).toEqual(ids.toReversed());
  });

  test('sessions created or removed meanwhile do not shift the pages', async () => {
    const { path, ids, list } = await organizationWith(numbered(5));
    const first = await list('?first=2');
    await call(app, app.adminToken, 'POST', path, { prompt: 'a newer one' });
    const last = first.body.items.at(-1).session_id;
    await app.app.services.store.execute('update session set is_unlisted = true where id = $1', [last]);
    const second = await list(`?first=10&after=${first.body.end_cursor}`);
    expect(second.body.items.map((item: { session_id: string }) => item.session_id)).toEqual(
      ids.slice(0, 3).toReversed(),
    );
  });

  test.each([
    ['first=0', 'first', /"first" must be an integer from 1 to 200, but was 0/, 'value_error'],
    ['first=201', 'first', /from 1 to 200/, 'value_error'],
    ['first=x', 'first', /must be an integer/, 'value_error'],
    ['after=nonsense', 'after', /"after" must be a cursor of this list/, 'bad_cursor'],
    ['after=%00', 'after', /NUL/, 'value_error'],
    ['created_after=yesterday', 'created_after', /must be an integer/, 'value_error'],
    ['is_archived=perhaps', 'is_archived', /must be true or false/, 'value_error'],
    ['playbook_id=%00', 'playbook_id', /NUL/, 'value_error'],
  ])('422: ?%s', async (query, name, message, type) => {
    const { list } = await organizationWith([]);
    const { status, body, headers } = await list(`?${query}`);
    expect(status).toBe(422);
    expect(headers.get('content-type')).toBe('application/problem+json');
    expect(body.detail).toEqual([{ loc: ['query', name], msg: expect.stringMatching(message), type }]);
    expect(body.errors).toEqual(body.detail);
  });

  test('422: a forged cursor', async () => {
    const { list } = await organizationWith([]);
    for (const text of [
      'sessions.createdAt|999999999999999|0',
      'sessions.createdAt|-1|0',
      'sessions.createdAt|1|\u0000',
      'sessions.createdAt',
    ]) {
      const { status, body } = await list(`?after=${Buffer.from(text).toString('base64url')}`);
      expect({ text, status, type: body.detail[0]?.type }).toEqual({ text, status: 422, type: 'bad_cursor' });
    }
  });

  test('422: a cursor of another list', async () => {
    const { list } = await organizationWith(numbered(2));
    const other = await call(app, app.adminToken, 'GET', '/v3/enterprise/organizations?first=1');
    expect((await list(`?after=${other.body.end_cursor}`)).status).toBe(422);
  });
});

describe('filters', () => {
  test('tags, session_ids and is_archived', async () => {
    const { ids, path, idsOf } = await organizationWith([{ tags: ['a'] }, { tags: ['b'] }, { unlisted: true }]);
    const [a, b, hidden] = ids as [string, string, string];
    await call(app, app.adminToken, 'DELETE', `${path}/${a}?archive=true`);
    expect(await idsOf('?tags=a&tags=b')).toEqual([b, a]);
    expect(await idsOf('?tags=b')).toEqual([b]);
    expect(await idsOf('?is_archived=true')).toEqual([a]);
    expect(await idsOf('?is_archived=false')).toEqual([b]);
    expect(await idsOf(`?session_ids=devin-${b}&session_ids=${hidden}&first=5`)).toEqual([hidden, b]);
    expect(await idsOf(`?session_ids=${a},${b}`)).toEqual([b, a]);
    expect(await idsOf('?session_ids=nonsense')).toEqual([]);
    expect(
      await idsOf(`?qs=${encodeURIComponent(JSON.stringify({ tags: ['a'], is_archived: true, first: 1 }))}`),
    ).toEqual([a]);
  });

  test('another organization’s session is not found by its id', async () => {
    const mine = await organizationWith([{}]);
    const theirs = await organizationWith([{}]);
    expect(await mine.idsOf(`?session_ids=${theirs.ids[0]}`)).toEqual([]);
  });

  test('user_ids, service_user_ids and origins', async () => {
    const { organizationId, path, ids, idsOf } = await organizationWith([{}]);
    const user = await makeUser(app, organizationId);
    const robot = await makeServiceUser(app, { organizationId, roleId: 'org_admin' });
    const byUser = (await call(app, user.v3Token, 'POST', path, { prompt: 'x' })).body.session_id;
    const byRobot = (await call(app, robot.token, 'POST', path, { prompt: 'x' })).body.session_id;
    expect(await idsOf(`?user_ids=user-${user.userId}`)).toEqual([byUser]);
    expect(await idsOf(`?service_user_ids=service-user-${robot.serviceUserId}`)).toEqual([byRobot]);
    expect(await idsOf(`?user_ids=${user.userId}&service_user_ids=${robot.serviceUserId}`)).toEqual([byRobot, byUser]);
    expect(await idsOf('?user_ids=nonsense')).toEqual([]);
    expect(await idsOf('?origins=slack&origins=api')).toEqual([byRobot, byUser, ids[0]]);
    expect(await idsOf('?origins=slack')).toEqual([]);
  });

  test('times are bounds in Unix seconds: at or after, and before', async () => {
    const { ids, idsOf } = await organizationWith([{}, {}]);
    const [early, late] = ids as [string, string];
    const { store } = app.app.services;
    await store.execute(
      "update session set created_at = '2026-01-01T00:00:00Z', updated_at = '2026-03-01T00:00:00Z' where id = $1",
      [early],
    );
    await store.execute(
      "update session set created_at = '2026-02-01T00:00:00Z', updated_at = '2026-02-01T00:00:00Z' where id = $1",
      [late],
    );
    const at = (iso: string) => Date.parse(iso) / 1_000;
    const february = at('2026-02-01T00:00:00Z');
    expect(await idsOf(`?created_after=${february}`)).toEqual([late]);
    expect(await idsOf(`?created_before=${february}`)).toEqual([early]);
    expect(await idsOf(`?updated_after=${february + 1}`)).toEqual([early]);
    expect(await idsOf(`?updated_before=${february + 1}`)).toEqual([late]);
    expect(await idsOf('?created_after=99999999999')).toEqual([]);
    expect(await idsOf('?created_after=-99999999999')).toEqual([late, early]);
  });

  test('unknown filter values match nothing, and unknown parameters are ignored', async () => {
    const { ids, idsOf } = await organizationWith([{}]);
    for (const query of [
      'category=security',
      'repo_names=a/b',
      'pr_state=draft',
      'schedule_id=s',
      'playbook_id=p',
      'automation_ids=a',
      'parent_session_id=s',
    ]) {
      expect({ query, found: await idsOf(`?${query}`) }).toEqual({ query, found: [] });
    }
    expect(await idsOf('?limit=1&colour=red')).toEqual(ids);
  });
});

test('403: another organization', async () => {
  const { list } = await organizationWith([]);
  const { v3Token } = await makeUser(app, app.organizationId);
  expect(await list('', v3Token)).toMatchObject({
    status: 403,
    body: { detail: 'You do not have access to this organization.' },
  });
});
