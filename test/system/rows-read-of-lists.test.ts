import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { makeOrganization, makeServiceUser, makeUser } from '../rest/rest-app.ts';
import { call, startApp, type TestApp } from '../support/app.ts';
import { rowsRead } from '../support/rows-read.ts';

const many = 8_000;
const few = 3;
let test: TestApp;
let organizationId: string;
const others: string[] = [];
const rare = { playbook: newId(), automation: newId(), parent: newId(), user: '', serviceUser: '' };
let rareIds: string[];

// 8,000 sessions of one organization, three old ones of which match, and some of two other organizations.
beforeAll(async () => {
  test = await startApp();
  organizationId = await makeOrganization(test, 'Large');
  others.push(await makeOrganization(test, 'One'), await makeOrganization(test, 'Other'));
  rare.user = (await makeUser(test, organizationId)).userId;
  rare.serviceUser = (await makeServiceUser(test, { organizationId, roleId: 'org_admin' })).serviceUserId;
  const { store } = test.app.services;
  const insert = (organization: string, count: number) =>
    store.execute<{ id: string }>(
      `insert into session (id, organization_id, title, is_title_derived, status, origin, tags, prompt, user_id, created_at, updated_at)
       select md5($1 || n), $1, 'one', false, case when n % 9 = 0 then 'running' else 'exit' end, 'api', case when n % 100 = 0 then '{common,some}'::text[] else '{common}' end, 'x',
              'user' || n % 50, now() - n * interval '1 second', now() - n * interval '1 second'
         from generate_series(1, $2::int) n returning id`,
      [organization, count],
    );
  await insert(organizationId, many);
  for (const other of others) await insert(other, 500);
  const rows = await store.execute<{ id: string }>(
    `update session set playbook_id = $2, automation_id = $3, parent_id = $4, user_id = $5, service_user_id = $6, tags = '{common,rare}'
      where organization_id = $1 and id in (select id from session where organization_id = $1 order by created_at limit ${few})
      returning id`,
    [organizationId, rare.playbook, rare.automation, rare.parent, rare.user, rare.serviceUser],
  );
  rareIds = rows.map(({ id }) => id).toSorted();
  await store.execute(
    `insert into session_tag (organization_id, tag, created_at, session_id)
     select organization_id, unnest(tags), created_at, id from session`,
    [],
  );
  for (const table of ['session', 'session_change', 'session_tag', 'organization', 'log_entry'])
    await store.execute(`analyze ${table}`);
  // The embedded database blocked the process for seconds, so an open connection was closed meanwhile.
  await fetch(`${test.url}/healthz`).catch(() => null);
});
afterAll(() => test.close());

const list = (path: string) => rowsRead(test, () => call(test, test.adminToken, 'GET', path));
const inOrganization = () => `/v3/organizations/${organizationId}/sessions`;

it.each([
  ['', 21],
  ['&is_archived=false', 21],
  ['&tags=common', 21],
  ['&tags=some', 21],
  ['&tags=some&is_archived=false&created_before=4102444800', 21],
  ['&origins=api&created_before=4102444800', 21],
  ['&origins=api&origins=cli&is_archived=false&tags=common&created_after=1', 21],
])('reads no more than a page of a long list whose items all match: ?first=20%s', async (query, maxRows) => {
  const { answer, read } = await list(`${inOrganization()}?first=20${query}`);
  expect(answer.body.items).toHaveLength(20);
  expect(read.session).toBeLessThanOrEqual(maxRows);
});

it.each([
  ['playbook_id', () => `playbook-${rare.playbook}`],
  ['automation_ids', () => `automation-${rare.automation}`],
  ['parent_session_id', () => `devin-${rare.parent}`],
  ['user_ids', () => `user-${rare.user}`],
  ['service_user_ids', () => `service-user-${rare.serviceUser}`],
  ['tags', () => 'rare'],
  ['session_ids', () => rareIds.join(',')],
])(
  'reads a few rows to find three old sessions among 8,000 by %s, in one organization and in the enterprise',
  async (name, value) => {
    for (const path of [inOrganization(), '/v3/enterprise/sessions']) {
      for (const more of ['', '&is_archived=false&origins=api', '&created_after=1']) {
        const { answer, read } = await list(`${path}?first=100&${name}=${value()}${more}`);
        expect(answer.body.items.map((item: any) => item.session_id).toSorted()).toEqual(rareIds);
        expect({ path, more, read: (read.session ?? 0) < 100 }).toEqual({ path, more, read: true });
      }
    }
  },
);

