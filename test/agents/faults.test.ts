import { expect, it } from 'vitest';
import { descendantsOf, findInDirectories } from '../../src/agents/sandbox/local/orphan-processes.ts';
import { processStart } from '../../src/agents/sandbox/process-identity.ts';
import { crashOf, launchAgent, launchOpened, launchScripted, text } from '../support/agents.ts';

const end = { result: { stopReason: 'end_turn' } };
const chunk = (words: string) => ({
  update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: words } },
});
const permission = {
  method: 'session/request_permission',
  params: {
    sessionId: 's1',
    toolCall: { toolCallId: 't', title: 'rm' },
    options: [
      { optionId: 'for-good', name: 'Always', kind: 'allow_always' },
      { optionId: 'now', name: 'Once', kind: 'allow_once' },
    ],
  },
};

it('survives a flood of noise from an agent that does not read meanwhile', async () => {
  const noise = Array.from({ length: 40_000 }, () => 'no message, but longer than the pipe takes at once');
  const { agent, messages } = await launchOpened({
    'session/prompt': [{ write: [...noise, chunk('still here'), end] }],
  });
  await agent.prompt(text('go'));
  expect(messages()).toEqual(['still here']);
});

it('accepts an answer followed directly by the end of the process, and reports that end', async () => {
  const write = { write: [chunk('x'.repeat(300_000)), end] };
  const { agent, messages } = await launchOpened({ 'session/prompt': [write, { exit: 4 }] });
  await expect(agent.prompt(text('go'))).resolves.toEqual({ stopReason: 'end_turn' });
  expect(messages().join('')).toHaveLength(300_000);
  await expect(agent.exited).resolves.toBe('exit code 4');
});

it('reports the complete output from before a crash', async () => {
  const blocks = Array.from({ length: 300 }, (_, n) => ({
    update: { ...chunk('y'.repeat(2_000)).update, messageId: `${n}` },
  }));
  const { agent, messages } = await launchOpened({ 'session/prompt': [{ write: blocks }, { exit: 3 }] });
  const error = await crashOf(agent.prompt(text('go')));
  expect(error.message).toBe('The agent process ended unexpectedly (exit code 3).');
  expect(messages()).toHaveLength(300);
});

it('prefers to allow once', async () => {
  const { agent, messages } = await launchOpened({ 'session/prompt': [{ ask: permission }, { write: [end] }] });
  await agent.prompt(text('go'));
  expect(messages()).toEqual(['{"outcome":{"outcome":"selected","optionId":"now"}}']);
});

it('grants no request after a cancellation', async () => {
  const cancelled = { write: [{ result: { stopReason: 'cancelled' } }] };
  const { agent, messages } = await launchOpened({
    'session/prompt': [{ wait: 'cancel' }, { ask: permission }, cancelled],
  });
  const turn = agent.prompt(text('go'));
  await agent.cancel();
  await expect(turn).resolves.toEqual({ stopReason: 'cancelled' });
  expect(messages()).toEqual(['{"outcome":{"outcome":"cancelled"}}']);
});

it('cancels the open question with the turn, and asks again in the next turn', async () => {
  const { agent, messages, next, updates } = await launchOpened(
    { 'session/prompt': [{ ask: permission }, { write: [end] }] },
    { permission: 'ask' },
  );
  const turn = agent.prompt(text('go'));
  const first = await next('question');
  await agent.cancel();
  await turn;
  expect(messages()).toEqual(['{"outcome":{"outcome":"cancelled"}}']);
  expect(agent.answer(first.questionId, { text: 'Once', optionId: null })).toBe(false);
  updates.length = 0;
  const again = agent.prompt(text('go'));
  const second = await next('question');
  expect(agent.answer(second.questionId, { text: 'once', optionId: null })).toBe(true);
  await again;
  expect(messages()).toEqual(['{"outcome":{"outcome":"selected","optionId":"now"}}']);
});

it('shows concurrent questions to the user one after another', async () => {
  const first = { ...permission, jsonrpc: '2.0', id: 'first', params: { ...permission.params } };
  first.params.toolCall = { toolCallId: 'u', title: 'ls' };
  const { agent, messages, next, updates } = await launchOpened(
    { 'session/prompt': [{ write: [JSON.stringify(first)] }, { ask: permission }, { write: [end] }] },
    { permission: 'ask' },
  );
  const turn = agent.prompt(text('go'));
  const one = await next('question');
  expect(one.text).toBe('May I run ls?');
  updates.length = 0;
  expect(agent.answer(one.questionId, { text: 'no', optionId: null })).toBe(true);
  expect(agent.answer(one.questionId, { text: 'no', optionId: null })).toBe(false);
  const two = await next('question');
  expect(two.text).toBe('May I run rm?');
  expect(agent.answer(two.questionId, { text: 'once', optionId: null })).toBe(true);
  await turn;
  expect(messages()).toEqual(['{"outcome":{"outcome":"selected","optionId":"now"}}']);
  const labels = updates.flatMap((each) => (each.type === 'permission' ? `${each.title} ${each.decision}` : each.type));
  const wanted = ['ls cancelled', 'question', 'rm allowed'];
  expect(labels.filter((each) => each !== 'toolCall' && each !== 'message')).toEqual(wanted);
});

