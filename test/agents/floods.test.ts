import { expect, it } from 'vitest';
import { createPace } from '../../src/agents/acp/pace.ts';
import { parseLine } from '../../src/agents/acp/parse-line.ts';
import { parseMessage } from '../../src/agents/acp/trim.ts';
import { createUpdateAssembler } from '../../src/agents/acp/updates.ts';
import { AgentCrash, type AgentUpdate } from '../../src/agents/agent.ts';
import { launchAgent, launchScripted, text } from '../support/agents.ts';

const megabyte = 1_048_576;
const end = { result: { stopReason: 'end_turn' } };
const crash = (promise: Promise<unknown>): Promise<AgentCrash> =>
  promise.then(
    () => expect.fail('The agent was expected to be stopped.'),
    (error: unknown) => {
      expect(error).toBeInstanceOf(AgentCrash);
      return error as AgentCrash;
    },
  );

it('stops an agent that sends a message of more than 16 MB, with the reason', async () => {
  const { agent } = await launchAgent();
  await agent.open(null);
  const error = await crash(agent.prompt(text('flood line 17')));
  expect(error.message).toBe('The agent sent a message of more than 16 MB, which is the maximum.');
  expect(error.reason).toBe('limit');
  await expect(agent.exited).resolves.toContain('SIGKILL');
});

it('accepts a message of 15 MB, and continues', async () => {
  const { agent, messages, updates } = await launchAgent();
  await agent.open(null);
  await agent.prompt(text('flood line 15'));
  expect(messages()).toEqual(['Sent line: 15.']);
  const { output, long } = updates[0] as Extract<AgentUpdate, { type: 'toolCall' }>;
  expect(output).toBe('x'.repeat(16_000));
  expect(long).toMatchObject({ characters: 15 * megabyte, bytes: 15 * megabyte, isComplete: true });
  expect(long?.start).toHaveLength(10 * megabyte);
});

it('splits a long message between characters into complete parts', async () => {
  const words = '\u{1F642}a'.repeat(400_001);
  const content = { type: 'text', text: words };
  const update = { update: { sessionUpdate: 'agent_message_chunk', content } };
  const { agent, updates } = await launchScripted({ 'session/prompt': [{ write: [update, end] }] });
  await agent.open(null);
  await agent.prompt(text('go'));
  const messages = updates.flatMap((each) => (each.type === 'message' ? [each] : []));
  expect(messages.map(({ text: piece }) => piece).join('')).toBe(words);
  expect(messages.map(({ isMore }) => isMore)).toEqual([undefined, ...Array(messages.length - 1).fill(true)]);
  expect(Math.max(...messages.map(({ text: piece }) => piece.length))).toBeLessThanOrEqual(400_000);
});

it('does not block the event loop while it reads a message that is mostly structure', async () => {
  const fields = Object.fromEntries(Array.from({ length: 300_000 }, (_, n) => [`name ${n}`, [n]]));
  const line = Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { _meta: fields } }));
  let maxDelayMs = 0;
  let lastAt = performance.now();
  const timer = setInterval(() => {
    maxDelayMs = Math.max(maxDelayMs, performance.now() - lastAt);
    lastAt = performance.now();
  }, 1);
  const startedAt = performance.now();
  const message = (await parseLine(line)) as { params: { _meta: object } };
  const tookMs = performance.now() - startedAt;
  clearInterval(timer);
  expect(Object.keys(message.params._meta)).toHaveLength(100);
  expect(maxDelayMs).toBeLessThan(tookMs / 2);
});

it.each([
  { what: 'has too many values', params: `[${'[],'.repeat(600_000)}1]` },
  { what: 'nests too deep', params: `${'['.repeat(200_000)}${']'.repeat(200_000)}` },
])('skips a message that $what, and reads the next', async ({ params }) => {
  const read = (json: string) => parseLine(Buffer.from(`{"jsonrpc":"2.0","method":"m","params":${json}}`));
  await expect(read(params)).rejects.toThrow('A line takes too much time or memory to read.');
  const words = JSON.stringify('["\\'.repeat(100_000));
  await expect(read(words)).resolves.toEqual({ jsonrpc: '2.0', method: 'm', params: JSON.parse(words) });
});

