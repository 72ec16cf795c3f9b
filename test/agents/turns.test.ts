import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { processStart } from '../../src/agents/sandbox/process-identity.ts';
import { crashOf, launchAgent, launchOpened, launchScripted, makeDirs, text } from '../support/agents.ts';
import type { Script } from '../support/scripted-agent.ts';

const end = { result: { stopReason: 'end_turn' } };
const cancelled = { write: [{ result: { stopReason: 'cancelled' } }] };
const chunk = (text: string, messageId = '1') => ({
  update: { sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text: text } },
});

it('reports the text so far when the agent pauses inside a message, and the rest later', async () => {
  const script: Script = {
    'session/prompt': [
      { write: [chunk('half '), chunk('a word')] },
      { wait: 'cancel' },
      { write: [chunk(', the rest'), chunk('b', '2'), end] },
    ],
  };
  const { agent, updates, next } = await launchOpened(script, {}, { timeouts: { quietMs: 300 } });
  const turn = agent.prompt(text('go'));
  await expect(next('message')).resolves.toEqual({ type: 'message', text: 'half a word' });
  void agent.cancel();
  await turn;
  expect(updates).toEqual([
    { type: 'message', text: 'half a word' },
    { type: 'message', text: ', the rest', isMore: true },
    { type: 'message', text: 'b' },
  ]);
});

it('does not split a message whose rest waits until the service continues to read', async () => {
  const numbers = Array.from({ length: 40 }, (_, n) => `${n}`);
  const write = [...numbers.flatMap((n) => [chunk(n, n), chunk(' in one', n)]), end];
  // Longer than the pause after which the text so far is reported.
  const updateDelay = delay(1_000);
  const { agent, messages } = await launchOpened(
    { 'session/prompt': [{ write }] },
    {},
    { gate: updateDelay, timeouts: { quietMs: 300 } },
  );
  await agent.prompt(text('go'));
  expect(messages()).toEqual(numbers.map((n) => `${n} in one`));
});

it('does not split at a pause where that is not allowed', async () => {
  const prompt = [{ write: [chunk('the key is s3c')] }, { wait: 'cancel' as const }, { write: [chunk('r3t'), end] }];
  const safeLength = (words: string) => (words.endsWith('s3c') ? words.length - 3 : words.length);
  const { agent, messages, next } = await launchScripted(
    { 'session/prompt': prompt },
    {},
    { safeLength, timeouts: { quietMs: 300 } },
  );
  await agent.open(null);
  const turn = agent.prompt(text('go'));
  await next('message');
  void agent.cancel();
  await turn;
  expect(messages()).toEqual(['the key is ', 's3cr3t']);
});

it('cancels an agent that hangs before it stops it, and ignores its later response', async () => {
  const { agent, messages } = await launchOpened(
    { 'session/prompt': [{ wait: 'cancel' }, { write: [chunk('I was told to stop')] }, cancelled] },
    { inactivityMs: 200 },
  );
  expect((await crashOf(agent.prompt(text('go')))).message).toBe('The agent sent nothing for 0.2 s.');
  expect(messages()).toEqual(['I was told to stop']);
});

it('ends a turn after its maximum duration', async () => {
  const script: Script = { 'session/prompt': [{ wait: 'cancel' }, cancelled] };
  const { agent } = await launchOpened(script, { maxTurnMs: 200 });
  await expect(agent.prompt(text('go'))).resolves.toEqual({ stopReason: 'max_turn_time' });
});

it('stops an agent that does not end such a turn after a cancellation', async () => {
  const graces = { cancelMs: 200, stdinMs: 200, termMs: 200, interruptMs: 200 };
  const { agent } = await launchOpened({ 'session/prompt': [] }, { maxTurnMs: 200, stopGraces: graces });
  const { message } = await crashOf(agent.prompt(text('go')));
  expect(message).toBe('The agent did not end its turn after 0.2 s, when it was told to.');
});

it('waits for the last output of an agent that is stopped, and closes its session', async () => {
  const agentCapabilities = { sessionCapabilities: { close: {} } };
  const { agent, messages } = await launchOpened({
    initialize: [{ write: [{ result: { protocolVersion: 1, agentCapabilities } }] }],
    'session/prompt': [{ wait: 'cancel' }, { write: [chunk('saved')] }, cancelled],
    'session/close': [{ write: [chunk('closed', '2'), { result: {} }] }],
  });
  const turn = agent.prompt(text('go'));
  await agent.stop();
  await expect(turn).resolves.toEqual({ stopReason: 'cancelled' });
  expect(messages()).toEqual(['saved']);
});

