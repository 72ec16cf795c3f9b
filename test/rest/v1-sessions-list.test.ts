import { describe, expect, test } from 'vitest';
import { stopClock } from '../support/clock.ts';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeServiceKey, makeUser, startApp } from './rest-app.ts';

const app = useApp();

const list = (key: string, query: string = '') => call(app, key, 'GET', `/v1/sessions${query}`);

/** An organization with these sessions, oldest first, and its key. */
async function organizationWith(bodies: object[]): Promise<{ key: string; ids: string[] }> {
  const key = await makeServiceKey(app, await makeOrganization(app));
  const ids: string[] = [];
  for (const body of bodies)
    ids.push((await call(app, key, 'POST', '/v1/sessions', { prompt: 'x', ...body })).body.session_id);
  return { key, ids };
}

const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ title: `Session ${n}` }));
const idsOf = (answer: { body: { sessions: { session_id: string }[] } }) =>
  answer.body.sessions.map((session) => session.session_id);

describe('200', () => {
  test('an item has exactly the documented fields', async () => {
    const { userId, email, v1Key } = await makeUser(app, await makeOrganization(app));
    await call(app, v1Key, 'POST', '/v1/sessions', { prompt: 'say hello', tags: ['a'] });
    const { status, body } = await list(v1Key);
    expect(status).toBe(200);
    expect(userId).toMatch(/^[0-9a-f]{32}$/);
    expect(body).toEqual({
      sessions: [
        {
          session_id: expect.stringMatching(/^devin-[0-9a-f]{32}$/),
          status: 'new',
          status_enum: 'working',
          title: 'say hello',
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
          snapshot_id: null,
          playbook_id: null,
          tags: ['a'],
          pull_request: null,
          structured_output: null,
          requesting_user_email: email,
        },
      ],
    });
  });

  test('tags are never null, and a service key has no email', async () => {
    const { key } = await organizationWith([{}]);
    expect((await list(key)).body.sessions[0]).toMatchObject({ tags: [], requesting_user_email: null });
  });

  test('structured output is JSON text here and an object in the details; the newest pull request is shown', async () => {
    const { key, ids } = await organizationWith([{}]);
    const id = (ids[0] as string).replace('devin-', '');
    const requests = ['https://git.test/1', 'https://git.test/2'].map((url) => ({ url, state: 'open' }));
    await app.app.services.store.execute(
      'update session set structured_output = $2::jsonb, pull_requests = $3::jsonb where id = $1',
      [id, '{"answer":42}', JSON.stringify(requests)],
    );
    expect((await list(key)).body.sessions[0]).toMatchObject({
      structured_output: '{"answer":42}',
      pull_request: { url: 'https://git.test/2' },
    });
    const details = await call(app, key, 'GET', `/v1/sessions/${ids[0]}`);
    expect(details.body.structured_output).toEqual({ answer: 42 });
  });

  test('limit and offset page through all sessions, newest first', async () => {
    const { key, ids } = await organizationWith(numbered(7));
    const seen: string[] = [];
    for (let offset = 0; ; offset += 3) {
      const page = idsOf(await list(key, `?limit=3&offset=${offset}`));
      seen.push(...page);
      if (page.length < 3) break;
    }
    expect(seen).toEqual(ids.toReversed());
    expect(idsOf(await list(key, '?offset=1000'))).toEqual([]);
  });

  describe('an offset', () => {
    /** An organization with two sessions, and a function that creates another; all newest first. */
    async function twoSessions() {
      const { key, ids } = await organizationWith(numbered(2));
      const create = async (body = {}) =>
        (await call(app, key, 'POST', '/v1/sessions', { prompt: 'x', ...body })).body.session_id as string;
      return { key, create, newestFirst: ids.toReversed() as [string, string] };
    }

    test('counts from the last page at offset 0 of the same filter, with any limit', async () => {
      const { key, create, newestFirst } = await twoSessions();
      const [second, first] = newestFirst;
      expect(idsOf(await list(key, '?limit=1'))).toEqual([second]);
      const third = await create();
      expect(idsOf(await list(key, '?limit=1&offset=1'))).toEqual([first]);
      expect(idsOf(await list(key, '?offset=1'))).toEqual([first]);
      // A page at offset 0 replaces the snapshot, also when it shows the whole list.
      expect(idsOf(await list(key))).toEqual([third, ...newestFirst]);
      expect(idsOf(await list(key, '?offset=1'))).toEqual(newestFirst);
      const fourth = await create();
      expect(idsOf(await list(key, '?offset=1'))).toEqual(newestFirst);
      expect(idsOf(await list(key, '?offset=0&limit=4'))).toEqual([fourth, third, ...newestFirst]);
      expect(idsOf(await list(key, '?offset=1'))).toEqual([third, ...newestFirst]);
    });

    test('repeats nothing after a first page with the complete list', async () => {
      const { key } = await organizationWith([]);
      expect(idsOf(await list(key, '?limit=1'))).toEqual([]);
      const [one, two] = [{ title: 'one' }, { title: 'two' }];
      await call(app, key, 'POST', '/v1/sessions', { prompt: 'x', ...one });
      expect(idsOf(await list(key, '?limit=1&offset=1'))).toEqual([]);
      const seen = idsOf(await list(key, '?limit=1'));
      await call(app, key, 'POST', '/v1/sessions', { prompt: 'x', ...two });
      expect(seen).toHaveLength(1);
      expect(idsOf(await list(key, '?limit=1&offset=1'))).toEqual([]);
    });

    test('counts from the current list without such a page, for this key and for this filter', async () => {
      const { key, create, newestFirst } = await twoSessions();
      const [second, first] = newestFirst;
      expect(idsOf(await list(key, '?offset=1'))).toEqual([first]);
      const third = await create({ tags: ['a'] });
      expect(idsOf(await list(key, '?offset=1'))).toEqual([second, first]);
      expect(idsOf(await list(key, '?tags=a'))).toEqual([third]);
      const fourth = await create({ tags: ['a'] });
      expect(idsOf(await list(key, '?offset=1'))).toEqual([third, second, first]);
      expect(idsOf(await list(key, '?tags=a&offset=1'))).toEqual([]);
      expect(idsOf(await list(key, '?tags=a'))).toEqual([fourth, third]);
    });

    test('counts from the current list again after ten minutes', async () => {
      const other = await startApp();
      try {
        const clock = stopClock(other);
        const create = async () =>
          (await call(other, other.v1Key, 'POST', '/v1/sessions', { prompt: 'x' })).body.session_id;
        const read = async (query: string) => idsOf(await call(other, other.v1Key, 'GET', `/v1/sessions${query}`));
        const first = await create();
        expect(await read('?limit=1')).toEqual([first]);
        clock.advance(1);
        await create();
        expect(await read('?offset=1')).toEqual([]);
        clock.advance(10 * 60_000);
        expect(await read('?offset=1')).toEqual([first]);
      } finally {
        await other.close();
      }
    });
  });

  test('the singular alias, trailing slashes and unknown parameters make no difference', async () => {
    const { key, ids } = await organizationWith(numbered(1));
    expect(idsOf(await call(app, key, 'GET', '/v1/session?limit=5&shoe_size=44'))).toEqual(ids);
    expect(idsOf(await call(app, key, 'GET', '/v1/sessions/'))).toEqual(ids);
  });

  test('tags match sessions with any of them, in any form of the list', async () => {
    const { key, ids } = await organizationWith([{ tags: ['a'] }, { tags: ['b', 'c'] }, { tags: ['d,e'] }, {}]);
    const [a, b, de] = ids as [string, string, string];
    expect(idsOf(await list(key, '?tags=a'))).toEqual([a]);
    expect(idsOf(await list(key, '?tags=a&tags=c'))).toEqual([b, a]);
    expect(idsOf(await list(key, '?tags[]=a&tags[]=c'))).toEqual([b, a]);
    expect(idsOf(await list(key, '?tags=a,c'))).toEqual([b, a]);
    expect(idsOf(await list(key, '?tags=d,e'))).toEqual([de]);
    expect(idsOf(await list(key, `?qs=${encodeURIComponent('{"tags":["a"],"limit":1}')}`))).toEqual([a]);
    expect(idsOf(await list(key, '?tags=none'))).toEqual([]);
    expect(idsOf(await list(key, '?tags='))).toHaveLength(4);
  });

  test('user_email matches the sessions that the user started', async () => {
    const organizationId = await makeOrganization(app);
    const [one, two] = [await makeUser(app, organizationId), await makeUser(app, organizationId)];
    const { body } = await call(app, one.v1Key, 'POST', '/v1/sessions', { prompt: 'x' });
    expect(idsOf(await list(two.v1Key, `?user_email=${one.email.toUpperCase()}`))).toEqual([body.session_id]);
    expect(idsOf(await list(two.v1Key, `?user_email=${two.email}`))).toEqual([]);
  });

  test('an unlisted session is in no list, but readable by its id', async () => {
    const { key, ids } = await organizationWith([{ unlisted: true }]);
    expect(idsOf(await list(key))).toEqual([]);
    expect((await call(app, key, 'GET', `/v1/sessions/${ids[0]}`)).status).toBe(200);
  });

  test('another organization’s sessions are omitted', async () => {
    const mine = await organizationWith(numbered(1));
    const theirs = await organizationWith(numbered(1));
    expect(idsOf(await list(mine.key))).toEqual(mine.ids);
    expect(idsOf(await list(theirs.key))).toEqual(theirs.ids);
  });

  test('HEAD answers like GET without a body', async () => {
    const { status, body, headers } = await call(app, app.v1Key, 'HEAD', '/v1/sessions');
    expect({ status, body, type: headers.get('content-type') }).toEqual({
      status: 200,
      body: null,
      type: 'application/json',
    });
  });
});

