import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, startApp, type TestApp } from '../support/app.ts';
import { writeProfiles } from '../support/profiles.ts';
import { readCalls, readSession, sendMessage } from '../support/reports.ts';
import { readEvents, readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';

const megabyte = 1_048_576;
let test: TestApp;
beforeAll(async () => {
  const agentsConfig = await writeProfiles({ memory_mb: 100, warm_ttl_ms: 60_000, sandbox: { driver: 'none' } });
  const settings = { agentsConfig, maxConcurrentSessions: 4, maxToolOutputBytes: 50 * megabyte };
  test = await startApp({ roles: ['api', 'worker'], ...settings });
});
afterAll(() => test.close());

/** The latency of a session beside one that floods, and the maximum additional memory of the process. */
async function beside(flood: string, isFlooding: (id: string) => Promise<boolean>) {
  const quiet = await createSession(test, { prompt: 'say first' });
  await waitUntilEnded(test, quiet);
  const before = process.memoryUsage().rss;
  let maxRss = before;
  const timer = setInterval(() => {
    maxRss = Math.max(maxRss, process.memoryUsage().rss);
  }, 20);
  const flooding = await createSession(test, { prompt: flood });
  await expect.poll(() => isFlooding(flooding), { timeout: 60_000 }).toBe(true);
  let maxMs = 0;
  for (let n = 1; n <= 8; n++) {
    const startedAt = performance.now();
    await sendMessage(test, quiet, `say word ${n}`);
    await expect.poll(async () => (await readMessages(test, quiet)).at(-1), { timeout: 60_000 }).toContain(`word ${n}`);
    maxMs = Math.max(maxMs, performance.now() - startedAt);
  }
  clearInterval(timer);
  return { flooding, maxMs, grownMb: (maxRss - before) / megabyte };
}
const end = (id: string) => call(test, test.v1Key, 'DELETE', `/v1/sessions/${id}`);
const hasTools = async (id: string) => (await readEvents(test, id)).some(({ kind }) => kind === 'TOOL_CALL');

it('serves a session beside one that reports without end, and bounds the memory', async () => {
  const { flooding, maxMs, grownMb } = await beside('flood updates 1000000', hasTools);
  expect(maxMs).toBeLessThan(10_000);
  expect(grownMb).toBeLessThan(250);
  await end(flooding);
  await waitUntilEnded(test, flooding);
});

it('serves a session beside one that sends long messages without end', async () => {
  const lines = Array.from({ length: 100 }, () => 'flood line 12').join('\n');
  const { flooding, maxMs, grownMb } = await beside(lines, hasTools);
  expect(maxMs).toBeLessThan(10_000);
  expect(grownMb).toBeLessThan(500);
  await end(flooding);
  await waitUntilEnded(test, flooding);
});

it('serves a session beside one that calls tools without end and reads no response', async () => {
  const working = async (id: string) => (await readSession(test, id)).statusDetail === 'WORKING';
  const { flooding, maxMs, grownMb } = await beside('flood calls 1000000', working);
  expect(maxMs).toBeLessThan(10_000);
  expect(grownMb).toBeLessThan(250);
  await end(flooding);
  await waitUntilEnded(test, flooding);
});

it('answers the waiting calls up to the maximum of a turn', async () => {
  const id = await createSession(test, { prompt: 'flood calls 200\nmcp finish_session {"summary": "Done."}' });
  await waitUntilEnded(test, id);
  const messages = await readMessages(test, id);
  expect(messages).toContainEqual(expect.stringContaining('Sent calls: 200.'));
});

it('refuses a call that is too large by name, and accepts the next', async () => {
  const many = JSON.stringify(Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`a${n}`, n])));
  const prompt = `mcp finish_session ${many}\nmcp read_knowledge {"id": "x"}`;
  const id = await createSession(test, { prompt });
  await waitUntilEnded(test, id);
  const sentence = 'The call is too large: it may take at most 640 KB, and have at most 1000 arguments.';
  const calls = await readCalls(test, id);
  expect(calls[0]).toMatchObject({ toolStatus: 'failed', output: sentence });
});

it('ends a session whose agent sends a message that is too long, and gives the reason', async () => {
  const id = await createSession(test, { prompt: 'flood line 60' });
  await expect(waitUntilEnded(test, id)).resolves.toMatchObject({ status: 'ERROR' });
  const messages = await readMessages(test, id);
  expect(messages.at(-1)).toBe(
    'AGENT_MESSAGE: The session stopped with an error: The agent sent a message of more than 16 MB, which is the maximum. It would be likely to send that again. Ask for it in another way, or send a message to continue.',
  );
  await sendMessage(test, id, 'say again');
  await expect.poll(async () => (await readMessages(test, id)).at(-1), { timeout: 60_000 }).toContain('again');
});

it('writes the progress of a tool once a second, in order, and the complete output at the end', async () => {
  const id = await createSession(test, { prompt: 'flood output 150' });
  await waitUntilEnded(test, id);
  const calls = (await readEvents(test, id)).filter(({ kind }) => kind === 'TOOL_CALL');
  expect(calls.length).toBeGreaterThan(2);
  expect(calls.length).toBeLessThan(20);
  const lines = (output: string | null) => (output ?? '').split('\n').length;
  const counts = calls.map(({ output }) => lines(output));
  expect(counts).toEqual([...counts].sort((a, b) => a - b));
  expect(calls.at(-1)).toMatchObject({ toolStatus: 'completed', output: expect.stringContaining('line 149') });
});
