import { expect } from 'vitest';
import { type ClaimedRun, claimRuns } from '../../src/domain/execution/runs/claims.ts';
import { type QuestionEntries, recordQuestion } from '../../src/domain/execution/runs/questions.ts';
import { readInbox, startTurn } from '../../src/domain/execution/runs/turns.ts';
import { newId, parseId, prefixedId } from '../../src/domain/ids.ts';
import { asAdministrator } from '../rest/rest-app.ts';
import { graphql, type TestApp } from './app.ts';
import type { Script } from './scripted-agent.ts';

type Target = Pick<TestApp, 'url' | 'adminToken'>;

/** A question in GraphQL. */
export interface PendingQuestion {
  readonly questionId: string;
  readonly body: string;
  readonly reason: string;
  readonly relatedToolCallId: string | null;
  readonly options: readonly { readonly optionId: string; readonly name: string; readonly kind: string | null }[];
}

/** Reads the open question of a session; null if there is none. */
export async function readPendingQuestion(test: Target, id: string): Promise<PendingQuestion | null> {
  const { data } = await graphql(
    test,
    test.adminToken,
    `query($id: ID!) { session(id: $id) { pendingQuestion {
       questionId body reason relatedToolCallId options { optionId name kind } } } }`,
    { id },
  );
  return data.session.pendingQuestion;
}

/** Resolves with the question of a session once its text contains this text. */
export async function waitForQuestion(test: Target, id: string, text: string): Promise<PendingQuestion> {
  let question: PendingQuestion | null = null;
  await expect
    .poll(async () => {
      question = await readPendingQuestion(test, id);
      return question?.body;
    })
    .toContain(text);
  return question as unknown as PendingQuestion;
}

/** Answers a question over GraphQL; returns the payload, or the code of the error. */
export async function answerQuestion(
  test: Target,
  sessionId: string,
  questionId: string,
  answer: { readonly optionId: string } | { readonly text: string },
  more: { readonly token?: string; readonly input?: object } = {},
): Promise<any> {
  const { data, errors } = await graphql(
    test,
    more.token ?? test.adminToken,
    `mutation($input: AnswerQuestionInput!) { answerQuestion(input: $input) {
       session { status statusDetail pendingQuestion { questionId } }
       message { id type body answer { questionId optionId question { body } } }
       userErrors { code message path } } }`,
    { input: { sessionId, questionId, answer, ...more.input } },
  );
  return errors ? { error: errors[0].extensions.code } : data.answerQuestion;
}

/** Users' messages with the questions that they answer, and the permissions of a session with their answerers. */
export async function readAnswers(test: Target, id: string): Promise<{ messages: any[]; permissions: any[] }> {
  const { data } = await graphql(
    test,
    test.adminToken,
    `query($id: ID!) { session(id: $id) {
       messages(first: 100) { nodes { type body answer { questionId optionId } } }
       events(first: 100, kinds: [PERMISSION]) { nodes { ... on PermissionEvent {
         title decision question { questionId } option { optionId name kind } } } } } }`,
    { id },
  );
  const { messages, events } = data.session;
  return {
    messages: messages.nodes.filter(({ type }: any) => type === 'USER_MESSAGE'),
    permissions: events.nodes.map(({ question, ...permission }: any) => ({
      ...permission,
      questionId: question?.questionId ?? null,
    })),
  };
}

const seededOptions = [
  { id: '1', name: 'Allow', kind: 'allow_once' },
  { id: '2', name: 'Reject', kind: 'reject_once' },
];

/**
 * Writes an agent's question into a session of a service without workers, like a worker that has claimed it. Returns the
 * question's id, and a function that asks another question in the same turn.
 */
export async function seedQuestion(
  test: TestApp,
  sessionId: string,
  reason: 'question' | 'permission',
  body: string,
  about: string | null = null,
): Promise<{ questionId: string; ask(body: string, about?: string): Promise<string> }> {
  const id = parseId('session', sessionId);
  const context = await asAdministrator(test);
  const room = { slots: 100, memoryMb: 100_000, isEmpty: true, memoryOf: () => 1 };
  const { claimed } = await claimRuns(context, { workerId: 'w', leaseMs: 600_000, affinityMs: 0 }, room);
  const run = claimed.find((each) => each.sessionId === id) as ClaimedRun;
  await startTurn(context, run, { messages: await readInbox(context, run.sessionId), isAfterStop: false });
  const detail = reason === 'permission' ? 'waiting_for_approval' : 'waiting_for_user';
  const ask = async (text: string, toolCallId: string | null = null) => {
    const entries: QuestionEntries = [
      { id: newId(), kind: 'QUESTION', body: text, data: { reason, options: seededOptions, toolCallId } },
      { kind: 'MESSAGE', messageType: 'agent_message', body: text },
    ];
    return prefixedId('event', await recordQuestion(context, run, entries, detail));
  };
  return { questionId: await ask(body, about), ask };
}

/** Returns a request for a permission, for {@link Script}. */
export const permissionFor = (title: string) => ({
  method: 'session/request_permission',
  params: {
    sessionId: 's1',
    toolCall: { toolCallId: title, title },
    options: [
      { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
      { optionId: 'no', name: 'Reject', kind: 'reject_once' },
    ],
  },
});

const end = { write: [{ result: { stopReason: 'end_turn' } }] };

/** Returns an agent that requests these permissions one after the other, and reports each result. */
export const askingInTurn = (...titles: readonly string[]): Script => ({
  'session/prompt': [...titles.map((title) => ({ ask: permissionFor(title) })), end],
});

/** Returns an agent that requests two permissions at once. */
export const askingAtOnce = (first: string, second: string): Script => ({
  'session/prompt': [
    { write: [JSON.stringify({ jsonrpc: '2.0', id: 'first', ...permissionFor(first) })] },
    { ask: permissionFor(second) },
    end,
  ],
});