it.each(['common', 'some'])('reads no more than a page in the middle of a tag’s list: %s', async (tag) => {
  const tagged = `${inOrganization()}?first=20&tags=${tag}`;
  const first = await call(test, test.adminToken, 'GET', tagged);
  const { answer, read } = await list(`${tagged}&after=${first.body.end_cursor}`);
  expect(answer.body.items).toHaveLength(20);
  expect(answer.body.items[0].created_at).toBeLessThan(first.body.items.at(-1).created_at);
  expect(read.session).toBeLessThanOrEqual(21);
  expect(read.session_tag).toBeLessThanOrEqual(21);
});

it('reads only the three sessions of a tag', async () => {
  const { answer, read } = await list(`${inOrganization()}?first=100&tags=rare`);
  expect(answer.body.items).toHaveLength(few);
  expect(read).toMatchObject({ session: few, 'session_tag': few });
});

it('reads no more from the middle of a long list, where bounds of time begin too', async () => {
  const first = await call(test, test.adminToken, 'GET', `${inOrganization()}?first=200`);
  const next = await list(`${inOrganization()}?first=20&after=${first.body.end_cursor}`);
  expect(next.read.session).toBeLessThanOrEqual(21);
  const before = first.body.items.at(-1).created_at;
  expect((await list(`${inOrganization()}?first=20&created_before=${before}`)).read.session).toBeLessThanOrEqual(21);
  // With a larger result, the planner would read the complete table because it is so small.
  const lately = first.body.items[9].created_at;
  const late = await list(`${inOrganization()}?first=200&updated_after=${lately}`);
  expect(late.answer.body.items.length).toBeGreaterThan(5);
  expect(late.read.session).toBeLessThanOrEqual(late.answer.body.items.length + 21);
});

it('merges one page of each organization of the enterprise’s list, and reads no list completely', async () => {
  const of = [organizationId, ...others].map((id) => `&org_ids=org-${id}`).join('');
  const { answer, read } = await list(`/v3/enterprise/sessions?first=20${of}`);
  expect(new Set(answer.body.items.map((item: any) => item.org_id)).size).toBe(3);
  expect(read.session).toBeLessThanOrEqual(3 * 21);
  const all = await list('/v3/enterprise/sessions?first=20');
  expect(all.answer.body.items).toEqual(answer.body.items);
  expect(all.read.session).toBeLessThanOrEqual(21);
  const next = await list(`/v3/enterprise/sessions?first=20${of}&after=${answer.body.end_cursor}`);
  expect(next.read.session).toBeLessThanOrEqual(3 * 21);
});

it('counts the messages of a page of insights with one statement', async () => {
  const one = await list(`${inOrganization()}/insights?first=1`);
  const all = await list(`${inOrganization()}/insights?first=200`);
  expect(all.answer.body.items).toHaveLength(200);
  const ofLogs = (statements: readonly string[]) => statements.filter((sql) => sql.includes('log_entry'));
  expect(ofLogs(one.statements)).toHaveLength(1);
  expect(ofLogs(all.statements)).toEqual(ofLogs(one.statements));
});

it('reads the change rows of only the sessions within a bound of the last change', async () => {
  await test.app.services.store.execute('analyze session_change');
  const before = Math.floor(Date.now() / 1_000) - many / 2;
  const { answer, read } = await list(`${inOrganization()}?first=20&updated_before=${before}`);
  expect(answer.body.items).toHaveLength(20);
  expect(answer.body.items[0].updated_at).toBeLessThan(before);
  expect(read.session_change).toBeLessThanOrEqual(21);
});
