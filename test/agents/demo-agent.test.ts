import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventText } from '../../src/domain/automations/triggers/event-text.ts';
import { launchAgent, makeDirs, text } from '../support/agents.ts';

it('sends complete messages, split at tool calls, in the order of events', async () => {
  const { agent, updates } = await launchAgent();
  await agent.open(null);
  const long = 'word '.repeat(40).trim();
  await expect(agent.prompt(text(`say ${long}\nwrite a/b.txt hello there\nsay two`))).resolves.toEqual({
    stopReason: 'end_turn',
  });
  expect(
    updates.map((update) =>
      update.type === 'toolCall'
        ? `${update.title}: ${update.status}`
        : update.type === 'message'
          ? update.text
          : update.type,
    ),
  ).toEqual([long, 'Write a/b.txt: in_progress', 'Write a/b.txt: completed', 'two']);
});

it('streams words as one message', async () => {
  const { agent, messages } = await launchAgent();
  await agent.open(null);
  await agent.prompt(text('stream one  two three'));
  expect(messages()).toEqual(['one  two three']);
});

it('works only in its workspace', async () => {
  const { agent, updates, workspaceDir } = await launchAgent();
  await agent.open(null);
  await agent.prompt(text('write in.txt yes\nwrite ../out.txt no\nlist'));
  expect(readFileSync(join(workspaceDir, 'in.txt'), 'utf8')).toBe('yes\n');
  const ends = updates.filter((update) => update.type === 'toolCall' && update.status !== 'in_progress');
  expect(ends).toMatchObject([
    { status: 'completed' },
    { status: 'failed', output: '../out.txt is outside the workspace.' },
    { status: 'completed', output: 'in.txt' },
  ]);
});

it('shows a title, a plan, a thought, tool calls and an answer in its introduction', async () => {
  const { agent, updates, messages } = await launchAgent();
  await agent.open(null);
  await agent.prompt(text('Please write a poem into poem.txt'));
  expect(new Set(updates.map((update) => update.type))).toEqual(
    new Set(['title', 'plan', 'thought', 'message', 'toolCall', 'usage']),
  );
  expect(messages().at(-1)).toContain('poem.txt');
});

it('gives its session one title', async () => {
  const { agent, updates } = await launchAgent();
  await agent.open(null);
  await agent.prompt(text('Please write a poem'));
  await agent.prompt(text('And another'));
  expect(updates.filter((update) => update.type === 'title')).toEqual([
    { type: 'title', title: 'Demo: Please write a poem' },
  ]);
});

it('reports a plan and prints JSON on command', async () => {
  const { agent, updates } = await launchAgent();
  await agent.open(null);
  await agent.prompt(text('plan first; second\njson {"a": 1}'));
  expect(updates).toEqual([
    {
      type: 'plan',
      entries: [
        { content: 'first', status: 'pending', priority: 'medium' },
        { content: 'second', status: 'pending', priority: 'medium' },
      ],
    },
    { type: 'message', text: '```json\n{"a": 1}\n```' },
  ]);
});

it("runs the commands of the user, and not those in the service's preface", async () => {
  const { agent, messages } = await launchAgent();
  await agent.open(null);
  await agent.prompt([{ type: 'text', text: 'say preface', isPreface: true }, ...text('say one'), ...text('say two')]);
  expect(messages()).toEqual(['one', 'two']);
});

it('asks a question by a form and continues with the answer', async () => {
  const { agent, next, messages } = await launchAgent();
  await agent.open(null);
  const turn = agent.prompt(text('ask Which colour?'));
  const question = await next('question');
  expect(question).toMatchObject({ text: 'Which colour?', reason: 'question' });
  expect(agent.answer('another', { text: 'red', optionId: null })).toBe(false);
  expect(agent.answer(question.questionId, { text: 'blue', optionId: null })).toBe(true);
  await turn;
  expect(messages()).toEqual(['You answered: blue']);
});