describe('422', () => {
  test.each([
    ['limit=0', 'limit', /"limit" must be an integer from 1 to 1000, but was 0/],
    ['limit=1001', 'limit', /"limit" must be an integer from 1 to 1000, but was 1001/],
    ['limit=-5', 'limit', /"limit" must be an integer from 1 to 1000/],
    ['limit=ten', 'limit', /"limit" must be an integer, but was "ten"/],
    ['limit=', 'limit', /"limit" must be an integer/],
    ['limit=1e2', 'limit', /"limit" must be an integer/],
    ['offset=-1', 'offset', /"offset" must not be negative/],
    ['offset=99999999999999999999', 'offset', /"offset" must be an integer/],
    ['tags=a%00b', 'tags', /"tags" must be Unicode text without NUL/],
    ['user_email=%00', 'user_email', /"user_email" must be Unicode text without NUL/],
    ['qs=[]', 'qs', /"qs" must be a JSON object/],
    ['qs={', 'qs', /"qs" must be a JSON object/],
  ])('?%s', async (query, name, message) => {
    const { status, body } = await list(app.v1Key, `?${query}`);
    expect(status).toBe(422);
    expect(body.detail).toEqual([{ loc: ['query', name], msg: expect.stringMatching(message), type: 'value_error' }]);
  });
});

test('401: without a key', async () => {
  const { status, body } = await call(app, null, 'GET', '/v1/sessions');
  expect({ status, body }).toEqual({ status: 401, body: { detail: 'Missing or invalid Authorization header' } });
});
