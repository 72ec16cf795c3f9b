import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Limits of {@link limitConnections}. */
export interface ConnectionLimits {
  /** Connections that are open at once, WebSockets and event streams included. */
  readonly maxConnections: number;
  /** The same from one address (of IPv6: one /64); null: no limit, as behind a proxy, from which all connections come. */
  readonly maxConnectionsPerAddress: number | null;
}

/** How long a refused client may take to read its answer. */
const refusalMs = 1_000;

const said = 'The service has too many open connections. Wait and try again.\n';
const refusal = [
  'HTTP/1.1 503 Service Unavailable',
  'Content-Type: text/plain; charset=utf-8',
  `Content-Length: ${said.length}`,
  'Retry-After: 5',
  'Connection: close',
  '',
  said,
].join('\r\n');

/**
 * Refuses connections beyond the limits with 503, before anything is read of them. `networkOf` maps an address to the network
 * whose connections are counted together. Call it before the server listens.
 */
export function limitConnections(
  server: Server,
  limits: ConnectionLimits,
  networkOf: (address: string) => string,
): void {
  const accept = server.listeners('connection');
  const open = new Set<Socket>();
  const byNetwork = new Map<string, number>();
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    // A connection may be handed to the server again, when an upgrade is ignored.
    if (!open.has(socket)) {
      const network = networkOf(socket.remoteAddress ?? '');
      const count = byNetwork.get(network) ?? 0;
      const { maxConnections, maxConnectionsPerAddress: maxCount } = limits;
      if (open.size >= maxConnections || (maxCount !== null && count >= maxCount)) {
        refuse(socket);
        return;
      }
      open.add(socket);
      byNetwork.set(network, count + 1);
      socket.once('close', () => {
        open.delete(socket);
        const left = (byNetwork.get(network) ?? 1) - 1;
        if (left > 0) byNetwork.set(network, left);
        else byNetwork.delete(network);
      });
    }
    for (const listener of accept) listener.call(server, socket);
  });
}

function refuse(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), refusalMs).unref();
  socket.once('close', () => clearTimeout(timer));
  socket.on('error', () => socket.destroy());
  // What it sends is not read as a request, but unread data would reset the connection before the answer arrives.
  socket.resume();
  socket.end(refusal);
}
