import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expireSessions, suspendIdleSessions } from '../../src/domain/sessions/idle-sessions.ts';
import { appendEntries } from '../../src/domain/sessions/log.ts';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { readEvents } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';
import { testDatabase } from '../support/test-store.ts';

const minuteMs = 60_000;
const never = () => false;

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

/** Inserts a session that has been in some state since a given time, without an agent. */
async function seed(state: { status: string; statusDetail: string | null; agoMs: number }): Promise<string> {
  const id = await createSession(test, { sessionSecrets: [{ key: 'KEY', value: 'c4n4ry-idle' }] });
  const { store } = test.app.services;
  await store.execute(
    'update run set queued_at = null, delivered_seq = (select next_seq - 1 from session_head where session_id = $1) where session_id = $1',
    [id],
  );
  await store.execute(
    'update session set status = $2, status_detail = $3, updated_at = $4::timestamptz where id = $1',
    [id, state.status, state.statusDetail, new Date(Date.now() - state.agoMs)],
  );
  await store.execute('update log_entry set created_at = $2::timestamptz where session_id = $1', [
    id,
    new Date(Date.now() - state.agoMs),
  ]);
  return id;
}
const waiting = (agoMs: number) => seed({ status: 'running', statusDetail: 'waiting_for_user', agoMs });
const statusOf = async (id: string) => {
  const { body } = await call(test, test.adminToken, 'GET', `/v3/organizations/${test.organizationId}/sessions/${id}`);
  return `${body.status} ${body.status_detail}`;
};
const kindsOf = async (id: string) => (await readEvents(test, id)).map(({ kind, status }) => status ?? kind);

it('suspends sessions that have waited too long, and no others', async () => {
  const { services } = test.app;
  const long = await waiting(61 * minuteMs);
  const approval = await seed({ status: 'running', statusDetail: 'waiting_for_approval', agoMs: 61 * minuteMs });
  const others = [
    await waiting(59 * minuteMs),
    await seed({ status: 'running', statusDetail: 'working', agoMs: 61 * minuteMs }),
    await seed({ status: 'exit', statusDetail: 'finished', agoMs: 61 * minuteMs }),
  ];
  // The user has answered, but no worker has claimed it yet.
  const answered = await waiting(0);
  await call(test, test.v1Key, 'POST', `/v1/sessions/${answered}/message`, { message: 'blue' });
  await services.store.execute(`update session set updated_at = now() - interval '2 hours' where id = $1`, [answered]);
  // The agent has asked a question, and continues with other work.
  const busy = await waiting(61 * minuteMs);
  const tool = { toolCallId: 't', title: 'make', toolKind: 'execute', status: 'in_progress' };
  const entry = { kind: 'TOOL_CALL', data: tool } as const;
  await appendEntries(services.store, busy, null, [entry], new Date(Date.now() - 59 * minuteMs));
  others.push(busy);
  const before = await Promise.all(others.map(statusOf));

  expect(await suspendIdleSessions(services, 60 * minuteMs, never)).toBe(2);
  for (const id of [long, approval]) {
    expect(await statusOf(id)).toBe('suspended inactivity');
    expect((await kindsOf(id)).slice(-2)).toEqual(['NOTICE', 'SUSPENDED']);
  }
  expect(await Promise.all(others.map(statusOf))).toEqual(before);
  expect(await statusOf(answered)).toBe('running waiting_for_user');
  expect(await suspendIdleSessions(services, 60 * minuteMs, never)).toBe(0);
  await call(test, test.v1Key, 'POST', `/v1/sessions/${long}/message`, { message: 'here I am' });
  expect(await statusOf(long)).toBe('resuming null');
});

