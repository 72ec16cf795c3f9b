import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createPostgresListener } from '../../../src/realtime/postgres-listener.ts';

/** The bytes with which a server accepts a client without a password and is ready for queries. */
const welcome = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

/** A server of the protocol that answers each connection with these bytes, and nothing after them; null: it closes it. */
async function startServer(answerTo: (connection: number) => Buffer | null) {
  const open = new Set<Socket>();
  let count = 0;
  const waiting: { count: number; resolve: () => void }[] = [];
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => open.delete(socket));
    socket.once('data', () => {
      const answer = answerTo(++count);
      if (answer === null) socket.destroy();
      else socket.write(answer);
      for (const each of waiting.filter((one) => one.count <= count)) each.resolve();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return {
    databaseUrl: `postgres://someone@127.0.0.1:${port}/db`,
    /** The number of connections so far. */
    count: () => count,
    /** Resolves when so many connections have sent something. */
    reached: (wanted: number) =>
      new Promise<void>((resolve) => {
        if (count >= wanted) resolve();
        else waiting.push({ count: wanted, resolve });
      }),
    /** Resolves when no connection is open. */
    async drained() {
      await Promise.all([...open].map((socket) => once(socket, 'close')));
    },
  };
}

type Server = Awaited<ReturnType<typeof startServer>>;

const listenTo = ({ databaseUrl }: Server) =>
  createPostgresListener({
    ...{ databaseUrl, channels: ['of_the_test'], applicationName: 'listener of a test' },
    onPayload: () => undefined,
    onListening: () => undefined,
    onError: () => undefined,
  });

it.each([
  ['the server has not answered the first connection', [Buffer.alloc(0)], 1],
  ['the server has not answered LISTEN', [welcome], 1],
  ['it connects again', [null, Buffer.alloc(0)], 2],
  ['it sends LISTEN again', [null, null, welcome], 3],
])('closes its connection when it stops while %s', async (_, answers, connections) => {
  const server = await startServer((connection) => answers[connection - 1] ?? null);
  const listener = listenTo(server);
  const started = listener.start();
  await server.reached(connections);
  await listener.stop();
  await started;
  await server.drained();
  expect(server.count()).toBe(connections);
});

it('opens no connection after it stopped between two attempts, or before it started', async () => {
  const server = await startServer(() => null);
  const listener = listenTo(server);
  await listener.start();
  await listener.stop();
  await listener.start();
  expect(server.count()).toBe(1);
});
