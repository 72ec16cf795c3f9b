import { createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Runs on a connection when its first data arrives. */
export type Misbehavior = (socket: Socket) => void;

/** Starts a server that misbehaves on each connection until the test ends; counts its connections. */
export async function startMisbehavingServer(
  misbehave: Misbehavior,
): Promise<{ url: string; connections: () => number }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('data', () => misbehave(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('It does not listen.');
  return { url: `http://127.0.0.1:${address.port}/`, connections: () => sockets.size };
}