it('kills at once, also during a stop', async () => {
  const graces = { cancelMs: 600_000, stdinMs: 600_000, termMs: 600_000, interruptMs: 600_000 };
  const { agent, pid } = await launchAgent({ stopGraces: graces });
  await agent.open(null);
  const turn = crashOf(agent.prompt(text('hang')));
  const stopped = agent.stop();
  await agent.kill();
  await stopped;
  await turn;
  expect(processStart(pid)).toBeNull();
});

it.each([
  { error: { code: -32_000, message: 'Authentication required' } },
  { error: { code: 401, message: 'nope' } },
  { error: { code: -32_603, message: 'Internal error', data: { details: '403 Forbidden' } } },
  { error: { code: -32_603, message: 'Incorrect API key provided' } },
])('recognizes $error.message ($error.code) as a refused login', async ({ error }) => {
  const { agent } = await launchOpened({ 'session/prompt': [{ write: [{ error }] }] });
  expect(await crashOf(agent.prompt(text('go')))).toMatchObject({ reason: 'login' });
});

it.each([
  { error: { code: 400, message: 'nope' }, reason: 'request' },
  { error: { code: -32_603, message: 'Internal error', data: { details: 'No such model' } }, reason: 'request' },
  { error: { code: -32_603, message: 'Internal error', data: { details: '422 Unprocessable' } }, reason: 'request' },
  { error: { code: -32_603, message: 'Bad request: 429 too many requests' }, reason: 'quota' },
  { error: { code: 429, message: 'Wait' }, reason: 'quota' },
  { error: { code: -32_603, message: 'Bad request: 503 overloaded' }, reason: 'crash' },
])('recognizes $error.message ($error.code) as a $reason', async ({ error, reason }) => {
  const { agent } = await launchOpened({ 'session/prompt': [{ write: [{ error }] }] });
  expect(await crashOf(agent.prompt(text('go')))).toMatchObject({ reason });
});

it('treats other errors as crashes', async () => {
  const error = { code: -32_603, message: 'The file 4010.txt of the API keyboard was not found' };
  const { agent } = await launchOpened({ 'session/prompt': [{ write: [{ error }] }] });
  expect(await crashOf(agent.prompt(text('go')))).toMatchObject({ reason: 'crash' });
});

it.each([['no-such-program-here'], ['/etc/passwd'], ['/bin/sh', '-c', 'exec no-such-program-here']])(
  'recognizes that %s can never be started',
  async (...command) => {
    expect(await crashOf(launchAgent({ command }))).toMatchObject({ reason: 'program' });
  },
);

it('sets the options of the session, and reports when the agent refuses one', async () => {
  const script = (answer: object): Script => ({ 'session/set_config_option': [{ write: [answer as never] }] });
  const config = { model: 'small' };
  const ok = await launchScripted(script({ result: { configOptions: [] } }), { config });
  await expect(ok.agent.open(null)).resolves.toMatchObject({ how: 'new' });
  const refused = await launchScripted(script({ error: { code: -32_602, message: 'no such option' } }), { config });
  expect(await crashOf(refused.agent.open(null))).toMatchObject({
    message:
      'The agent did not take the option "model": "small" of its profile’s "config". The agent refused "session/set_config_option": no such option.',
    reason: 'settings',
  });
});

it('does not retry a resume method that the agent advertises but does not have', async () => {
  const agentCapabilities = { loadSession: true, sessionCapabilities: { resume: {} } };
  const script: Script = {
    initialize: [
      { write: [{ result: { protocolVersion: 1, agentCapabilities, agentInfo: { name: 'a', version: '1' } } }] },
    ],
    'session/resume': [
      { stderr: 'asked to resume. ' },
      { write: [{ error: { code: -32_601, message: 'Method not found' } }] },
    ],
    'session/load': [
      { stderr: 'asked to load. ' },
      { write: [{ error: { code: -32_603, message: 'Internal error' } }] },
    ],
    'session/new': [{ write: [{ result: { sessionId: 's1' } }] }],
    'session/prompt': [{ exit: 3 }],
  };
  const dirs = makeDirs();
  const first = await launchScripted(script, {}, { dirs });
  const tailOf = async ({ agent }: typeof first) => {
    await expect(agent.open('s0')).resolves.toMatchObject({ how: 'new' });
    return (await crashOf(agent.prompt(text('go')))).stderrTail;
  };
  expect(await tailOf(first)).toBe('asked to resume. asked to load. ');
  // A failed load of one session does not affect others.
  expect(await tailOf(await launchScripted(script, {}, { dirs, agents: first.agents }))).toBe('asked to load. ');
});
