import { expect, it } from 'vitest';
import type { QuestionReply } from '../../src/agents/agent.ts';
import { launchOpened, text } from '../support/agents.ts';

const end = { write: [{ result: { stopReason: 'end_turn' } }] };
const asking = (options: readonly object[], title = 'rm') => ({
  method: 'session/request_permission',
  params: { sessionId: 's1', toolCall: { toolCallId: 't', title }, options },
});
const inWords = (text: string): QuestionReply => ({ text: text, optionId: null });
const option = (optionId: string): QuestionReply => ({ text: 'of the option', optionId });

async function ask(options: readonly object[]) {
  const launched = await launchOpened({ 'session/prompt': [{ ask: asking(options) }, end] }, { permission: 'ask' });
  const turn = launched.agent.prompt(text('go'));
  const question = await launched.next('question');
  const answer = async (reply: QuestionReply) => {
    expect(launched.agent.answer(question.questionId, reply)).toBe(true);
    await turn;
    return JSON.parse(launched.messages().join('')).outcome;
  };
  return { ...launched, question, answer };
}

const rejections = (length: number) =>
  Array.from({ length }, (_, n) => ({ optionId: `o${n}`, name: `No ${n}`, kind: 'reject_once' }));

it('refuses a request with thousands of options without a question', async () => {
  const { agent, messages, updates } = await launchOpened(
    { 'session/prompt': [{ ask: asking(rejections(5_000)) }, end] },
    { permission: 'ask' },
  );
  await expect(agent.prompt(text('go'))).resolves.toEqual({ stopReason: 'end_turn' });
  expect(messages().join('')).toContain('"code":-32602');
  expect(updates.filter(({ type }) => type === 'question' || type === 'permission')).toEqual([]);
});

it('offers at most 200 options, and accepts no other', async () => {
  const many = rejections(900);
  const { agent, question, answer } = await ask([...many, { optionId: 'yes', name: 'Allow', kind: 'allow_once' }]);
  expect(question.options).toHaveLength(200);
  for (const optionId of ['201', '901', '0', '-1', 'o0', '1e0', ' 1', '']) {
    expect(agent.answer(question.questionId, option(optionId)), optionId).toBe(false);
  }
  // A text cannot allow an option that was not offered.
  expect(await answer(inWords('yes'))).toEqual({ outcome: 'cancelled' });
});

it('selects by the option’s index if ids are huge, equal, or look like numbers', async () => {
  const huge = 'x'.repeat(1_000_000);
  const { question, answer } = await ask([
    { optionId: huge, name: 'First', kind: 'reject_once' },
    { optionId: huge, name: 'Second', kind: 'reject_always' },
    { optionId: '1', name: 'Third', kind: 'allow_once' },
  ]);
  expect(question.options).toEqual([
    { id: '1', name: 'First', kind: 'reject_once' },
    { id: '2', name: 'Second', kind: 'reject_always' },
    { id: '3', name: 'Third', kind: 'allow_once' },
  ]);
  expect(await answer(option('1'))).toEqual({ outcome: 'selected', optionId: huge });
});

it('shows each name on one line, and selects nothing by an ambiguous name', async () => {
  const { question, answer } = await ask([
    { optionId: 'a', name: 'Reject', kind: 'allow_always' },
    { optionId: 'b', name: 'Reject', kind: 'reject_once' },
    { optionId: 'c', name: ' Keep\n4. Allow\u0007\u202e \u0000', kind: 'reject_always' },
    { optionId: 'd', name: '\n\t', kind: 'allow_once' },
    { optionId: 'e', name: 'n'.repeat(100_000), kind: 'allow_once' },
  ]);
  const names = question.options.map(({ name }) => name);
  expect(names.slice(0, 4)).toEqual(['Reject', 'Reject', 'Keep 4. Allow  \ufffd', 'Option 4']);
  expect(names[4]).toHaveLength(2_000);
  expect(await answer(inWords('reject'))).toEqual({ outcome: 'selected', optionId: 'b' });
});

it("distinguishes questions regardless of the agent's request ids", async () => {
  const again = (title: string) =>
    JSON.stringify({
      jsonrpc: '2.0',
      id: 'same',
      ...asking([{ optionId: 'y', name: 'Y', kind: 'allow_once' }], title),
    });
  const { agent, updates, next } = await launchOpened(
    { 'session/prompt': [{ write: [again('one'), again('two')] }, { wait: 'cancel' }, end] },
    { permission: 'ask' },
  );
  const turn = agent.prompt(text('go'));
  const first = await next('question');
  expect(agent.answer(first.questionId, option('1'))).toBe(true);
  const questions = () => updates.filter((update) => update.type === 'question');
  await expect.poll(questions).toHaveLength(2);
  expect(agent.answer(first.questionId, option('1'))).toBe(false);
  expect(new Set(questions().map(({ questionId }) => questionId)).size).toBe(2);
  await agent.cancel();
  await turn;
});
