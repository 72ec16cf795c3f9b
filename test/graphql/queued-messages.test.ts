import { expect, it } from 'vitest';
import { type ClaimedRun, claimRuns } from '../../src/domain/execution/runs/claims.ts';
import { readInbox, startTurn } from '../../src/domain/execution/runs/turns.ts';
import { asAdministrator } from '../rest/rest-app.ts';
import { call, graphql } from '../support/app.ts';
import { runMutation } from '../support/people.ts';
import { seedQuestion } from '../support/questions.ts';
import { readEvents } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const state = 'message { id body editedBody delivery } session { status statusDetail }';
const withdraw = (messageId: string) => runMutation(test, 'withdrawMessage', state, { messageId });
const edit = (messageId: string, body: string) => runMutation(test, 'updateQueuedMessage', state, { messageId, body });
const send = async (sessionId: string, body: string, more: object = {}) =>
  (await runMutation(test, 'sendMessage', 'message { id eventId }', { sessionId, body, ...more })).message;

const document = `query($id: ID!) { session(id: $id) { queuedMessages { body editedBody } messages(first: 50) { nodes { id type body editedBody delivery } } } }`;
const read = async (id: string) => (await graphql(test, test.adminToken, document, { id })).data.session;
const firstMessage = async (id: string): Promise<string> => (await read(id)).messages.nodes[0].id;
const inboxOf = async (id: string) => (await readInbox(await asAdministrator(test), id)).map(({ body }) => body);
const runOf = async (id: string) =>
  (await test.app.services.store.query<any>('select queued_at, turn_seqs from run where session_id = $1', [id]))[0];

async function startWorking(prompt = 'go'): Promise<{ id: string; run: ClaimedRun }> {
  const id = await createSession(test, { prompt });
  const context = await asAdministrator(test);
  const room = { slots: 100, memoryMb: 100_000, isEmpty: true, memoryOf: () => 1 };
  const { claimed } = await claimRuns(context, { workerId: 'w', leaseMs: 600_000, affinityMs: 0 }, room);
  const run = claimed.find(({ sessionId }) => sessionId === id) as ClaimedRun;
  await startTurn(context, run, { messages: await readInbox(context, id), isAfterStop: false });
  return { id, run };
}

it('shows, edits and withdraws messages until the agent receives them', async () => {
  const { id } = await startWorking();
  const [one, two] = [await send(id, 'one'), await send(id, 'two')];
  expect(await edit(one.id, 'better')).toMatchObject({
    message: { id: one.id, body: 'one', editedBody: 'better', delivery: 'QUEUED' },
    userErrors: [],
  });
  expect(await withdraw(two.eventId)).toMatchObject({ message: { delivery: 'WITHDRAWN' }, userErrors: [] });
  expect(await read(id)).toMatchObject({
    queuedMessages: [{ body: 'one', editedBody: 'better' }],
    messages: {
      nodes: [
        { body: 'go', delivery: 'DELIVERED', editedBody: null },
        { body: 'one', delivery: 'QUEUED', editedBody: 'better' },
        { body: 'two', delivery: 'WITHDRAWN' },
      ],
    },
  });
  expect(await inboxOf(id)).toEqual(['better']);
  // A worker that resumes the turn must not send the withdrawn message.
  expect(await runOf(id)).toMatchObject({ turn_seqs: [2] });
  const path = `/v3/organizations/${test.organizationId}/sessions/${id}/messages`;
  const v3 = await call(test, test.adminToken, 'GET', path);
  expect(v3.body.items.map(({ message }: any) => message)).toEqual(['go', 'better']);
  const v1 = await call(test, test.v1Key, 'GET', `/v1/sessions/${id}`);
  expect(v1.body.messages.map(({ message }: any) => message)).toEqual(['go', 'better']);
  const changes = (await readEvents(test, id)).filter(({ kind }) => kind === 'MESSAGE_CHANGED');
  expect(changes.map(({ __typename }) => __typename)).toEqual(['MessageChangedEvent', 'MessageChangedEvent']);
});

it('does not change anything when a message is withdrawn twice or edited to the same text', async () => {
  const { id } = await startWorking();
  const one = await send(id, 'one');
  await edit(one.id, 'one');
  await withdraw(one.id);
  expect(await withdraw(one.id)).toMatchObject({ message: { delivery: 'WITHDRAWN' }, userErrors: [] });
  const changes = (await readEvents(test, id)).filter(({ kind }) => kind === 'MESSAGE_CHANGED');
  expect(changes).toHaveLength(1);
  expect(await edit(one.id, 'late')).toMatchObject({
    userErrors: [{ code: 'INVALID_STATE', path: ['input', 'messageId'] }],
  });
});

