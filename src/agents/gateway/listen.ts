import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Connections, watchConnections } from './connections.ts';

/** Handles the requests of one agent. */
export interface AgentHandler {
  /** Answers a request. Never throws. */
  take(incoming: IncomingMessage, outgoing: ServerResponse, connections: Connections): void;
  /** Ends the requests of a connection that has closed, including those whose responses have not started. */
  leave(connection: Duplex): void;
  /** Refuses further requests, and ends those in progress. */
  close(): Promise<void>;
}

/** Options of {@link listenForAgent}. */
export interface ListenOptions {
  /** The unix socket to listen on; null: a free loopback port. */
  readonly socketPath: string | null;
  readonly maxConnections: number;
  /** The time that an agent may take to send a request. */
  readonly requestTimeoutMs: number;
  /** The time that a new connection may take to show the gateway's key, and each request to send its headers. */
  readonly keyTimeoutMs: number;
}

/** A server that accepts an agent's requests. */
export interface AgentServer {
  /** The loopback port; null: it listens on a socket. */
  readonly port: number | null;
  /** Ends the handler and all connections. Safe to call twice; never rejects. */
  close(): Promise<void>;
}

/** Accepts the requests of one agent. Rejects if it cannot listen. */
export async function listenForAgent(handler: AgentHandler, options: ListenOptions): Promise<AgentServer> {
  const { socketPath, maxConnections, requestTimeoutMs, keyTimeoutMs } = options;
  const headersTimeout = Math.min(keyTimeoutMs, requestTimeoutMs);
  const server = createServer({
    insecureHTTPParser: false,
    requestTimeout: requestTimeoutMs,
    headersTimeout,
    connectionsCheckingInterval: headersTimeout,
    // Otherwise Node would answer such a request itself, and continue to read.
    requireHostHeader: false,
  });
  const connections = watchConnections(server, { maxConnections, keyTimeoutMs, onClose: handler.leave });
  // An agent that waits for "100 Continue" sends no body with a refused request.
  for (const event of ['request', 'checkContinue', 'checkExpectation'])
    server.on(event, (incoming, outgoing) => handler.take(incoming, outgoing, connections));
  await listen(server, socketPath);
  const address = server.address();
  let closed: Promise<void> | null = null;
  const close = async () => {
    const ended = new Promise<void>((resolve) => server.close(() => resolve()));
    const counted = handler.close();
    server.closeAllConnections();
    await Promise.all([ended, counted]);
    if (socketPath !== null) await rm(socketPath, { force: true }).catch(() => undefined);
  };
  return {
    port: typeof address === 'string' ? null : ((address as AddressInfo | null)?.port ?? null),
    close() {
      closed ??= close();
      return closed;
    },
  };
}

function listen(server: Server, socketPath: string | null): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    if (socketPath === null) server.listen(0, '127.0.0.1', resolve);
    else server.listen(socketPath, resolve);
  });
}
