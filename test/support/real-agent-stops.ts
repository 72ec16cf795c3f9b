import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'vitest';
import type { TestApp } from './app.ts';
import type { FakeLlm } from './fake-llm/fake-llm.ts';
import { followLive, LiveView, showUntil } from './live.ts';
import { runMutation } from './people.ts';
import { answerQuestion, type PendingQuestion, readPendingQuestion } from './questions.ts';
import { processesOf, type RealAgent } from './real-agents.ts';
import { readEvents, readMessages, waitUntilEnded } from './session-waits.ts';
import { createSession } from './sessions.ts';

/** A running app whose profiles have a model that follows the user's commands. */
export interface StopSetup {
  readonly test: TestApp;
  readonly llm: FakeLlm;
  readonly agent: RealAgent;
}

/** The maximum wait for an agent: it may have to start again. */
const patienceMs = 300_000;

/** The profile of an agent that asks before it runs a command. */
export const askingProfile = 'asking';

const stubborn = `trap '' TERM; touch stubborn; while :; do sleep 600; done`;
const wholeText = 'Grüße: a text that the user stops before its end. '.repeat(5).trim();

const send = async ({ test }: StopSetup, sessionId: string, body: string) => {
  const sent = await runMutation(test, 'sendMessage', 'message { seq }', { sessionId, body });
  expect(sent.userErrors).toEqual([]);
};

/** Resolves with the agent's request for the permission to run a command. */
async function ask(setup: StopSetup, sessionId: string, command: string): Promise<PendingQuestion> {
  await send(setup, sessionId, setup.agent.askingLine(command));
  const read = () => readPendingQuestion(setup.test, sessionId);
  await expect.poll(read, { timeout: patienceMs }).not.toBeNull();
  return (await read()) as PendingQuestion;
}

/** Stops the turn of this number and waits for its end. */
async function stop({ test }: StopSetup, sessionId: string, turn: number): Promise<void> {
  expect((await runMutation(test, 'interruptSession', 'session { status }', { sessionId })).userErrors).toEqual([]);
  const ends = async () => (await readEvents(test, sessionId)).filter(({ phase }) => phase === 'stopped');
  await expect.poll(ends).toHaveLength(turn);
  expect((await ends()).at(-1)).toMatchObject({ turn, stopReason: 'cancelled' });
  const open = (await readEvents(test, sessionId)).filter(({ toolStatus }) => toolStatus !== undefined).at(-1);
  expect(['completed', 'failed', undefined]).toContain(open?.toolStatus);
}

/**
 * Stops an agent in the middle of a text, then while it asks for a permission, then in a command that ignores SIGTERM.
 * All in one session, because agents start slowly.
 */
export async function stopEverywhere(setup: StopSetup): Promise<void> {
  const { test, agent } = setup;
  const first = `Greet everybody, please, ${agent.id}.`;
  const prompt = `${first}\ndo: say ${wholeText}\ndo: pause ${agent.id}`;
  const id = await createSession(test, { prompt, agent: askingProfile });
  const isHalfShown = ({ drafts }: LiveView) =>
    [...drafts.values()].some(({ text }) => text.length > wholeText.length / 2);
  const following = followLive(test, test.adminToken, id);
  const { drafts } = await showUntil(new LiveView(), following, isHalfShown);
  const shown = [...drafts.values()].at(-1)?.text as string;
  following.stop();
  await stop(setup, id, 1);
  const text = (await readMessages(test, id)).at(-1)?.replace('AGENT_MESSAGE: ', '') as string;
  expect(wholeText.slice(0, text.length)).toBe(text);
  expect(text.startsWith(shown)).toBe(true);

  const path = (file: string) => join(test.dataDir, 'sessions', id, 'ws', file);
  await ask(setup, id, 'touch never');
  await stop(setup, id, 2);
  expect(await readPendingQuestion(test, id)).toBeNull();

  const { questionId, options } = await ask(setup, id, stubborn);
  const { optionId } = options.find(({ kind }) => kind === 'ALLOW_ONCE') ?? {};
  expect((await answerQuestion(test, id, questionId, { optionId: `${optionId}` })).userErrors).toEqual([]);
  await expect.poll(() => existsSync(path('stubborn')), { timeout: patienceMs }).toBe(true);
  await stop(setup, id, 3);
  while (processesOf(id).some(({ command }) => command === 'sleep 600' || command.includes(stubborn))) {
    await setImmediate();
  }
  expect(existsSync(path('never'))).toBe(false);

  await send(setup, id, 'do: say It goes on.');
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).at(-1)).toBe('AGENT_MESSAGE: It goes on.');
  const call = setup.llm.calls.findLast(({ conversation }) => conversation.tools.length > 0);
  expect(call?.conversation.turns.map((turn) => turn.text).join('\n')).toContain(first);
}
