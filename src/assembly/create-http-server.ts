import { createServer, type Server } from 'node:http';
import type { createGraphql } from '../api/graphql/server.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../domain/context.ts';
import type { AccessEntry } from '../http/access-log.ts';
import { createPipeline } from '../http/create-pipeline.ts';
import { ignoreUpgrade } from '../http/ignore-upgrade.ts';
import { createInFlight } from '../http/in-flight.ts';
import { limitConnections } from '../http/limit-connections.ts';
import { headerLimit, refuseUnreadable } from '../http/refuse-unreadable.ts';
import type { Reply } from '../http/reply.ts';
import type { RequestView } from '../http/request-view.ts';
import { type RequestTimes, requireBodyRate, serverTimes } from '../http/slow-requests.ts';
import { connectionNetwork, createAddressOf } from './client-address.ts';

/** The handlers of an HTTP server, and what it needs besides the configuration. */
export interface HttpServerParts {
  readonly log: Log;
  readonly requestTimes: RequestTimes;
  /** Answers a request. */
  respond(request: RequestView): Promise<Reply>;
  /** Takes a WebSocket connection to `/graphql`. */
  readonly upgrade: ReturnType<typeof createGraphql>['upgrade'];
}

/** An HTTP server that does not listen yet, and the requests that it is answering. */
export interface HttpServer {
  readonly server: Server;
  readonly inFlight: ReturnType<typeof createInFlight>;
}

/** Creates the HTTP server of a process, with the limits of its connections, headers and bodies. */
export function createHttpServer(config: Config, parts: HttpServerParts): HttpServer {
  const { log, requestTimes, respond } = parts;
  const addressOf = createAddressOf(config.trustProxy);
  const logAccess = config.hasAccessLog ? (entry: AccessEntry) => log.info(entry, 'request') : null;
  const listener = createPipeline({ respond, corsOrigins: config.corsOrigins, addressOf, log, logAccess });
  const inFlight = createInFlight();
  const { keepAliveMs: keepAliveTimeout } = config;
  const serverOptions = { keepAliveTimeout, ...headerLimit, ...serverTimes(requestTimes) };
  const server = createServer(serverOptions, inFlight.wrap(listener));
  limitConnections(server, config, connectionNetwork);
  requireBodyRate(server, requestTimes);
  refuseUnreadable(server);
  server.on('upgrade', (request, socket, head) => {
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') return ignoreUpgrade(server, request, socket, head);
    // From here on the HTTP server no longer handles errors of this socket, and a client that disconnects must not end
    // the process.
    socket.on('error', () => socket.destroy());
    // Not parsed as a URL: the client may have sent an invalid one.
    const [pathname] = (request.url ?? '').split('?');
    if (pathname === '/graphql' && config.roles.includes('api')) {
      parts.upgrade(request, socket, head, addressOf(request));
      return;
    }
    socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  });
  return { server, inFlight };
}
