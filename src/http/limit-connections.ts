import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { closeWith, closingResponse } from './close-with.ts';

/** Limits of {@link limitConnections}. */
export interface ConnectionLimits {
  /** Connections that are open at once, WebSockets and event streams included. */
  readonly maxConnections: number;
  /** The same from one address (of IPv6: one /64); null: no limit, as behind a proxy, from which all connections come. */
  readonly maxConnectionsPerAddress: number | null;
}

const refusal = closingResponse(
  '503 Service Unavailable',
  'The service has too many open connections. Wait and try again.',
  ['Retry-After: 5'],
);

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
        closeWith(socket, refusal);
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
