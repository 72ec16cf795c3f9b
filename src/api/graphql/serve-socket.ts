import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import { CloseCode, type Server } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { Log } from '../../domain/context.ts';
import { nestsDeeper } from '../../domain/json-depth.ts';
import { createOperationIds, type OperationIds } from './operation-ids.ts';
import type { Pings } from './pings.ts';
import { type PacedSocket, paceSocket, slowReaderClose } from './slow-reader.ts';

/** What graphql-ws knows of a socket. */
export interface SocketExtra {
  readonly socket: WebSocket;
  /** What the socket is made of. */
  readonly connection: Duplex;
  /** How messages are sent that were made for many. */
  readyMessages: (Pick<PacedSocket, 'sendReady'> & Pick<OperationIds, 'nextTo'>) | null;
  /** The headers of the upgrade, until who calls is known. */
  headers: IncomingHttpHeaders;
  /** The caller's network address. */
  readonly address: string | null;
  /** The ids of the operations that are open; an operation counts from when it is asked for until it has ended. */
  readonly open: Set<string>;
  /** Gives back what the socket has taken: its place among others, and the care for its key. Safe to call twice. */
  leave: (() => void) | null;
}

/**
 * Hands a socket to graphql-ws: what its own `useServer` does, but a client that breaks off is no news, and what goes
 * wrong inside goes to our log and not to the client.
 */
export function serveSocket(
  server: Server<SocketExtra>,
  extra: SocketExtra,
  options: { readonly pings: Pings; readonly closeMs: number; readonly log: Pick<Log, 'debug' | 'error'> },
): void {
  const { socket, open } = extra;
  const { log } = options;
  const ids = createOperationIds((id) => open.delete(id));
  // Among others a frame that is too large: ws has closed the socket then, with the code that says so.
  socket.on('error', (error) => log.debug({ err: error }, 'A socket failed.'));
  const stopPings = options.pings.watch(socket);
  const fail = (error: unknown) => {
    log.error({ err: error }, 'A message on a socket could not be handled.');
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
      // One that is on its way out takes no more, and says so to nobody: its "close" ends its operations.
      send: async (text) => {
        const message = ids.toClient(text);
        if (message !== null) await paced.send(message);
      },
      close: (code, reason) => socket.close(code, ids.reasonToClient(reason)),
      onMessage: (take) => {
        socket.on('message', (data) => {
          const text = String(data);
          // Looked at now, or each operation would keep the text of its message.
          const isBad = isServersOwn(text);
          take(ids.fromClient(text)).catch((error: unknown) => {
            // As for any other message that a client cannot send: graphql-ws takes this one for a mistake of the service.
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

/** The types of messages that only a server sends. */
const serversOwn: readonly unknown[] = ['connection_ack', 'next', 'error'];

function isServersOwn(text: string): boolean {
  if (!/"(?:connection_ack|next|error)"|\\u/.test(text) || nestsDeeper(text)) return false;
  try {
    return serversOwn.includes((JSON.parse(text) as { type?: unknown } | null)?.type);
  } catch {
    return false;
  }
}