it('cancels pending questions together with the open one', async () => {
  const first = JSON.stringify({ ...permission, jsonrpc: '2.0', id: 'first' });
  const { agent, messages, next, updates } = await launchOpened(
    { 'session/prompt': [{ write: [first] }, { ask: permission }, { write: [end] }] },
    { permission: 'ask' },
  );
  const turn = agent.prompt(text('go'));
  await next('question');
  await agent.cancel();
  await turn;
  expect(messages()).toEqual(['{"outcome":{"outcome":"cancelled"}}']);
  expect(updates.filter(({ type }) => type === 'question')).toHaveLength(1);
});

it.each([
  {
    schema: {
      n: { type: 'number' },
      pick: {
        type: 'string',
        oneOf: [
          { const: 'r', title: 'Red' },
          { const: 'b', title: 'Blue' },
        ],
      },
    },
    options: ['Red', 'Blue'],
    words: 'blue',
    content: { pick: 'b' },
  },
  { schema: { sure: { type: 'boolean' } }, options: [], words: 'Yes.', content: { sure: true } },
  {
    schema: { tags: { type: 'array', items: { type: 'string', enum: ['x', 'y'] } } },
    options: ['x', 'y'],
    words: '2',
    content: { tags: ['y'] },
  },
])('fills a form $schema from the user’s text', async ({ schema, options, words, content }) => {
  const params = {
    mode: 'form',
    sessionId: 's1',
    message: 'Which?',
    requestedSchema: { type: 'object', properties: schema },
  };
  const form = { ask: { method: 'elicitation/create', params } };
  const { agent, messages, next } = await launchOpened({ 'session/prompt': [form, { write: [end] }] });
  const turn = agent.prompt(text('go'));
  const question = await next('question');
  expect(question.options.map((option) => option.name)).toEqual(options);
  agent.answer(question.questionId, { text: words, optionId: null });
  await turn;
  expect(JSON.parse(messages()[0] ?? '')).toEqual({ action: 'accept', content });
});

it('answers an unknown request with an error, and continues', async () => {
  const ask = { ask: { method: 'craft/drainMidTurnQueue', params: {} } };
  const { agent, messages } = await launchOpened({ 'session/prompt': [ask, { write: [end] }] });
  await agent.prompt(text('go'));
  expect(messages()[0]).toContain('-32601');
});

it('skips a resume method that is advertised but does not work', async () => {
  const agentCapabilities = { sessionCapabilities: { resume: {} } };
  const { agent } = await launchScripted({
    initialize: [{ write: [{ result: { protocolVersion: 1, agentCapabilities } }] }],
    'session/resume': [{ write: [{ error: { code: -32_601, message: 'Method not found' } }] }],
  });
  await expect(agent.open('s0')).resolves.toEqual({ agentSessionId: 's1', how: 'new' });
});

it('names the cause next to an error', async () => {
  const error = { code: -32_603, message: 'Internal error', data: { details: '401 Unauthorized' } };
  const { agent } = await launchOpened({ 'session/prompt': [{ write: [{ error }] }] });
  const { message } = await crashOf(agent.prompt(text('go')));
  expect(message).toBe('The agent refused the message: Internal error (401 Unauthorized).');
});

it('refuses an agent of another version of the protocol', async () => {
  const { message } = await crashOf(launchScripted({ initialize: [{ write: [{ result: { protocolVersion: 2 } }] }] }));
  expect(message).toBe('The agent speaks version 2 of the Agent Client Protocol; version 1 was expected.');
});

it.each(['initialize', 'session/new'])('limits the wait for the response to %s', async (method) => {
  const script = { [method]: [{ write: ['…'] }] };
  const profile = method === 'initialize' ? { startTimeoutMs: 200 } : {};
  const silent = launchScripted(script, profile, { timeouts: { openMs: 200 } }).then(({ agent }) => agent.open(null));
  expect((await crashOf(silent)).message).toBe(
    method === 'initialize'
      ? 'The agent did not start within 0.2 s (start_timeout_ms).'
      : 'The agent did not answer "session/new" within 0.2 s.',
  );
});

