import { beforeEach, describe, expect, it } from 'vitest';
import { settleDueFollowUps } from '../../src/domain/follow-ups/settle-due.ts';
import { newId } from '../../src/domain/ids.ts';
import { call } from '../support/app.ts';
import { reportPullRequest } from '../support/followed-pull-requests.ts';
import { runMutation } from '../support/people.ts';
import { createSession } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const max = 2;
const test = useApp({ organizationQuotas: { maxQueuedSessions: max, maxStorageMb: null, maxTokensPerDay: null } });
const message = `The organization has ${max} sessions in the queue, which is its limit. Try again when one of them has started.`;
const refusal = [{ code: 'LIMIT_EXCEEDED', message, path: null }];

const execute = (sql: string, ...values: unknown[]) => test.app.services.store.execute(sql, values);

/** The states of a session without an agent that its next message puts into the queue. */
const asleep = {
  finished: { status: 'exit', detail: null, end: 'finished' },
  failed: { status: 'error', detail: null, end: null },
  suspended: { status: 'suspended', detail: null, end: null },
  stopped: { status: 'running', detail: 'waiting_for_user', end: null },
} as const;

async function makeAsleep(state: keyof typeof asleep): Promise<string> {
  const id = await createSession(test, { prompt: 'wait' });
  await putToSleep(id, state);
  return id;
}

async function putToSleep(id: string, state: keyof typeof asleep): Promise<void> {
  const { status, detail, end } = asleep[state];
  await execute('update run set queued_at = null where session_id = $1 returning session_id', id);
  const change = 'update session set status = $2, status_detail = $3, ended_by = $4 where id = $1 returning id';
  await execute(change, id, status, detail, end);
}

/** Fills the queue; returns the sessions in it. */
const fillQueue = async () => [await createSession(test), await createSession(test)];

const readState = async (id: string) =>
  (
    await test.app.services.store.query<{ status: string; isQueued: boolean; messages: number }>(
      `select s.status, r.queued_at is not null as "isQueued",
              (select count(*)::int from log_entry e where e.session_id = s.id and e.kind = 'MESSAGE') as messages
         from session s join run r on r.session_id = s.id where s.id = $1`,
      [id],
    )
  )[0];

const send = (sessionId: string, body = 'more', more: object = {}) =>
  runMutation(test, 'sendMessage', 'message { id } userErrors { code message path }', { sessionId, body, ...more });
const sendByV3 = (id: string, body = 'more') => {
  const path = `/v3/organizations/${test.organizationId}/sessions/devin-${id}/messages`;
  return call(test, test.adminToken, 'POST', path, { message: body });
};
const sendByV1 = (id: string) =>
  call(test, test.v1Key, 'POST', `/v1/sessions/devin-${id}/message`, { message: 'more' });

// Each test begins with an empty queue.
beforeEach(() => execute('update run set queued_at = null where queued_at is not null returning session_id'));

describe.each(Object.keys(asleep) as (keyof typeof asleep)[])('a message to a session that is %s', (state) => {
  it('is refused while the queue is full, with the error of each API, and wakes it afterwards', async () => {
    const id = await makeAsleep(state);
    const before = await readState(id);
    const [first = ''] = await fillQueue();

    expect((await send(id)).userErrors).toEqual(refusal);
    expect((await send(id, 'more', { idempotencyKey: `${state}-1` })).userErrors).toEqual(refusal);
    const expected = { status: 400, body: { detail: message } };
    expect(await sendByV3(id)).toMatchObject(expected);
    expect(await sendByV1(id)).toMatchObject(expected);
    expect(await readState(id)).toEqual(before);

    await putToSleep(first, 'finished');
    const { message: sent } = await send(id, 'more', { idempotencyKey: `${state}-1` });
    expect(await readState(id)).toMatchObject({ isQueued: true, messages: 2 });
    // The queue is full again: further messages to the same session, and a repeated one, need no room.
    expect((await send(first)).userErrors).toEqual(refusal);
    expect((await send(id, 'more', { idempotencyKey: `${state}-1` })).message).toEqual(sent);
    expect((await sendByV3(id, 'one more')).status).toBe(200);
    expect(await readState(id)).toMatchObject({ messages: 3 });
  });
});

