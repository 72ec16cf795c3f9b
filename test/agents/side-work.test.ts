import { expect, it } from 'vitest';
import { createSideWork, sideWorkMs } from '../../src/agents/acp/side-work.ts';
import { launchOpened, launchScripted, text } from '../support/agents.ts';

type Update = Parameters<ReturnType<typeof createSideWork>['recordUpdate']>[0];
const tool = (toolCallId: string, status?: string) =>
  ({ sessionUpdate: 'tool_call_update', toolCallId, status }) as Update;
const words: Update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'meanwhile' } };
const plan: Update = { sessionUpdate: 'plan', entries: [] };

const begun = () => {
  let at = 1_000;
  const work = createSideWork(() => at);
  return {
    work,
    later(ms: number) {
      at += ms;
      return work.isQuiet();
    },
  };
};

it('an idle agent counts as waiting from its question on, regardless of earlier work', () => {
  const { work, later } = begun();
  work.recordUpdate(words);
  work.recordUpdate(tool('asked', 'in_progress'));
  work.recordQuestion('asked', true);
  expect(work.isQuiet()).toBe(true);
  expect(later(24 * 60 * 60_000)).toBe(true);
});

it('an agent that sends an update counts as working from then on, for half a minute', () => {
  for (const sign of [words, plan, tool('other', 'pending'), tool('other', 'completed')]) {
    const { work, later } = begun();
    work.recordQuestion(null, true);
    expect(later(60_000)).toBe(true);
    work.recordUpdate(sign);
    expect(work.isQuiet()).toBe(false);
    expect(later(sideWorkMs - 1)).toBe(false);
    work.recordUpdate(sign);
    expect(later(sideWorkMs)).toBe(false);
    expect(later(1)).toBe(true);
  }
});

it('its title, its commands, its cost, and the call of its question are no sign of work', () => {
  const { work } = begun();
  work.recordQuestion('asked', true);
  work.recordUpdate({ sessionUpdate: 'session_info_update', title: 'A title' });
  work.recordUpdate({ sessionUpdate: 'available_commands_update', availableCommands: [] });
  work.recordUpdate({ sessionUpdate: 'usage_update', used: 1, size: 2 });
  work.recordUpdate(tool('asked', 'in_progress'));
  expect(work.isQuiet()).toBe(true);
  expect(work.isToolRunning()).toBe(false);
});

it('a call that began after the question counts until its end, however long it is silent', () => {
  const { work, later } = begun();
  work.recordUpdate(tool('before', 'in_progress'));
  work.recordQuestion('asked', true);
  work.recordUpdate(tool('before', 'in_progress'));
  expect(work.isToolRunning()).toBe(false);
  work.recordUpdate(tool('after', 'in_progress'));
  expect(later(60 * 60_000)).toBe(false);
  expect(work.isToolRunning()).toBe(true);
  work.recordUpdate(tool('after', 'completed'));
  expect(work.isToolRunning()).toBe(false);
  expect(later(sideWorkMs + 1)).toBe(true);
});

it('a further question may be what earlier calls wait for', () => {
  const { work, later } = begun();
  work.recordQuestion(null, true);
  work.recordUpdate(tool('asks', 'in_progress'));
  work.recordQuestion(null, false);
  expect(work.isToolRunning()).toBe(false);
  expect(later(sideWorkMs + 1)).toBe(true);
  work.recordUpdate(tool('next', 'in_progress'));
  work.reset();
  expect(work.isQuiet()).toBe(true);
});

const ask = {
  method: 'elicitation/create',
  params: { mode: 'form', sessionId: 's1', message: 'Which?', requestedSchema: { type: 'object', properties: {} } },
};
// Sent without waiting for the response.
const question = JSON.stringify({ jsonrpc: '2.0', id: 'q', ...ask });
const running = { update: { sessionUpdate: 'tool_call', toolCallId: 'make', title: 'make', status: 'in_progress' } };

it('stops an agent that hangs in a tool beside its question, but not one that only waits', async () => {
  const hanging = await launchScripted({ 'session/prompt': [{ write: [question, running] }] }, { inactivityMs: 100 });
  await hanging.agent.open(null);
  const turn = hanging.agent.prompt(text('go'));
  const [firstQuestion] = await Promise.all([hanging.next('question'), hanging.next('toolCall')]);
  expect(firstQuestion.text).toBe('Which?');
  expect(hanging.agent.isWaiting()).toBe(false);
  await expect(turn).rejects.toThrow(/^The agent sent nothing for 0.3 s\./);

  const end = { write: [{ result: { stopReason: 'end_turn' } }] };
  const waiting = await launchScripted(
    { 'session/prompt': [{ write: [running] }, { ask }, end] },
    { inactivityMs: 200 },
  );
  await waiting.agent.open(null);
  const waitingTurn = waiting.agent.prompt(text('go'));
  const { questionId } = await waiting.next('question');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(waiting.agent.isWaiting()).toBe(true);
  expect(waiting.agent.answer(questionId, { text: 'that', optionId: null })).toBe(true);
  await expect(waitingTurn).resolves.toEqual({ stopReason: 'end_turn' });
});

it('limits a turn that works beside its question to the maximum duration of turns', async () => {
  const stopped = [{ wait: 'cancel' as const }, { write: [{ result: { stopReason: 'cancelled' } }] }];
  const { agent } = await launchScripted(
    { 'session/prompt': [{ write: [question, running] }, ...stopped] },
    { maxTurnMs: 500 },
  );
  await agent.open(null);
  await expect(agent.prompt(text('go'))).resolves.toEqual({ stopReason: 'max_turn_time' });
});

const says = (text: string, messageId = text) => ({
  update: { sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text: text } },
});
const cancelled = { write: [{ result: { stopReason: 'cancelled' } }] };

it.each(['stop', 'interrupt'] as const)(
  'ignores what an agent sends because a %s cancelled its question, which stays open',
  async (how) => {
    // The scripted agent reports the answer that it received. Its tool's result counts in any case.
    const made = { update: { ...running.update, status: 'completed' } };
    const { agent, updates, next } = await launchOpened({
      'session/prompt': [{ write: [says('before'), running] }, { ask }, { write: [made] }, cancelled],
    });
    const turn = agent.prompt(text('go'));
    await next('question');
    await agent[how]();
    await expect(turn).resolves.toEqual({ stopReason: 'cancelled' });
    const reported = updates.map((each) =>
      each.type === 'message' || each.type === 'question' ? each.text : each.type,
    );
    expect(reported).toEqual(['before', 'toolCall', 'Which?', 'toolCall']);
  },
);

it('reports the last message of an agent that is stopped while it works beside its question', async () => {
  const { agent, messages, next } = await launchOpened({
    'session/prompt': [{ write: [question, running] }, { wait: 'cancel' }, { write: [says('saved')] }, cancelled],
  });
  const turn = agent.prompt(text('go'));
  await Promise.all([next('question'), next('toolCall')]);
  await agent.stop();
  await turn;
  expect(messages()).toEqual(['saved']);
});

it('updates are reported again in the turn after an interrupted one', async () => {
  const { agent, messages, next } = await launchOpened({
    'session/prompt': [{ ask }, { write: [{ result: { stopReason: 'end_turn' } }] }],
  });
  const turn = agent.prompt(text('go'));
  await next('question');
  await agent.interrupt();
  await turn;
  const again = agent.prompt(text('go'));
  await agent.cancel();
  await again;
  expect(messages()).toEqual(['{"action":"cancel"}']);
});
