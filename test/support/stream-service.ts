import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { Service } from '../../src/agents/sandbox/driver.ts';

/** A service whose connections are streams of bytes. Closing it ends them. */
export function streamService(onConnection: (socket: Socket) => void): Service {
  return {
    name: 'stream',
    protocol: 'stream',
    async listen(socketPath) {
      const sockets = new Set<Socket>();
      const server: Server = createServer((socket) => {
        sockets.add(socket.on('error', () => socket.destroy()));
        onConnection(socket);
      }).listen(socketPath);
      await once(server, 'listening');
      return {
        port: null,
        async close() {
          for (const socket of sockets) socket.destroy();
          server.close();
        },
      };
    },
  };
}
