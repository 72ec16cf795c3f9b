import { expect, it } from 'vitest';
import { type ClaimedRun, claimRuns } from '../../src/domain/execution/runs/claims.ts';
import { endTurn, readInbox, startTurn } from '../../src/domain/execution/runs/turns.ts';
import { FencedError } from '../../src/domain/sessions/log.ts';
import { asAdministrator } from '../rest/rest-app.ts';
import { graphql } from '../support/app.ts';
import { runMutation } from '../support/people.ts';
import { readEvents, readMessages } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
const { execute, query } = {
  execute: (sql: string, id: string) => test.app.services.store.execute(sql, [id]),
  query: (sql: string, id: string) => test.app.services.store.query<any>(sql, [id]),
};

const interrupt = (sessionId: string, more: object = {}) =>
  runMutation(test, 'interruptSession', 'session { status statusDetail } wasReplayed', { sessionId, ...more });
const waiting = { status: 'RUNNING', statusDetail: 'WAITING_FOR_USER' };
const countStops = async (id: string) =>
  (await query(`select 1 from audit_entry where session_id = $1 and action = 'interrupt_session'`, id)).length;
const runOf = async (id: string) =>
  (await query('select queued_at, is_turn_open, command, generation from run where session_id = $1', id))[0];

/** Claims a session like a worker. Its lease is valid until a test ends it. */
async function claim(id: string): Promise<ClaimedRun> {
  const room = { slots: 100, memoryMb: 100_000, isEmpty: true, memoryOf: () => 1 };
  const { claimed } = await claimRuns(
    await asAdministrator(test),
    { workerId: 'w', leaseMs: 600_000, affinityMs: 0 },
    room,
  );
  return claimed.find(({ sessionId }) => sessionId === id) as ClaimedRun;
}
async function startWorking(): Promise<{ id: string; run: ClaimedRun }> {
  const id = await createSession(test);
  const run = await claim(id);
  const context = await asAdministrator(test);
  await startTurn(context, run, { messages: await readInbox(context, id), isAfterStop: false });
  return { id, run };
}
const endLease = (id: string) =>
  execute(`update lease set expires_at = now() - interval '1 minute' where session_id = $1`, id);

const noticesOf = `query($id: ID!) {
  session(id: $id) { events(first: 20, kinds: [NOTICE]) { nodes { ... on NoticeEvent { body isStop } } } } }`;

it('sends the messages of a session that was stopped before their turn by a retry', async () => {
  const { id, run } = await startWorking();
  await endTurn(await asAdministrator(test), run, 'end_turn', [], {});
  await runMutation(test, 'sendMessage', 'message { seq }', { sessionId: id, body: 'next' });
  expect(await interrupt(id)).toMatchObject({ session: waiting, userErrors: [] });
  expect(await runOf(id)).toMatchObject({ queued_at: null });
  const retried = await runMutation(test, 'retryTurn', 'session { status }', { sessionId: id });
  expect(retried.userErrors).toEqual([]);
  expect(await runOf(id)).toMatchObject({ queued_at: expect.any(Date) });
  expect((await readInbox(await asAdministrator(test), id)).map(({ body }) => body)).toEqual(['next']);
});

it('takes a session out of the queue; a second stop changes nothing; a message continues it', async () => {
  const id = await createSession(test, { prompt: 'say first' });
  expect(await interrupt(id)).toMatchObject({ session: waiting, wasReplayed: false, userErrors: [] });
  expect(await runOf(id)).toMatchObject({ queued_at: null });
  expect(await interrupt(id)).toMatchObject({ session: waiting, userErrors: [] });
  expect(await countStops(id)).toBe(1);
  expect((await readEvents(test, id)).filter(({ kind }) => kind === 'TURN')).toEqual([]);
  // One notice says that the message was not received.
  const stops = await graphql(test, test.adminToken, noticesOf, { id });
  expect(stops.data.session.events.nodes).toEqual([
    { body: expect.stringContaining('Stopped before the agent received'), isStop: true },
  ]);
  expect(await readInbox(await asAdministrator(test), id)).toEqual([]);
  await runMutation(test, 'sendMessage', 'message { seq }', { sessionId: id, body: 'say second' });
  expect((await readInbox(await asAdministrator(test), id)).map(({ body }) => body)).toEqual([
    'say first',
    'say second',
  ]);
});

it.each([
  ['finished', "status = 'exit', status_detail = 'finished', ended_by = 'finished'", 'EXIT'],
  ['failed', "status = 'error'", 'ERROR'],
  ['suspended', "status = 'suspended', status_detail = 'inactivity'", 'SUSPENDED'],
  ['waiting', "status = 'running', status_detail = 'waiting_for_user'", 'RUNNING'],
])('does not change a session that is %s', async (_what, columns, status) => {
  const id = await createSession(test);
  await execute(`update session set ${columns} where id = $1`, id);
  await execute('update run set queued_at = null where session_id = $1', id);
  const before = await readEvents(test, id);
  expect(await interrupt(id)).toMatchObject({ session: { status }, userErrors: [] });
  expect(await readEvents(test, id)).toEqual(before);
  expect(await countStops(id)).toBe(0);
});