it('waits longer while a tool runs', async () => {
  const tool = { update: { sessionUpdate: 'tool_call', toolCallId: 't', title: 'make', status: 'in_progress' } };
  const { agent } = await launchOpened({ 'session/prompt': [{ write: [tool] }] }, { inactivityMs: 200 });
  expect((await crashOf(agent.prompt(text('go')))).message).toBe('The agent sent nothing for 0.6 s.');
});

it('shows no secret in the report of a crash', async () => {
  const error = { code: -32_000, message: 'The key s3cr3t-key is wrong' };
  // Written a round trip before the failure: the two pipes of a process are read in no particular order.
  const initialized = { result: { protocolVersion: 1, agentCapabilities: {} } };
  const { agent } = await launchScripted(
    { initialize: [{ stderr: 'tried s3cr3t-key' }, { write: [initialized] }], 'session/new': [{ write: [{ error }] }] },
    {},
    { env: { KEY: 's3cr3t-key' } },
  );
  const { message, stderrTail } = await crashOf(agent.open(null));
  expect(message).toBe('The agent refused to open a session: The key ******** is wrong.');
  expect(stderrTail).toBe('tried ********');
});

it.each([
  { what: 'a variable that no process can have', value: 's3cr3t\0key', cause: 'holds a NUL character' },
  { what: 'a variable that is too long', value: 's3cr3t'.repeat(100_000), cause: 'longer than this system allows' },
])('reports a failed start with $what, without its value', async ({ value, cause }) => {
  const error = await crashOf(launchScripted({}, {}, { env: { KEY: value } }));
  expect(error.message).toContain(cause);
  expect(error.message).not.toContain('s3cr3t');
});

it('also stops processes that the agent started in a separate session', async () => {
  const { agent, messages } = await launchOpened({ 'session/prompt': [{ spawn: 'escaped' }, { write: [end] }] });
  await agent.prompt(text('go'));
  const pid = Number(messages()[0]);
  expect(processStart(pid)).not.toBeNull();
  await agent.stop();
  expect(processStart(pid)).toBeNull();
});

it('kills a command that outlives its stopped turn, and none of its helpers', async () => {
  const call = { toolCallId: 'c', title: 'Build', kind: 'execute' };
  const report = (sessionUpdate: string, status: string) => ({ update: { sessionUpdate, ...call, status } });
  const { agent, messages, next, updates } = await launchOpened({
    'session/prompt': [
      { spawn: 'helper' },
      { write: [report('tool_call', 'in_progress')] },
      { spawn: 'escaped' },
      { wait: 'cancel' },
      { write: [{ result: { stopReason: 'cancelled' } }, report('tool_call_update', 'failed')] },
    ],
  });
  const turn = agent.prompt(text('go'));
  await next('toolCall');
  await expect.poll(() => messages().length).toBe(2);
  const [helper, command] = messages().map(Number);
  await agent.stopTurn();
  await expect(turn).resolves.toEqual({ stopReason: 'cancelled' });
  await expect.poll(() => processStart(command as number)).toBeNull();
  expect(processStart(helper as number)).not.toBeNull();
  await expect.poll(() => updates.at(-1)).toMatchObject({ status: 'failed', isCancelled: true });
});

const escaping = 'cd / && env -i setsid sleep 1000';
it.each([
  { what: 'its child processes', how: 'stop', words: `${escaping}; exit` },
  {
    what: 'a detached process in its workspace without its environment',
    how: 'stop',
    words: 'env -i setsid sleep 1000 & exit',
  },
  { what: 'its child processes when it is killed', how: 'kill', words: `(${escaping}) & (${escaping}); exit` },
] as const)('also stops $what', async ({ how, words }) => {
  const program = `const { spawn } = require('node:child_process');
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method } = JSON.parse(line);
      const put = (result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
      if (method === 'initialize') put({ protocolVersion: 1 });
      if (method === 'session/new') put({ sessionId: 's' });
      if (method === 'session/prompt') spawn('sh', ['-c', ${JSON.stringify(words)}], { stdio: 'ignore' }).on('spawn', () =>
        setTimeout(() => put({ stopReason: 'end_turn' }), 300));
    });`;
  const { agent, pid: agentPid, workspaceDir } = await launchAgent({ command: [process.execPath, '-e', program] });
  await agent.open(null);
  await agent.prompt(text('go'));
  const inside = findInDirectories([workspaceDir], '0').filter(({ pid }) => pid !== agentPid);
  const started = [...inside, ...descendantsOf(agentPid)];
  expect(started.length).toBeGreaterThan(0);
  await agent[how]();
  for (const { pid } of started) expect(processStart(pid)).toBeNull();
});
