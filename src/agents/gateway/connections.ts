import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createSlicedStream } from './sliced-stream.ts';

/** Connections of one gateway. Other processes of the host may reach its port, so that not each is the agent's. */
export interface Connections {
  /** Notes that a request on the connection had the gateway's key. */
  trust(connection: Duplex): void;
  /** Notes that the present response is the connection's last one: nothing that it sends is read any more. */
  stop(connection: Duplex): void;
  /** True after {@link Connections.stop}. */
  isStopped(connection: Duplex): boolean;
}

/** Options of {@link watchConnections}. */
export interface ConnectionOptions {
  readonly maxConnections: number;
  /** Time for a new connection to send a request with the key. */
  readonly keyTimeoutMs: number;
  /** Called when a connection has closed. */
  onClose(connection: Duplex): void;
}

/** Bytes that are parsed at once, before and after a connection has shown the key: some forty of the shortest requests before. */
const sliceBytes = { untrusted: 1_024, trusted: 4_096 } as const;

/**
 * Lets a server that does not listen yet parse its connections in slices, and only until {@link Connections.stop}. Closes connections that show no key within `keyTimeoutMs`. One more than `maxConnections` closes the oldest connection
 * that has not shown the key; where all have, the new one itself.
 */
export function watchConnections(
  server: Server,
  { maxConnections, keyTimeoutMs, onClose }: ConnectionOptions,
): Connections {
  /** With their timers, in the order in which they came. */
  const untrusted = new Map<Duplex, NodeJS.Timeout>();
  const stopped = new WeakSet<Duplex>();
  let open = 0;
  const forget = (connection: Duplex) => {
    clearTimeout(untrusted.get(connection));
    untrusted.delete(connection);
  };
  const sizeFor = (connection: Duplex) => {
    if (stopped.has(connection) || connection.destroyed || connection.writableEnded) return 0;
    return untrusted.has(connection) ? sliceBytes.untrusted : sliceBytes.trusted;
  };
  const parse = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const connection = createSlicedStream(socket, () => sizeFor(connection));
    open += 1;
    connection.once('close', () => {
      open -= 1;
      forget(connection);
      onClose(connection);
    });
    const timer = setTimeout(() => connection.destroy(), keyTimeoutMs);
    untrusted.set(connection, timer);
    for (const each of parse) Reflect.apply(each, server, [connection]);
    if (open <= maxConnections) return;
    const [oldest = connection] = untrusted.keys();
    forget(oldest);
    oldest.destroy();
  });
  return {
    trust: forget,
    stop: (connection) => void stopped.add(connection),
    isStopped: (connection) => stopped.has(connection),
  };
}
