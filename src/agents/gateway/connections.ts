import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Connections of one gateway. Other processes of the host may reach its port, so that not each is the agent's. */
export interface Connections {
  /** Notes that a request on the connection had the gateway's key. */
  trust(socket: Socket): void;
}

/** Limits of {@link watchConnections}. */
export interface ConnectionLimits {
  readonly maxConnections: number;
  /** Time for a new connection to send a request with the key. */
  readonly keyTimeoutMs: number;
}

/**
 * Closes connections that show no key within `keyTimeoutMs`. One more than `maxConnections` closes the oldest connection
 * that has not shown the key; where all have, the new one itself.
 */
export function watchConnections(server: Server, { maxConnections, keyTimeoutMs }: ConnectionLimits): Connections {
  /** With their timers, in the order in which they came. */
  const untrusted = new Map<Socket, NodeJS.Timeout>();
  let open = 0;
  const forget = (socket: Socket) => {
    clearTimeout(untrusted.get(socket));
    untrusted.delete(socket);
  };
  server.on('connection', (socket: Socket) => {
    open += 1;
    socket.once('close', () => {
      open -= 1;
      forget(socket);
    });
    untrusted.set(
      socket,
      setTimeout(() => socket.destroy(), keyTimeoutMs),
    );
    if (open <= maxConnections) return;
    const [oldest = socket] = untrusted.keys();
    forget(oldest);
    oldest.destroy();
  });
  return { trust: forget };
}
