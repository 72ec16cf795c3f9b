import { expect, it } from 'vitest';
import { createUpdateAssembler } from '../../src/agents/acp/updates.ts';
import { launchScripted, text } from '../support/agents.ts';
import type { Script } from '../support/scripted-agent.ts';

const end = { result: { stopReason: 'end_turn' } };
const chunk = (text: string, messageId?: string, sessionUpdate = 'agent_message_chunk') => ({
  update: { sessionUpdate, ...(messageId && { messageId }), content: { type: 'text', text: text } },
});
const turn = async (write: Script[string][number] & { write: unknown }, more: Script = {}) => {
  const launched = await launchScripted({ 'session/prompt': [write], ...more });
  await launched.agent.open(null);
  await launched.agent.prompt(text('go'));
  return launched;
};

it('joins chunks until the message or its type changes', async () => {
  const { updates } = await turn({
    write: [
      chunk('hm', undefined, 'agent_thought_chunk'),
      chunk('a', '1'),
      chunk('b', '1'),
      chunk('c', '2'),
      chunk('d'),
      chunk('e'),
      end,
    ],
  });
  expect(updates).toEqual([
    { type: 'thought', text: 'hm' },
    { type: 'message', text: 'ab' },
    { type: 'message', text: 'c' },
    { type: 'message', text: 'de' },
  ]);
});

it('has reported everything when the turn ends, including data in the same chunk as its end', async () => {
  const { messages } = await turn({ write: [...Array.from({ length: 200 }, (_, n) => chunk(`${n}`, `m${n}`)), end] });
  expect(messages()).toEqual(Array.from({ length: 200 }, (_, n) => `${n}`));
});

it('awaits each report before the next', async () => {
  const { updates, overlaps } = await turn({ write: [chunk('a', '1'), chunk('b', '2'), chunk('c', '3'), end] });
  expect(updates).toHaveLength(3);
  expect(overlaps()).toBe(0);
});

it('reports a complete tool call each time, and once per change', async () => {
  const call = {
    toolCallId: 't',
    title: 'Edit',
    kind: 'edit',
    status: 'pending',
    locations: [{ path: '/a', line: 3 }],
  };
  const diff = { type: 'diff', path: '/a', oldText: null, newText: 'x' };
  const { updates } = await turn({
    write: [
      { update: { sessionUpdate: 'tool_call', ...call } },
      { update: { sessionUpdate: 'tool_call_update', toolCallId: 't' } },
      { update: { sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'completed', content: [diff] } },
      end,
    ],
  });
  const whole = { type: 'toolCall', toolCallId: 't', title: 'Edit', toolKind: 'edit', output: null };
  const locations = [{ path: '/a', line: 3 }];
  expect(updates).toEqual([
    { ...whole, status: 'pending', locations, diffs: [] },
    { ...whole, status: 'completed', locations, diffs: [{ path: '/a', oldText: null, newText: 'x' }] },
  ]);
});

it('keeps data of a tool call that only the permission request has, and earlier data', async () => {
  const diff = { type: 'diff', path: '/a', oldText: null, newText: 'x' };
  const running = { toolCallId: 't', title: 'write', kind: 'edit', status: 'in_progress' };
  const permissionUpdate = { toolCallId: 't', title: '/a', status: 'pending', content: [diff] };
  const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }];
  const { updates } = await turn(
    { write: [] },
    {
      'session/prompt': [
        { write: [{ update: { sessionUpdate: 'tool_call', ...running } }] },
        {
          ask: {
            method: 'session/request_permission',
            params: { sessionId: 's1', options, toolCall: permissionUpdate },
          },
        },
        { write: [{ update: { sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'completed' } }, end] },
      ],
    },
  );
  const diffs = [{ path: '/a', oldText: null, newText: 'x' }];
  expect(updates.filter(({ type }) => type === 'toolCall')).toEqual([
    expect.objectContaining({ title: 'write', status: 'in_progress', diffs: [] }),
    expect.objectContaining({ title: '/a', status: 'in_progress', toolKind: 'edit', diffs }),
    expect.objectContaining({ title: '/a', status: 'completed', diffs }),
  ]);
});

it('keeps the end of long output of tools, and all of it for a file', async () => {
  const content = [{ type: 'content', content: { type: 'text', text: `${'x'.repeat(20_000)}é` } }];
  const { updates } = await turn({
    write: [{ update: { sessionUpdate: 'tool_call', toolCallId: 't', title: 'T', status: 'completed', content } }, end],
  });
  expect(updates[0]).toMatchObject({
    output: `${'x'.repeat(15_999)}é`,
    long: { start: `${'x'.repeat(20_000)}é`, characters: 20_001, bytes: 20_002, isComplete: true },
  });
});

