import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createSlicedStream } from './sliced-stream.ts';

/**
 * Connections of one gateway. Other processes of the host may reach its port, so a connection is not necessarily the
 * agent's.
 */
export interface Connections {
  /** Records that a request on the connection had the gateway's key. */
  trust(connection: Duplex): void;
  /** Records that the current response is the connection's last: nothing more is read from it. */
  stop(connection: Duplex): void;
  /** True after {@link Connections.stop}. */
  isStopped(connection: Duplex): boolean;
}

/** Options of {@link watchConnections}. */
export interface ConnectionOptions {
  readonly maxConnections: number;
  /** The time for a new connection to send a request with the key. */
  readonly keyTimeoutMs: number;
  /** Called when a connection has closed. */
  onClose(connection: Duplex): void;
}

/**
 * The number of bytes parsed at once, before and after a connection has shown the key. Before, this is about forty of
 * the shortest requests.
 */
const sliceBytes = { untrusted: 1_024, trusted: 4_096 } as const;

/**
 * Makes a server, which does not listen yet, parse its connections in slices, and only until {@link Connections.stop}.
 * Closes connections that show no key within `keyTimeoutMs`. When there are more than `maxConnections`, closes the
 * oldest connection that has not shown the key; if all have, the new one.
 */
export function watchConnections(
  server: Server,
  { maxConnections, keyTimeoutMs, onClose }: ConnectionOptions,
): Connections {
  /** Connections with their timers, in order of arrival. */
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
