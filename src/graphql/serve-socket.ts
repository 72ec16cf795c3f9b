import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { CloseCode, type Server } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { Log } from '../domain/context.ts';
import { createOperationIds, type OperationIds } from './operation-ids.ts';
import { type PacedSocket, paceSocket, slowReaderClose } from './slow-reader.ts';

/** What graphql-ws knows of a socket. */
export interface SocketExtra {
  readonly socket: WebSocket;
  /** What the socket is made of. */
  readonly connection: Duplex;
  /** How frames are sent that were made for many. */
  frames: (Pick<PacedSocket, 'sendFrame'> & Pick<OperationIds, 'nextTo'>) | null;
  readonly request: IncomingMessage;
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
  options: { readonly keepAliveMs: number; readonly closeMs: number; readonly log: Pick<Log, 'debug' | 'error'> },
): void {
  const { socket, open } = extra;
  const { log } = options;
  const ids = createOperationIds((id) => open.delete(id));
  // Among others a frame that is too large: ws has closed the socket then, with the code that says so.
  socket.on('error', (error) => log.debug({ err: error }, 'A socket failed.'));
  const stopPings = startPings(socket, options.keepAliveMs);
  const fail = (error: unknown) => {
    log.error({ err: error }, 'A message on a socket could not be handled.');
    socket.close(CloseCode.InternalServerError, 'Unexpected error.');
  };
  const paced = paceSocket(socket, extra.connection, options.closeMs, () => {
    extra.leave?.();
    closed(slowReaderClose.code, slowReaderClose.reason).catch(fail);
  });
  extra.frames = { sendFrame: paced.sendFrame, nextTo: ids.nextTo };
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
          take(ids.fromClient(text)).catch((error: unknown) => {
            // As for any other message that a client cannot send: graphql-ws takes this one for a mistake of the service.
            if (isServersOwn(text)) socket.close(CloseCode.BadRequest, 'Invalid message received');
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
  try {
    return serversOwn.includes((JSON.parse(text) as { type?: unknown } | null)?.type);
  } catch {
    return false;
  }
}

/** A client that does not answer a ping before the next one is due has gone; one that has not read it yet may be slow. */
function startPings(socket: WebSocket, everyMs: number): () => void {
  let isAnswered = true;
  socket.on('pong', () => {
    isAnswered = true;
  });
  const timer = setInterval(() => {
    // A slow reader, or one that is told to go, has a time-out of its own.
    if (socket.bufferedAmount > 0 || socket.readyState !== socket.OPEN) return;
    if (!isAnswered) return socket.terminate();
    isAnswered = false;
    socket.ping();
  }, everyMs);
  return () => clearInterval(timer);
}
