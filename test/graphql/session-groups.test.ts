import { beforeAll, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
let organizationId: string;
let token: string;

const open = '[{"url": "https://git.test/1", "state": "open"}]';
const merged = '[{"url": "https://git.test/1", "state": "merged"}]';
/** Changes of a session, and the group that it is in then. */
const cases: readonly (readonly [title: string, change: string, group: string])[] = [
  ['waits in the queue', "status = 'new'", 'WORKING'],
  ['works', "status = 'running', status_detail = 'working'", 'WORKING'],
  [
    'works on an open pull request',
    `status = 'running', status_detail = 'working', pull_requests = '${open}'`,
    'WORKING',
  ],
  ['waits for its provider', "status = 'running', status_detail = 'waiting_for_quota'", 'WORKING'],
  ['asks', "status = 'running', status_detail = 'waiting_for_user'", 'NEEDS_YOU'],
  ['asks for approval', "status = 'running', status_detail = 'waiting_for_approval'", 'NEEDS_YOU'],
  ['failed', "status = 'error'", 'NEEDS_YOU'],
  ['reached a limit', "status = 'suspended', status_detail = 'usage_limit_exceeded'", 'NEEDS_YOU'],
  ['asked for too long', "status = 'suspended', status_detail = 'inactivity', pending_question_id = 'q'", 'NEEDS_YOU'],
  ['has an open pull request', `status = 'exit', status_detail = 'finished', pull_requests = '${open}'`, 'NEEDS_YOU'],
  ['has a merged pull request', `status = 'exit', status_detail = 'finished', pull_requests = '${merged}'`, 'DONE'],
  ['sleeps', "status = 'suspended', status_detail = 'user_request'", 'DONE'],
  ['was terminated', `status = 'exit', ended_by = 'terminated', pull_requests = '${open}'`, 'DONE'],
  ['is archived', "status = 'error', is_archived = true", 'DONE'],
];

beforeAll(async () => {
  ({ organizationId, token } = await makeOrganization(test, 'Groups'));
  for (const [title, change] of cases) {
    const id = await createSession(test, { organizationId, title }, token);
    await test.app.services.store.execute(`update session set ${change} where id = $1`, [id]);
  }
});

it('reads the groups of an inbox and their sizes in one operation', async () => {
  const group = (name: string) =>
    `sessions(filter: {group: [${name}]}, first: 100) { totalCount nodes { title group } }`;
  const document = `query($id: ID!) { organization(id: $id) {
    NEEDS_YOU: ${group('NEEDS_YOU')} WORKING: ${group('WORKING')} DONE: ${group('DONE')}
    both: ${group('WORKING, DONE')} updated: sessions(filter: {group: [DONE]}, orderBy: {field: UPDATED_AT, direction: DESC}) { totalCount }
  } sessions(filter: {group: [NEEDS_YOU], organizationIds: [$id]}) { totalCount nodes { title } } }`;
  const { data, errors } = await graphql(test, token, document, { id: organizationId });
  expect(errors).toBeUndefined();
  for (const name of ['NEEDS_YOU', 'WORKING', 'DONE']) {
    const expected = cases.filter(([, , wanted]) => wanted === name).map(([title]) => ({ title, group: name }));
    expect(data.organization[name], name).toEqual({ totalCount: expected.length, nodes: expected.toReversed() });
  }
  const { NEEDS_YOU, both, updated } = data.organization;
  expect(both.totalCount + NEEDS_YOU.totalCount).toBe(cases.length);
  expect(updated.totalCount).toBe(data.organization.DONE.totalCount);
  expect(data.sessions.nodes).toEqual(NEEDS_YOU.nodes.map(({ title }: any) => ({ title })));
});

it('finds the sessions of a group by the index', async () => {
  const { store } = test.app.services;
  // Many sessions that are done, and newer than those that need somebody.
  await store.execute(
    `insert into session (id, organization_id, title, is_title_derived, status, origin, prompt, created_at, updated_at)
     select md5('done' || n), organization_id, 'done', false, 'exit', 'api', 'x', created_at + n * interval '1 minute', updated_at
       from (select * from session where organization_id = $1 limit 1) s cross join generate_series(1, 3000) n`,
    [organizationId],
  );
  await store.execute('analyze session');
  const plan = await store.query<Record<string, string>>(
    `explain select s.id from session s where s.organization_id = $1 and not s.is_unlisted
        and session_group(s.status, s.status_detail, s.ended_by, s.is_archived, s.pending_question_id, s.pull_requests) = $2::text
      order by s.created_at desc, s.id desc limit 21`,
    [organizationId, 'needs_you'],
  );
  const text = plan.map((row) => Object.values(row)[0]).join('\n');
  expect(text).toMatch(/Index Scan using session_group on session/);
  expect(text).not.toMatch(/Sort/);
});