it('keeps the useful members of a message, with complete strings', () => {
  const deep = JSON.parse(`${'['.repeat(50)}1${']'.repeat(50)}`) as unknown;
  const content = Array.from({ length: 3_000 }, () => ({ type: 'x'.repeat(10_000) }));
  const params = { update: { content, deep, rawInput: {}, rawOutput: [...content], ['__proto__']: 1 } };
  const line = JSON.stringify({ jsonrpc: '2.0', method: 'm', params });
  const { update } = (parseMessage(line) as { params: { update: Record<string, unknown> } }).params;
  expect(update.content).toEqual(content.slice(0, 1_000));
  expect(JSON.stringify(update.deep)).toBe(`${'['.repeat(10)}null${']'.repeat(10)}`);
  expect(update.rawOutput).toEqual(content.slice(0, 500));
  expect(Object.keys(update)).toEqual(['content', 'deep', 'rawOutput', '__proto__']);
});

it('limits one agent to a quarter of the time, after an initial second', async () => {
  let now = 0;
  const pace = createPace(() => now);
  expect(pace.spend(1_000)).toBeNull();
  now = 4_000;
  expect(pace.spend(1_000)).toBeNull();
  const startedAt = performance.now();
  await pace.spend(50);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(195);
});

const call = (more: object) => ({ sessionUpdate: 'tool_call_update', toolCallId: 't', ...more }) as never;
const printed = (words: string, more: object = {}) =>
  call({ ...more, content: [{ type: 'content', content: { type: 'text', text: words } }] });
const says = (words: string) =>
  ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: words } }) as never;

it('reports the progress of a tool call at most once a second, and its end always', () => {
  let now = 0;
  const assembler = createUpdateAssembler(() => now);
  const outputs: (string | null)[] = [];
  const take = (update: never) => {
    for (const each of assembler.take(update)) if (each.type === 'toolCall') outputs.push(each.output);
  };
  take(call({ title: 'make', status: 'in_progress' }));
  for (let n = 1; n <= 300; n++) {
    now += 10;
    take(printed(`line ${n}`));
  }
  expect(outputs).toEqual([null, 'line 100', 'line 200', 'line 300']);
  now += 10;
  take(printed('line 301'));
  expect(assembler.hasDeferredProgress()).toBe(true);
  take(call({ status: 'completed' }));
  expect(outputs.slice(4)).toEqual(['line 301']);
  expect(assembler.hasDeferredProgress()).toBe(false);
  expect(assembler.endTurn()).toEqual([]);
});

it('does not split a message for delayed progress, which follows it', () => {
  const assembler = createUpdateAssembler(() => 0);
  assembler.take(call({ title: 'make', status: 'in_progress' }));
  expect([says('one '), printed('a'), says('two'), printed('b')].flatMap((each) => assembler.take(each))).toEqual([]);
  const last = [
    { type: 'message', text: 'one two' },
    expect.objectContaining({ type: 'toolCall', status: 'in_progress', output: 'b' }),
  ];
  expect(assembler.progress()).toEqual(last);
  expect(assembler.progress()).toEqual([]);
});

it.each(['flush', 'endTurn'] as const)('reports buffered output at a %s', (end) => {
  const assembler = createUpdateAssembler(() => 0);
  assembler.take(call({ title: 'make', status: 'in_progress' }));
  assembler.take(printed('a'));
  expect(assembler[end]()).toEqual([expect.objectContaining({ output: 'a' })]);
});

it('reports the progress of a tool within two seconds, without another message of the agent', async () => {
  const running = { toolCallId: 't', title: 'make', status: 'in_progress' };
  const content = [{ type: 'content', content: { type: 'text', text: 'line 1' } }];
  const write = [
    { update: { sessionUpdate: 'tool_call', ...running } },
    { update: { sessionUpdate: 'tool_call_update', ...running, content } },
  ];
  const cancelled = { write: [{ result: { stopReason: 'cancelled' } }] };
  const { agent, updates } = await launchScripted({ 'session/prompt': [{ write }, { wait: 'cancel' }, cancelled] });
  await agent.open(null);
  const turn = agent.prompt(text('go'));
  await expect.poll(() => updates.length, { timeout: 60_000 }).toBe(2);
  expect(updates[1]).toMatchObject({ status: 'in_progress', output: 'line 1' });
  await agent.cancel();
  await turn;
});

it('keeps at most 320,000 characters of the diffs of one call', () => {
  const content = Array.from({ length: 100 }, (_, n) => ({
    type: 'diff',
    path: `${n}`,
    oldText: 'x'.repeat(9_000),
    newText: 'y'.repeat(9_000),
  }));
  const [update] = createUpdateAssembler().take(call({ title: 'edit', content }));
  const diffs = update?.type === 'toolCall' ? update.diffs : [];
  expect(diffs).toHaveLength(100);
  const totalCharacters = diffs.reduce((sum, { oldText, newText }) => sum + (oldText?.length ?? 0) + newText.length, 0);
  expect(totalCharacters).toBeLessThan(330_000);
  expect(diffs.at(-1)?.newText).toBe('\n… (9000 more characters are not kept)');
});