it('a message to a session with an agent, or in the queue, needs no room', async () => {
  const [finished, stopped] = [await makeAsleep('finished'), await makeAsleep('stopped')];
  const [queued = ''] = await fillQueue();
  for (const id of [finished, stopped]) {
    await execute(
      `insert into lease (session_id, worker_id, generation, expires_at) values ($1, 'w', 0, now() + interval '1 hour') returning session_id`,
      id,
    );
  }
  for (const id of [queued, finished, stopped]) {
    expect((await sendByV3(id)).status).toBe(200);
    expect((await send(id, 'again')).userErrors).toEqual([]);
  }
});

it('an archived session says so, whether the queue is full or not', async () => {
  const id = await makeAsleep('finished');
  await execute('update session set is_archived = true where id = $1 returning id', id);
  await fillQueue();
  expect(await sendByV3(id)).toMatchObject({ status: 409, body: { detail: expect.stringContaining('is archived') } });
});

it('admits as many of the sessions that are woken at the same time as there is room for', async () => {
  const ids = await Promise.all(Array.from({ length: 8 }, (_, n) => makeAsleep(n % 2 === 0 ? 'finished' : 'stopped')));
  const statuses = await Promise.all(ids.map(async (id) => (await sendByV3(id)).status));
  expect(statuses.toSorted()).toEqual([...Array(max).fill(200), ...Array(8 - max).fill(400)]);
});

it('refuses the other acts that put a session into the queue', async () => {
  const [failed, suspended, stopped] = [
    await makeAsleep('failed'),
    await makeAsleep('suspended'),
    await makeAsleep('stopped'),
  ];
  const messageId = await firstMessageOf(stopped);
  await fillQueue();
  const selection = 'session { status } userErrors { code message path }';
  const acts = [
    () => runMutation(test, 'retryTurn', selection, { sessionId: failed }),
    () => runMutation(test, 'resumeSession', selection, { sessionId: suspended }),
    () => runMutation(test, 'updateQueuedMessage', selection, { messageId, body: 'another' }),
  ];
  for (const act of acts) expect((await act()).userErrors).toEqual(refusal);
  for (const act of acts) {
    await execute('update run set queued_at = null where queued_at is not null returning session_id');
    expect((await act()).userErrors).toEqual([]);
  }
});

it('a follow-up waits until the queue has room, and others do not wait for it', async () => {
  const { services } = test.app;
  const [id, other] = [await makeAsleep('finished'), await makeAsleep('finished')];
  await fillQueue();
  await addFollowUp(id, 'auto', 1);
  await addFollowUp(other, 'suggest', 2);
  await settleDueFollowUps(services, () => false);
  expect(await followUpOf(id)).toEqual({ state: 'pending', isDue: false });
  expect(await followUpOf(other)).toMatchObject({ state: 'suggested' });

  await execute('update run set queued_at = null where queued_at is not null returning session_id');
  await settleDueFollowUps({ ...services, now: () => new Date(Date.now() + 61_000) }, () => false);
  expect(await followUpOf(id)).toMatchObject({ state: 'sent' });
});

async function firstMessageOf(id: string): Promise<string> {
  const [row] = await test.app.services.store.query<{ id: string }>(
    `select id from log_entry where session_id = $1 and kind = 'MESSAGE' order by seq limit 1`,
    [id],
  );
  return row?.id ?? '';
}

/** Adds a follow-up that is due to a session, whose pull request has its own mode. */
async function addFollowUp(sessionId: string, mode: 'auto' | 'suggest', number: number): Promise<void> {
  const url = `https://github.com/acme/site/pull/${number}`;
  await reportPullRequest(test, sessionId, url);
  await execute(
    `insert into pull_request (session_id, url, repository_id, number, title, is_draft, head_branch, base_branch, read_at, follow_up_mode)
     values ($1, $2, 'r', $3, 'A title', false, 'work', 'main', now(), $4) returning session_id`,
    sessionId,
    url,
    number,
    mode,
  );
  await execute(
    `insert into follow_up (id, session_id, url, key, kind, state, summary, body, due_at, created_at)
     values ($1, $2, $3, 'review:1', 'review', 'pending', 'A review', 'Look at it.', now() - interval '1 minute', now()) returning id`,
    newId(),
    sessionId,
    url,
  );
}

const followUpOf = async (sessionId: string) =>
  (
    await test.app.services.store.query(
      'select state, due_at <= now() as "isDue" from follow_up where session_id = $1',
      [sessionId],
    )
  )[0];