it('neither ends nor suspends a session that somebody has just archived or resumed', async () => {
  const { services } = test.app;
  const agoMs = 31 * 24 * 60 * minuteMs;
  const on = (id: string, act: string) =>
    graphql(test, test.adminToken, `mutation { ${act}(input: {sessionId: "${id}"}) { userErrors { message } } }`);
  const archived = await waiting(agoMs);
  expect(await on(archived, 'archiveSession')).toMatchObject({ data: { archiveSession: { userErrors: [] } } });
  const resumed = await seed({ status: 'suspended', statusDetail: 'inactivity', agoMs });
  expect(await on(resumed, 'resumeSession')).toMatchObject({ data: { resumeSession: { userErrors: [] } } });
  await expireSessions(services, 30 * 24 * 60 * minuteMs, never);
  await suspendIdleSessions(services, 60 * minuteMs, never);
  expect(await statusOf(archived)).toBe('suspended user_request');
  expect(await statusOf(resumed)).toBe('running waiting_for_user');
});

it('ends sessions that were suspended for too long for any reason, and deletes their secrets; not finished or failed ones', async () => {
  const { services } = test.app;
  const agoMs = 31 * 24 * 60 * minuteMs;
  const expected = [
    await seed({ status: 'suspended', statusDetail: 'inactivity', agoMs }),
    await seed({ status: 'suspended', statusDetail: 'usage_limit_exceeded', agoMs }),
    await waiting(agoMs),
  ];
  const others = [
    await seed({ status: 'suspended', statusDetail: 'inactivity', agoMs: agoMs - 2 * 24 * 60 * minuteMs }),
    await seed({ status: 'exit', statusDetail: 'finished', agoMs }),
    await seed({ status: 'error', statusDetail: null, agoMs }),
  ];
  const before = await Promise.all(others.map(statusOf));
  expect(await expireSessions(services, 30 * 24 * 60 * minuteMs, never)).toBe(3);
  for (const id of expected) {
    expect(await statusOf(id)).toBe('exit null');
    expect((await call(test, test.v1Key, 'GET', `/v1/sessions/${id}`)).body.status_enum).toBe('expired');
    const path = `/v3/organizations/${test.organizationId}/sessions/${id}/messages`;
    expect((await call(test, test.adminToken, 'POST', path, { message: 'hello?' })).status).toBe(409);
  }
  expect(await Promise.all(others.map(statusOf))).toEqual(before);
  const remaining = await services.store.query<{ id: string }>(
    'select session_id as id from session_secret where session_id = any($1::text[])',
    [[...expected, ...others]],
  );
  expect(remaining.map(({ id }) => id).sort()).toEqual([...others].sort());
  expect(await expireSessions(services, 30 * 24 * 60 * minuteMs, never)).toBe(0);
});

// PGlite always runs in one process.
describe.skipIf(testDatabase === 'pglite')('with several processes on one PostgreSQL', () => {
  it('suspends each session once, with more of them than one read returns', async () => {
    const other = await test.another({ roles: ['api'] });
    try {
      const first = await waiting(61 * minuteMs);
      const { store } = test.app.services;
      const copies = Array.from({ length: 130 }, (_, n) => `${first.slice(0, 24)}${String(n).padStart(8, '0')}`);
      for (const [table, key] of [
        ['session', 'id'],
        ['session_head', 'session_id'],
        ['run', 'session_id'],
      ]) {
        await store.execute(
          `insert into ${table} select (jsonb_populate_record(r, jsonb_build_object('${key}', copy))).*
             from ${table} r cross join unnest($2::text[]) as copy where r.${key} = $1 returning ${key}`,
          [first, copies],
        );
      }
      const ids = [first, ...copies];
      const sweep = (app: TestApp) => suspendIdleSessions(app.app.services, 60 * minuteMs, never);
      const counts = await Promise.all([sweep(test), sweep(other), sweep(test), sweep(other)]);
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(ids.length);
      const rows = await store.query<{ count: number }>(
        `select count(*)::int as count from log_entry e where e.session_id = any($1::text[]) and e.kind = 'STATUS'
            and e.data->>'statusDetail' = 'inactivity' group by e.session_id`,
        [ids],
      );
      expect(rows.map(({ count }) => count)).toEqual(ids.map(() => 1));
    } finally {
      await other.close();
    }
  });
});
