import { describe, expect, it } from 'vitest';
import { newId, parseId, prefixedId } from '../../src/domain/ids.ts';
import { maxPromptLength } from '../../src/domain/sessions/create-session.ts';
import { call, graphql } from '../support/app.ts';
import { makeManager, runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { answerQuestion, readPendingQuestion, seedQuestion } from '../support/questions.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

/** A session whose agent waits for the answer to a question. */
async function asking(reason: 'question' | 'permission') {
  const id = await createSession(test, { prompt: 'go' });
  return { id, ...(await seedQuestion(test, id, reason, 'May I?')) };
}

const count = async (id: string) => {
  const [row] = await test.app.services.store.query<{ count: number }>(
    'select count(*)::int as count from log_entry where session_id = $1',
    [id],
  );
  return row?.count;
};
const refused = (code: string, ...path: string[]) => ({
  session: null,
  message: null,
  userErrors: [{ code, message: expect.any(String), path: ['input', ...path] }],
});

it('refuses an id that is no question of the session, and writes nothing', async () => {
  const { id, questionId } = await asking('permission');
  const other = await asking('permission');
  const before = await count(id);
  for (const wrong of [newId(), 'not an id', '', other.questionId, '\u0000', 'x'.repeat(100_000)]) {
    expect(await answerQuestion(test, id, wrong, { optionId: '1' })).toEqual(
      refused('UNKNOWN_REFERENCE', 'questionId'),
    );
  }
  expect(await count(id)).toBe(before);
  expect((await readPendingQuestion(test, id))?.questionId).toBe(questionId);
});

it('refuses an unknown option, and a text for a permission', async () => {
  const { id, questionId } = await asking('permission');
  const before = await count(id);
  for (const optionId of ['3', '0', '', '01', 'Allow', 'allow_once', '\u0000', 'x'.repeat(100_000)]) {
    expect(await answerQuestion(test, id, questionId, { optionId })).toEqual(
      refused('INVALID_INPUT', 'answer', 'optionId'),
    );
  }
  const inWords = await answerQuestion(test, id, questionId, { text: 'Allow' });
  expect(inWords).toEqual(refused('INVALID_INPUT', 'answer', 'text'));
  expect(inWords.userErrors[0].message).toContain('send a message');
  expect(await count(id)).toBe(before);
});

it('refuses a text that no message may have', async () => {
  const { id, questionId } = await asking('question');
  for (const text of ['', '  \n', 'a\u0000b', 'x'.repeat(maxPromptLength + 1)]) {
    const { userErrors } = await answerQuestion(test, id, questionId, { text });
    expect(userErrors).toMatchObject([{ code: 'INVALID_INPUT', path: ['input', 'answer', 'text'] }]);
  }
});

it('takes either an option or a text, and refuses both or neither', async () => {
  const { id, questionId } = await asking('question');
  for (const answer of [{}, { optionId: '1', text: 'Allow' }, { optionId: null }, { text: null, optionId: '1' }]) {
    const document = 'mutation($input: AnswerQuestionInput!) { answerQuestion(input: $input) { userErrors { code } } }';
    const input = { sessionId: id, questionId, answer };
    const { data, errors } = await graphql(test, test.adminToken, document, { input });
    expect(data?.answerQuestion ?? null).toBe(null);
    expect(errors).toHaveLength(1);
  }
});

it('accepts the question’s global id too, and returns it as a node', async () => {
  const { id, questionId } = await asking('permission');
  const global = Buffer.from(`QuestionEvent:${parseId('event', questionId)}`).toString('base64');
  const { data } = await graphql(test, test.adminToken, 'query($id: ID!) { node(id: $id) { id __typename } }', {
    id: global,
  });
  expect(data.node).toEqual({ id: global, __typename: 'QuestionEvent' });
  expect((await answerQuestion(test, id, global, { optionId: '1' })).userErrors).toEqual([]);
});

it('refuses an answered question, and one that another question followed', async () => {
  const { id, ask, questionId } = await asking('question');
  const second = await ask('And now?');
  expect(await answerQuestion(test, id, questionId, { text: 'late' })).toEqual(refused('INVALID_STATE', 'questionId'));
  expect((await answerQuestion(test, id, second, { text: 'in time' })).userErrors).toEqual([]);
  expect(await answerQuestion(test, id, second, { text: 'once more' })).toEqual(refused('INVALID_STATE', 'questionId'));
});

it.each(['terminateSession', 'archiveSession', 'suspendSession'])('refuses an answer after %s', async (act) => {
  const { id, questionId } = await asking('permission');
  await runMutation(test, act, 'session { id }', { sessionId: id });
  const before = await count(id);
  const { userErrors } = await answerQuestion(test, id, questionId, { optionId: '1' });
  expect(userErrors).toMatchObject([{ code: 'INVALID_STATE' }]);
  expect(await count(id)).toBe(before);
  expect(await readPendingQuestion(test, id)).toBe(null);
});

it('counts once under one key, however often it is sent', async () => {
  const { id, questionId } = await asking('permission');
  const send = (optionId: string) =>
    answerQuestion(test, id, questionId, { optionId }, { input: { idempotencyKey: 'once' } });
  const all = await Promise.all(Array.from({ length: 5 }, () => send('1')));
  expect(all.map(({ userErrors }) => userErrors)).toEqual(all.map(() => []));
  expect(new Set(all.map(({ message }) => message.id)).size).toBe(1);
  expect((await send('2')).userErrors).toMatchObject([{ code: 'IDEMPOTENCY_CONFLICT' }]);
});

it('audits an answer like a message', async () => {
  const { id, questionId } = await asking('permission');
  await answerQuestion(test, id, questionId, { optionId: '2' });
  const audited = await test.app.services.store.query(
    `select a.action, a.service_user_id is not null as "isTheirs", e.body from audit_entry a join log_entry e on e.id = a.target_id
      where a.session_id = $1 and a.action = 'send_message'`,
    [id],
  );
  expect(audited).toEqual([{ action: 'send_message', isTheirs: true, body: 'Reject' }]);
});

describe('permission to answer', () => {
  it('is the permission to send messages: others learn nothing of the question', async () => {
    const { id, questionId } = await asking('permission');
    const { token: viewer } = await makeManager(test, 'VIEW_ACCOUNT_SESSIONS');
    const { token: stranger } = await makeOrganization(test, 'Elsewhere');
    for (const question of [questionId, newId()]) {
      const byViewer = await answerQuestion(test, id, question, { optionId: '1' }, { token: viewer });
      expect(byViewer).toEqual({ error: 'FORBIDDEN' });
      const byStranger = await answerQuestion(test, id, question, { optionId: '1' }, { token: stranger });
      expect(byStranger).toEqual({ error: 'NOT_FOUND' });
    }
    expect((await readPendingQuestion(test, id))?.questionId).toBe(questionId);
  });

  it('lets a caller answer in the name of a member', async () => {
    const { id, questionId } = await asking('permission');
    const answer = (asUserId: string) =>
      answerQuestion(test, id, questionId, { optionId: '1' }, { input: { asUserId } });
    expect(await answer(newId())).toEqual(refused('UNKNOWN_REFERENCE', 'asUserId'));
    const { userId } = await makeUser(test);
    expect((await answer(userId)).userErrors).toEqual([]);
    const [message] = await test.app.services.store.query<{ userId: string }>(
      `select user_id as "userId" from log_entry where session_id = $1 and message_type = 'user_message'`,
      [id],
    );
    expect(message?.userId).toBe(parseId('user', userId));
  });
});

describe('a message over REST', () => {
  const send = (id: string, message: string, headers: Record<string, string> = {}) =>
    call(test, test.v1Key, 'POST', `/v1/sessions/${id}/message`, { message }, headers);
  const answers = async (id: string) => {
    const rows = await test.app.services.store.query<{ answers: string | null }>(
      `select data->>'questionId' as answers from log_entry where session_id = $1 and message_type = 'user_message' order by seq`,
      [id],
    );
    return rows.map((row) => row.answers && prefixedId('event', row.answers));
  };

  it('answers the open question, and the next message answers none', async () => {
    const { id, questionId } = await asking('permission');
    await send(id, 'yes');
    await send(id, 'yes');
    expect(await answers(id)).toEqual([questionId, null]);
  });

  it('answers a question once when several arrive at the same time', async () => {
    const { id, questionId } = await asking('permission');
    await Promise.all(Array.from({ length: 8 }, (_, n) => send(id, `yes ${n}`)));
    expect((await answers(id)).filter((each) => each !== null)).toEqual([questionId]);
  });
});

it('costs ten points plus its reads', async () => {
  const { id, questionId } = await asking('permission');
  const document = `mutation($input: AnswerQuestionInput!) { answerQuestion(input: $input) { userErrors { code } } }`;
  const input = { sessionId: id, questionId, answer: { optionId: '1' } };
  const { body } = await call(test, test.adminToken, 'POST', '/graphql', { query: document, variables: { input } });
  expect(body.extensions.cost).toBe(10);
});