it('takes back a session whose agent is being started', async () => {
  const id = await createSession(test);
  const run = await claim(id);
  expect(await interrupt(id)).toMatchObject({ session: waiting });
  const context = await asAdministrator(test);
  const started = startTurn(context, run, {
    messages: [{ seq: 2, body: 'late', inboxVersion: 0 }],
    isAfterStop: false,
  });
  await expect(started).rejects.toBeInstanceOf(FencedError);
});

it('does not start a turn with messages that were read before the stop', async () => {
  const { id, run } = await startWorking();
  const context = await asAdministrator(test);
  await runMutation(test, 'sendMessage', 'message { seq }', { sessionId: id, body: 'next' });
  await endTurn(context, run, 'end_turn', [], {});
  const messages = await readInbox(context, id);
  expect(messages).toHaveLength(1);
  expect(await interrupt(id)).toMatchObject({ session: waiting });
  expect(await startTurn(context, run, { messages, isAfterStop: false })).toBeNull();
  expect(await runOf(id)).toMatchObject({ generation: run.generation, is_turn_open: false });
});

it('asks the worker once, and records every end of the turn as the stop', async () => {
  const { id, run } = await startWorking();
  expect(await interrupt(id)).toMatchObject({ session: { status: 'RUNNING', statusDetail: 'WORKING' } });
  expect(await interrupt(id)).toMatchObject({ session: { statusDetail: 'WORKING' } });
  expect([await countStops(id), await runOf(id)]).toMatchObject([1, { command: 'interrupt', is_turn_open: true }]);
  const change = { status: 'exit', statusDetail: 'finished', endedBy: 'finished' } as const;
  await endTurn(await asAdministrator(test), run, 'end_turn', [], change);
  expect(await interrupt(id)).toMatchObject({ session: waiting });
  expect(await runOf(id)).toMatchObject({ command: null, is_turn_open: false, queued_at: null });
  expect((await readEvents(test, id)).findLast(({ kind }) => kind === 'TURN')).toMatchObject({
    stopReason: 'cancelled',
  });
});

it.each([
  ['the lease has ended', endLease],
  [
    'the worker did not react to a stop five seconds ago',
    async (id: string) => {
      await interrupt(id);
      const earlier = `command_data || '{"at": "2026-01-01T00:00:00.000Z"}'`;
      await execute(`update run set command_data = ${earlier} where session_id = $1`, id);
    },
  ],
])('ends the turn itself if %s', async (_when, prepare) => {
  const { id, run } = await startWorking();
  await prepare(id);
  expect(await interrupt(id)).toMatchObject({ session: waiting });
  expect(await runOf(id)).toMatchObject({ command: null, is_turn_open: false, generation: run.generation + 1 });
  expect((await readEvents(test, id)).findLast(({ kind }) => kind === 'TURN')).toMatchObject({
    stopReason: 'cancelled',
  });
  await expect(endTurn(await asAdministrator(test), run, 'end_turn', [], {})).rejects.toBeInstanceOf(FencedError);
});

it('gives a stop that a dead worker did not finish to the next one', async () => {
  const { id } = await startWorking();
  await interrupt(id);
  await endLease(id);
  expect(await claim(id)).toMatchObject({ command: 'interrupt', isTurnOpen: true });
});

it('ends a stopped turn when the session is suspended or terminated first', async () => {
  for (const [act, status] of [
    ['suspendSession', 'SUSPENDED'],
    ['terminateSession', 'EXIT'],
  ]) {
    const { id } = await startWorking();
    await interrupt(id);
    expect(await runMutation(test, act as string, 'session { status }', { sessionId: id })).toMatchObject({
      session: { status },
    });
    expect(await runOf(id)).toMatchObject({ command: null, is_turn_open: false });
  }
});

it('runs once under a key, also after the session went on', async () => {
  const id = await createSession(test);
  await interrupt(id, { idempotencyKey: 'k' });
  await runMutation(test, 'sendMessage', 'message { seq }', { sessionId: id, body: 'say more' });
  expect(await interrupt(id, { idempotencyKey: 'k' })).toMatchObject({ wasReplayed: true });
  expect((await runOf(id)).queued_at).not.toBeNull();
  const other = await createSession(test);
  expect(await interrupt(other, { idempotencyKey: 'k' })).toMatchObject({
    userErrors: [{ code: 'IDEMPOTENCY_CONFLICT' }],
  });
  expect(await readMessages(test, id)).toHaveLength(2);
});
