import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { rowsRead } from '../support/rows-read.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';

const entries = 50_000;
let test: TestApp;
let token: string;
let organizationId: string;
let longId: string;

// A session with 50,000 log entries, of which every tenth is a message, and 40 small sessions.
beforeAll(async () => {
  test = await startApp();
  ({ token, organizationId } = await makeOrganization(test, 'Long'));
  for (let n = 0; n < 40; n++) {
    const id = await createSession(test, { prompt: `say ${n}`, organizationId }, token);
    if (n === 30) longId = id;
  }
  const { store } = test.app.services;
  await store.execute(
    `insert into log_entry (session_id, seq, id, kind, message_type, body, created_at)
     select $1::text, n, md5(n::text), case when n % 10 = 0 then 'MESSAGE' else 'TOOL_CALL' end,
            case when n % 10 = 0 then 'agent_message' end, 'entry ' || n, now() from generate_series(3, $2::int) n`,
    [longId, entries],
  );
  await store.execute('update session_head set next_seq = $2 where session_id = $1', [longId, entries + 1]);
  // Older sessions, so that the planner does not prefer to read the complete table.
  await store.execute(
    `insert into session (id, organization_id, title, is_title_derived, status, origin, prompt, created_at, updated_at)
     select md5('old' || n), organization_id, 'old', false, 'exit', 'api', 'old', created_at - n * interval '1 minute', updated_at
       from session cross join generate_series(1, 3000) n where id = $1`,
    [longId],
  );
  for (const table of ['log_entry', 'session', 'session_change', 'session_head', 'organization'])
    await store.execute(`analyze ${table}`);
});
afterAll(() => test.close());

it.each([
  ['first', { first: 20 }],
  ['last', { last: 20 }],
])('reads no more of a long log than the %s page, and one row to detect the next page', async (_which, page) => {
  const query =
    'query($id: ID!, $first: Int, $last: Int) { session(id: $id) { events(first: $first, last: $last) { nodes { seq } } messages(first: $first, last: $last) { nodes { seq } } } }';
  const { answer, read } = await rowsRead(test, () => graphql(test, token, query, { id: longId, ...page }));
  expect(answer.data.session.events.nodes).toHaveLength(20);
  expect(answer.data.session.messages.nodes).toHaveLength(20);
  expect(read.log_entry).toBeLessThanOrEqual(2 * 21);
});

it('reads no more from the middle of a long log either', async () => {
  const at = await graphql(
    test,
    token,
    'query($id: ID!) { session(id: $id) { messages(last: 100) { edges { cursor } } } }',
    { id: longId },
  );
  const before = at.data.session.messages.edges[0].cursor;
  const query =
    'query($id: ID!, $before: String) { session(id: $id) { messages(last: 50, before: $before) { nodes { seq } } } }';
  const { answer, read } = await rowsRead(test, () => graphql(test, token, query, { id: longId, before }));
  expect(answer.data.session.messages.nodes.map((node: { seq: number }) => node.seq)).toEqual(
    Array.from({ length: 50 }, (_, n) => 49_010 - (50 - n) * 10),
  );
  expect(read.log_entry).toBeLessThanOrEqual(51);
});

it('reads no more rows than it returns plus one per level, for a page of sessions with five messages each', async () => {
  const query =
    'query($id: ID!) { organization(id: $id) { sessions(first: 20) { nodes { sessionId messages(first: 5) { nodes { body } } } } } }';
  const { answer, read, statements } = await rowsRead(test, () => graphql(test, token, query, { id: organizationId }));
  const sessions = answer.data.organization.sessions.nodes;
  expect(sessions).toHaveLength(20);
  expect(sessions.map((session: any) => session.sessionId)).toContain(`devin-${longId}`);
  const messages = sessions.flatMap((session: any) => session.messages.nodes);
  expect(messages).toHaveLength(19 + 5);
  expect(read.session).toBeLessThanOrEqual(20 + 1);
  expect(read.log_entry).toBeLessThanOrEqual(messages.length + 20);
  expect(statements.length).toBeLessThanOrEqual(5);
});

it('reads no more rows for a page of messages over v3', async () => {
  const path = `/v3/organizations/${organizationId}/sessions/${longId}/messages?first=100`;
  const { answer, read } = await rowsRead(test, () => call(test, token, 'GET', path));
  expect(answer.body.items).toHaveLength(100);
  expect(read.log_entry).toBeLessThanOrEqual(101);
});
