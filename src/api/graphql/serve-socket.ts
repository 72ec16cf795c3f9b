import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import { CloseCode, type Server } from 'graphql-ws';
import type { WebSocket } from 'ws';
import { nestsDeeper } from '../../common/json-depth.ts';
import type { Log } from '../../domain/context.ts';
import { createOperationIds, type OperationIds } from './operation-ids.ts';
import type { Pings } from './pings.ts';
import { type PacedSocket, paceSocket, slowReaderClose } from './slow-reader.ts';

/** The data of a socket that graphql-ws passes on. */
export interface SocketExtra {
  readonly socket: WebSocket;
  /** The underlying TCP connection. */
  readonly connection: Duplex;
  /** Sends messages that were encoded once for many sockets. */
  readyMessages: (Pick<PacedSocket, 'sendReady'> & Pick<OperationIds, 'nextTo'>) | null;
  /** The headers of the upgrade, until the caller is known. */
  headers: IncomingHttpHeaders;
  /** The caller's network address. */
  readonly address: string | null;
  /** The ids of the open operations. An operation counts from its request until its end. */
  readonly open: Set<string>;
  /** Releases the socket's slot and the watch on its key. Safe to call twice. */
  leave: (() => void) | null;
}

/**
 * Connects a socket to graphql-ws like its own `useServer`. In addition, a client that disconnects is not an error, and
 * internal errors go to the log and not to the client.
 */
export function serveSocket(
  server: Server<SocketExtra>,
  extra: SocketExtra,
  options: { readonly pings: Pings; readonly closeMs: number; readonly log: Pick<Log, 'debug' | 'error'> },
): void {
  const { socket, open } = extra;
  const { log } = options;
  const ids = createOperationIds((id) => open.delete(id));
  // For example a frame that is too large: ws has then closed the socket with the matching code.
  socket.on('error', (error) => log.debug({ err: error }, 'A WebSocket failed.'));
  const stopPings = options.pings.watch(socket);
  const fail = (error: unknown) => {
    log.error({ err: error }, 'A message on a WebSocket could not be handled.');
    socket.close(CloseCode.InternalServerError, 'Unexpected error.');
  };
  const paced = paceSocket(socket, extra.connection, options.closeMs, () => {
    extra.leave?.();
    closed(slowReaderClose.code, slowReaderClose.reason).catch(fail);
  });
  extra.readyMessages = { sendReady: paced.sendReady, nextTo: ids.nextTo };
  const closed = server.opened(
    {
      protocol: socket.protocol,
      // A closing socket accepts no messages and reports nothing: its "close" event ends its operations.
      send: async (text) => {
        const message = ids.toClient(text);
        if (message !== null) await paced.send(message);
      },
      close: (code, reason) => socket.close(code, ids.reasonToClient(reason)),
      onMessage: (take) => {
        socket.on('message', (data) => {
          const text = String(data);
          // Computed now, or each operation would keep the text of its message.
          const isBad = isServersOwn(text);
          take(ids.fromClient(text)).catch((error: unknown) => {
            // The response to any invalid message: graphql-ws would treat this one as an error of the service.
            if (isBad) socket.close(CloseCode.BadRequest, 'Invalid message received');
            else fail(error);
          });
        });
      },
    },
    extra,
  );
  socket.once('close', (code, reason) => {
    stopPings();
    extra.leave?.();
    paced.stop();
    closed(code, String(reason)).catch(fail);
  });
}

/** The message types that only a server sends. */
const serversOwn: readonly unknown[] = ['connection_ack', 'next', 'error'];

function isServersOwn(text: string): boolean {
  if (!/"(?:connection_ack|next|error)"|\\u/.test(text) || nestsDeeper(text)) return false;
  try {
    return serversOwn.includes((JSON.parse(text) as { type?: unknown } | null)?.type);
  } catch {
    return false;
  }
}