it('refuses a message that was delivered, and starts no turn with a message that was changed', async () => {
  const { id } = await startWorking();
  const delivered = await firstMessage(id);
  for (const refused of [await edit(delivered, 'late'), await withdraw(delivered)]) {
    expect(refused).toMatchObject({ userErrors: [{ code: 'INVALID_STATE', path: ['input', 'messageId'] }] });
  }
  const fresh = await createSession(test, { prompt: 'first' });
  const context = await asAdministrator(test);
  const room = { slots: 100, memoryMb: 100_000, isEmpty: true, memoryOf: () => 1 };
  const { claimed } = await claimRuns(context, { workerId: 'w', leaseMs: 600_000, affinityMs: 0 }, room);
  const run = claimed.find(({ sessionId }) => sessionId === fresh) as ClaimedRun;
  const messages = await readInbox(context, fresh);
  await edit(await firstMessage(fresh), 'second');
  expect(await startTurn(context, run, { messages, isAfterStop: false })).toBeNull();
  const again = await readInbox(context, fresh);
  expect(again.map(({ body }) => body)).toEqual(['second']);
  expect(await startTurn(context, run, { messages: again, isAfterStop: false })).toBe(1);
});

it('lets one win when a message is withdrawn and delivered at the same time', async () => {
  const context = await asAdministrator(test);
  for (let n = 0; n < 5; n++) {
    const id = await createSession(test, { prompt: 'first' });
    const room = { slots: 100, memoryMb: 100_000, isEmpty: true, memoryOf: () => 1 };
    const { claimed } = await claimRuns(context, { workerId: 'w', leaseMs: 600_000, affinityMs: 0 }, room);
    const run = claimed.find(({ sessionId }) => sessionId === id) as ClaimedRun;
    const messages = await readInbox(context, id);
    const message = await firstMessage(id);
    const [turn, withdrawn] = await Promise.all([
      startTurn(context, run, { messages, isAfterStop: false }).catch(() => null),
      withdraw(message),
    ]);
    const isDelivered = turn !== null;
    expect(withdrawn.userErrors.length).toBe(isDelivered ? 1 : 0);
    expect((await read(id)).messages.nodes[0].delivery).toBe(isDelivered ? 'DELIVERED' : 'WITHDRAWN');
  }
});

it('takes a session out of the queue when its last message is withdrawn', async () => {
  const id = await createSession(test);
  expect(await withdraw(await firstMessage(id))).toMatchObject({
    session: { status: 'RUNNING', statusDetail: 'WAITING_FOR_USER' },
    userErrors: [],
  });
  expect(await runOf(id)).toMatchObject({ queued_at: null });
  await send(id, 'next');
  expect(await inboxOf(id)).toEqual(['next']);
});

it('continues a stopped session with an edited message, and not with a withdrawal', async () => {
  const id = await createSession(test, { prompt: 'first' });
  const second = await send(id, 'second');
  await runMutation(test, 'interruptSession', 'session { id }', { sessionId: id });
  expect((await read(id)).queuedMessages).toHaveLength(2);
  await withdraw(second.id);
  expect(await runOf(id)).toMatchObject({ queued_at: null });
  await edit(await firstMessage(id), 'better');
  expect((await runOf(id)).queued_at).not.toBeNull();
  expect(await inboxOf(id)).toEqual(['better']);
});

it('refuses messages that closed a question, blank texts and foreign messages', async () => {
  const id = await createSession(test);
  const { questionId } = await seedQuestion(test, id, 'question', 'Which?');
  const answered = await runMutation(test, 'answerQuestion', 'message { id delivery }', {
    sessionId: id,
    questionId,
    answer: { text: 'blue' },
  });
  expect(answered.message.delivery).toBe('QUEUED');
  expect((await read(id)).queuedMessages).toEqual([]);
  const invalid = { userErrors: [{ code: 'INVALID_STATE', path: ['input', 'messageId'] }] };
  expect(await withdraw(answered.message.id)).toMatchObject(invalid);
  const queued = await send(id, 'more');
  expect(await edit(queued.id, ' ')).toMatchObject({
    userErrors: [{ code: 'INVALID_INPUT', path: ['input', 'body'] }],
  });
  expect(await withdraw('event-00000000000000000000000000000000')).toMatchObject({ error: 'NOT_FOUND' });
  await runMutation(test, 'terminateSession', 'session { id }', { sessionId: id });
  expect(await edit(queued.id, 'late')).toMatchObject({ userErrors: [{ code: 'INVALID_STATE' }] });
});