it('replaces characters that cannot be stored, and joins a split character', async () => {
  const { messages } = await turn({
    write: [chunk('\uD83D', '1'), chunk('\uDE42 a\0b', '1'), chunk('\uD83D', '2'), end],
  });
  expect(messages()).toEqual(['\u{1F642} a\uFFFDb', '\uFFFD']);
});

it('ignores unknown updates, and updates of another session', async () => {
  const { updates } = await turn({
    write: [
      chunk('a'),
      { update: { sessionUpdate: 'of_the_future', more: 1 } },
      { ...chunk('stray'), sessionId: 'another' },
      { update: { sessionUpdate: 'session_info_update', title: null } },
      { method: '_auth/status_update' },
      chunk('b'),
      { update: { sessionUpdate: 'notice', severity: 'warning', title: 'Low', description: 'on fuel' } },
      end,
    ],
  });
  expect(updates).toEqual([
    { type: 'notice', text: 'Low\non fuel' },
    { type: 'message', text: 'ab' },
  ]);
});

it.each([
  {
    where: 'an update',
    write: [
      { update: { sessionUpdate: 'usage_update', used: 5, size: 9, cost: { amount: 0.5, currency: 'USD' } } },
      end,
    ],
    usage: { contextUsed: 5, contextSize: 9, costUsd: 0.5 },
  },
  {
    where: 'the answer',
    write: [{ result: { stopReason: 'end_turn', usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } } }],
    usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
  },
  {
    where: '_meta.quota',
    write: [
      { result: { stopReason: 'end_turn', _meta: { quota: { token_count: { input_tokens: 1, output_tokens: 2 } } } } },
    ],
    usage: { inputTokens: 1, outputTokens: 2 },
  },
])('reads usage from $where', async ({ write, usage }) => {
  const { updates } = await turn({ write });
  expect(updates).toEqual([expect.objectContaining({ type: 'usage', ...usage })]);
});

it('ignores the history that is replayed while a session is loaded, and later updates of it', async () => {
  const loading: Script = {
    initialize: [{ write: [{ result: { protocolVersion: 1, agentCapabilities: { loadSession: true } } }] }],
    'session/load': [{ write: [...Array.from({ length: 50 }, (_, n) => chunk(`old ${n}`, `m${n}`)), { result: {} }] }],
    'session/prompt': [{ write: [chunk('new', 'n'), end] }],
  };
  const loaded = await launchScripted(loading);
  await expect(loaded.agent.open('s1')).resolves.toEqual({ agentSessionId: 's1', how: 'load' });
  await loaded.agent.prompt(text('go'));
  expect(loaded.messages()).toEqual(['new']);

  const refused = { write: [{ error: { code: -32_603, message: 'No.' } }] };
  const late = { ...chunk('old', 'm'), sessionId: 's0' };
  const opened = await launchScripted({
    ...loading,
    'session/load': [refused],
    'session/prompt': [{ write: [late, chunk('new', 'n'), end] }],
  });
  await expect(opened.agent.open('s0')).resolves.toEqual({ agentSessionId: 's1', how: 'new' });
  await opened.agent.prompt(text('go'));
  expect(opened.messages()).toEqual(['new']);
});

it('ignores a history that continues after the response to the load', async () => {
  const loaded = await launchScripted({
    initialize: [{ write: [{ result: { protocolVersion: 1, agentCapabilities: { loadSession: true } } }] }],
    // The intermediate request ensures that the response was received; then the agent reports the response.
    'session/load': [{ write: [{ result: {} }] }, { ask: { method: 'unknown/one', params: {} } }],
    'session/prompt': [{ write: [chunk('new', 'n'), end] }],
  });
  await loaded.agent.open('s1');
  await loaded.agent.prompt(text('go'));
  expect(loaded.messages()).toEqual(['new']);
});

it("ignores a title that is only the start of the service's prompt", async () => {
  const title = (words: string) => ({ update: { sessionUpdate: 'session_info_update', title: words } });
  const preface = 'You are at work in a session of a service.\n\n- What you say is read.';
  const { agent, updates } = await launchScripted({
    'session/prompt': [
      { write: [title('You are at work in a session of a service. - What you s…'), title('You are at work'), end] },
    ],
  });
  await agent.open(null);
  await agent.prompt([{ type: 'text', text: preface, isPreface: true }, ...text('You are at work in a session too')]);
  expect(updates).toEqual([{ type: 'title', title: 'You are at work' }]);
});

it('reports the incremental output of a command at its end', async () => {
  const printed = (data: string, more: object = {}) => ({
    update: { sessionUpdate: 'tool_call_update', toolCallId: 't', _meta: { terminal_output_delta: { data } }, ...more },
  });
  const call = { sessionUpdate: 'tool_call', toolCallId: 't', title: 'make', status: 'in_progress' };
  const { updates } = await turn({
    write: [{ update: call }, printed('one\n'), printed('two\n'), printed('three', { status: 'completed' }), end],
  });
  expect(updates).toEqual([
    expect.objectContaining({ status: 'in_progress', output: null }),
    expect.objectContaining({ status: 'completed', output: 'one\ntwo\nthree' }),
  ]);
});