it.each([
  { permission: 'auto' as const, decision: 'allowed', messages: [] },
  { permission: 'deny' as const, decision: 'denied', messages: ['I was not allowed to run rm -rf.'] },
])('answers a permission by the policy "$permission"', async ({ permission, decision, messages }) => {
  const launched = await launchAgent({ permission });
  await launched.agent.open(null);
  await launched.agent.prompt(text('tool rm -rf'));
  expect(launched.updates.find((update) => update.type === 'permission')).toMatchObject({ decision });
  expect(launched.messages()).toEqual(messages);
});

it.each([
  ['2', 'allowed'],
  ['yes please', 'allowed'],
  ['Reject', 'denied'],
  ['what?', 'denied'],
])('passes a permission on to the user and accepts "%s" as %s', async (words, decision) => {
  const { agent, next, updates } = await launchAgent({ permission: 'ask' });
  await agent.open(null);
  const turn = agent.prompt(text('tool make'));
  const question = await next('question');
  expect(question.options.map((option) => option.name)).toEqual(['Allow once', 'Always allow', 'Reject']);
  agent.answer(question.questionId, { text: words, optionId: null });
  await turn;
  expect(updates.find((update) => update.type === 'permission')).toMatchObject({ decision });
});

it('ignores noise on stdout', async () => {
  const { agent, messages } = await launchAgent();
  await agent.open(null);
  await agent.prompt(text('noise 20000\nsay still here'));
  expect(messages()).toEqual(['still here']);
});

it('leaves the data of an event alone, and says so once', async () => {
  const { agent, messages } = await launchAgent();
  await agent.open(null);
  const data = eventText('Something happened.', '{\n  "title": "crash",\n"x": "say no"\n}');
  await agent.prompt(text(`say before\n\n${data}\nsay after`));
  expect(messages()).toEqual(['before', 'I leave the data of the event alone.', 'after']);
});

it('sees only its given variables', async () => {
  const { agent, messages } = await launchAgent({ env: { FROM_PROFILE: 'p' } }, { env: { MY_SECRET: 's' } });
  await agent.open(null);
  await agent.prompt(text('env MY_SECRET\nenv FROM_PROFILE\nenv TEST_DATABASE\nenv NODE_OPTIONS\nenv VITEST'));
  expect(messages()).toEqual([
    'MY_SECRET=s',
    'FROM_PROFILE=p',
    'TEST_DATABASE=(not set)',
    'NODE_OPTIONS=(not set)',
    'VITEST=(not set)',
  ]);
});

it.each([
  { resumeOrder: ['resume', 'load', 'new'] as const, how: 'resume' },
  { resumeOrder: ['load', 'new'] as const, how: 'load' },
  { resumeOrder: ['new', 'resume'] as const, how: 'new' },
])('is resumed after a kill by "$how", and repeats nothing of its history', async ({ resumeOrder, how }) => {
  const dirs = makeDirs();
  const first = await launchAgent({}, { dirs });
  const { agentSessionId } = await first.agent.open(null);
  await first.agent.prompt(text('say before'));
  process.kill(first.pid, 'SIGKILL');
  await first.agent.stop();
  const second = await launchAgent({ resumeOrder }, { dirs });
  const opened = await second.agent.open(agentSessionId);
  expect(opened.how).toBe(how);
  expect(opened.agentSessionId === agentSessionId).toBe(how !== 'new');
  await second.agent.prompt(text('say after'));
  expect(second.messages()).toEqual(['after']);
});

it('opens a new session if the old one is unknown', async () => {
  const { agent } = await launchAgent();
  await expect(agent.open('gone')).resolves.toMatchObject({ how: 'new' });
});

it.each(['ask Which colour?', 'tool rm -rf'])(
  'sends and does nothing more after the cancellation of "%s"',
  async (question) => {
    const { agent, updates, next } = await launchAgent({ permission: 'ask' });
    await agent.open(null);
    const turn = agent.prompt(text(`${question}\nsay too much`));
    await next('question');
    await agent.cancel();
    await expect(turn).resolves.toEqual({ stopReason: 'cancelled' });
    expect(updates.filter(({ type }) => type === 'message')).toEqual([]);
    expect(updates.filter((each) => each.type === 'toolCall' && each.status !== 'pending')).toEqual([]);
  },
);
