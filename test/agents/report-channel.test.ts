import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { serveTools } from '../../src/agents/reporting/serve-tools.ts';
import { makeDirs } from '../support/agents.ts';

interface Answer {
  id: number | string;
  result?: { content: { text: string }[]; isError: boolean };
}

async function open(call: (name: string) => Promise<{ text: string }>) {
  const path = join(makeDirs().runtimeDir, 's');
  const server = await serveTools(path, { tools: [], call });
  const socket: Socket = connect(path);
  onTestFinished(async () => {
    socket.destroy();
    await server.close();
  });
  await once(socket, 'connect');
  const answers: Answer[] = [];
  const put = (text: string) => socket.write(`${text}\n`);
  const send = (message: object) => put(JSON.stringify({ jsonrpc: '2.0', ...message }));
  const listen = () =>
    createInterface({ input: socket }).on('line', (line) => answers.push(JSON.parse(line) as Answer));
  return { socket, answers, put, send, listen };
}
const callOf = (id: number, args: object = {}) => ({
  id,
  method: 'tools/call',
  params: { name: 't', arguments: args },
});
const tooLarge = 'The call is too large: it may take at most 640 KB, and have at most 1000 arguments.';

it.each([
  {
    where: 'first',
    line: `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","arguments":{"a":"ARGS"}}}`,
  },
  {
    where: 'last',
    line: `{"method":"tools/call","params":{"name":"t","arguments":{"a":"ARGS"}},"jsonrpc":"2.0","id":7}`,
  },
])('refuses a call that is too long by its id, which is $where, and accepts the next', async ({ line }) => {
  const { answers, put, send, listen } = await open(async () => ({ text: 'done' }));
  listen();
  put(line.replace('ARGS', 'x"id":3,'.replaceAll('"', '\\"').repeat(100_000)));
  send(callOf(8));
  await expect.poll(() => answers).toHaveLength(2);
  expect(answers[0]).toMatchObject({ id: 7, result: { content: [{ text: tooLarge }], isError: true } });
  expect(answers[1]).toMatchObject({ id: 8, result: { content: [{ text: 'done' }] } });
});

it('closes the connection for a call without a recognizable id', async () => {
  const { socket, put, listen } = await open(async () => ({ text: 'done' }));
  listen();
  put(`{"a":"${'x'.repeat(800_000)}","id":1,"b":{}}`);
  await once(socket, 'close');
});

it('handles at most sixteen calls, each id once, and continues when one is answered', async () => {
  const waiting: (() => void)[] = [];
  const { answers, send, listen } = await open(
    () => new Promise((resolve) => waiting.push(() => resolve({ text: 'done' }))),
  );
  listen();
  for (let id = 1; id <= 40; id++) {
    send(callOf(id));
    send(callOf(id));
  }
  await expect.poll(() => waiting.length).toBe(16);
  for (let n = 0; n < 16; n++) waiting[n]?.();
  await expect.poll(() => waiting.length).toBeGreaterThanOrEqual(32);
  expect(answers.map(({ id }) => id)).toEqual(Array.from({ length: 16 }, (_, n) => n + 1));
});

it('reads no more calls while their responses are not read', async () => {
  let calls = 0;
  const { socket, answers, send, listen } = await open(async () => {
    calls++;
    return { text: 'x'.repeat(100_000) };
  });
  socket.pause();
  for (let id = 1; id <= 500; id++) send(callOf(id));
  await expect.poll(() => calls).toBeGreaterThan(1);
  const seen: number[] = [];
  const isStill = () => {
    seen.push(calls);
    return seen.at(-1) === seen.at(-4);
  };
  await expect.poll(isStill, { interval: 100 }).toBe(true);
  expect(calls).toBeLessThan(60);
  listen();
  await expect.poll(() => answers.length, { timeout: 60_000 }).toBe(500);
});