const toolUpdate = (more: object, toolCallId = 't') => ({
  update: { sessionUpdate: 'tool_call_update', toolCallId, ...more },
});
const call = { sessionUpdate: 'tool_call', toolCallId: 't', title: 'make', kind: 'execute', status: 'in_progress' };

it('reports the output of an unfinished command when the turn ends', async () => {
  const { updates } = await turn({
    write: [{ update: call }, toolUpdate({ _meta: { terminal_output_delta: { data: 'half of it' } } }), end],
  });
  expect(updates.at(-1)).toMatchObject({ title: 'make', status: 'in_progress', output: 'half of it' });
});

it.each([
  { what: 'text', rawOutput: 'all good', output: 'all good' },
  {
    what: 'JSON',
    rawOutput: [{ query: 'ls', result: 'a' }],
    output: JSON.stringify([{ query: 'ls', result: 'a' }], null, 2),
  },
  {
    what: 'long text',
    rawOutput: 'x'.repeat(16_001),
    output: 'x'.repeat(16_000),
  },
  { what: 'nothing', rawOutput: {}, output: null },
])('shows the raw output of a tool without content: $what', async ({ rawOutput, output }) => {
  const { updates } = await turn({ write: [{ update: call }, toolUpdate({ status: 'completed', rawOutput }), end] });
  expect(updates.at(-1)).toMatchObject({ title: 'make', status: 'completed', output });
});

it('shows the last raw output, and none with content', async () => {
  const content = [{ type: 'content', content: { type: 'text', text: 'for people' } }];
  const diff = [{ type: 'diff', path: '/a', oldText: null, newText: 'x' }];
  const { updates } = await turn({
    write: [
      { update: call },
      toolUpdate({ rawOutput: 'one' }),
      toolUpdate({ rawOutput: 'two', status: 'completed' }),
      toolUpdate({ title: 'read', content, rawOutput: { code: 0 } }, 'u'),
      toolUpdate({ status: 'completed', rawOutput: { code: 0 } }, 'u'),
      toolUpdate({ title: 'edit', content: diff, rawOutput: { code: 0 }, status: 'completed' }, 'v'),
      end,
    ],
  });
  const last = (title: string) => updates.filter((each) => each.type === 'toolCall' && each.title === title).at(-1);
  expect(last('make')).toMatchObject({ output: 'two' });
  expect(last('read')).toMatchObject({ output: 'for people' });
  expect(last('edit')).toMatchObject({ output: null });
});

it('remembers the title of a tool call that arrives after its turn, for at most 2,000 calls', () => {
  const assembler = createUpdateAssembler(() => 0);
  assembler.take(call as never);
  assembler.endTurn();
  const late = toolUpdate({ status: 'completed' }).update as never;
  expect(assembler.take(late)).toMatchObject([{ title: 'make', toolKind: 'execute', status: 'completed' }]);
  assembler.endTurn();
  for (let n = 1; n <= 2_000; n++) assembler.take({ ...call, toolCallId: `t${n}` } as never);
  assembler.endTurn();
  expect(assembler.take(toolUpdate({ status: 'completed' }, 't1').update as never)).toMatchObject([{ title: 'make' }]);
  expect(assembler.take(late)).toMatchObject([{ title: 'Tool call', toolKind: 'other' }]);
});

it('remembers a tool call in a later turn, unless that uses its id for another', async () => {
  const { agent, updates } = await launchScripted({
    'session/prompt': [
      {
        write: [
          { update: call },
          toolUpdate({ status: 'completed' }),
          toolUpdate({ status: 'failed' }, 'n'),
          toolUpdate({ name: 'grep', status: 'failed' }, 'm'),
          end,
        ],
      },
    ],
  });
  await agent.open(null);
  await agent.prompt(text('go'));
  await agent.prompt(text('again'));
  const titles = updates.flatMap((each) => (each.type === 'toolCall' ? [`${each.title} ${each.status}`] : []));
  const once = ['make in_progress', 'make completed', 'Tool call failed', 'grep failed'];
  expect(titles).toEqual([...once, ...once]);
});

it('asks for a permission with the tool call’s earlier title', async () => {
  const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }];
  const params = { sessionId: 's1', options, toolCall: { toolCallId: 't' } };
  const { updates } = await turn(
    { write: [] },
    {
      'session/prompt': [
        { write: [{ update: call }] },
        { ask: { method: 'session/request_permission', params } },
        { write: [end] },
      ],
    },
  );
  expect(updates.find(({ type }) => type === 'permission')).toMatchObject({ title: 'make', decision: 'allowed' });
});
