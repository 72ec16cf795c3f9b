import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { slowReaderMs } from '../../http/abortable-response.ts';

/** What a socket may hold for a client that does not take it, before what the client sends is left unread too. */
const maxBufferedBytes = 1_024 * 1_024;

/** How a socket is closed whose client does not read: it may connect again, and go on after its last cursor. */
export const slowReaderClose = { code: 1013, reason: 'Messages are not read' } as const;

const nothing = Buffer.alloc(0);
const asText = { binary: false } as const;

/** Who waits until what it sent has been taken. */
export interface Sender {
  resume(): void;
}

/** The sending side of a socket, with bounded memory. */
export interface PacedSocket {
  /** Resolves when the message has gone to the network, or the socket has ended: who waits for it sends no faster than it is read. */
  send(message: string): Promise<void>;
  /**
   * Sends the bytes of a text message, which many sockets may share. True: it has gone, with all before it. False: the
   * sender's `resume` is called when it has; never, if the socket is closing.
   */
  sendReady(message: Buffer, sender: Sender): boolean;
  /** To be called when the socket has closed. */
  stop(): void;
}

/**
 * Sends at the pace of the client. While more than 1 MiB waits for it, nothing is read from it either, so that it cannot
 * make us write more; and when nothing of what waits is taken for {@link slowReaderMs}, its socket is closed.
 */
export function paceSocket(socket: WebSocket, connection: Duplex, closeMs: number, onGiveUp: () => void): PacedSocket {
  let waiting = 0;
  let timer: NodeJS.Timeout | null = null;
  const stop = () => {
    if (timer) clearTimeout(timer);
    timer = null;
  };
  const giveUp = () => {
    socket.close(slowReaderClose.code, slowReaderClose.reason);
    onGiveUp();
    // The frame that says so waits behind the rest: whoever reads again in time still gets to know why.
    timer = setTimeout(() => socket.terminate(), closeMs).unref();
  };
  const taken = (resolve: () => void) => () => {
    waiting -= 1;
    if (socket.readyState === socket.OPEN) {
      stop();
      if (waiting > 0) timer = setTimeout(giveUp, slowReaderMs).unref();
    }
    // Also of one that is told to go: what it says to that ends it.
    if (socket.isPaused && socket.bufferedAmount <= maxBufferedBytes) socket.resume();
    resolve();
  };
  const wait = () => {
    waiting += 1;
    timer ??= setTimeout(giveUp, slowReaderMs).unref();
  };
  return {
    send(message) {
      if (socket.readyState !== socket.OPEN) return Promise.resolve();
      wait();
      return new Promise((resolve) => {
        socket.send(message, taken(resolve));
        if (socket.bufferedAmount > maxBufferedBytes) socket.pause();
      });
    },
    sendReady(message, sender) {
      if (socket.readyState !== socket.OPEN) return false;
      socket.send(message, asText);
      // Known at once: a callback of each message would cost more than a tenth of its delivery.
      if (socket.bufferedAmount === 0) return true;
      wait();
      connection.write(
        nothing,
        taken(() => sender.resume()),
      );
      if (socket.bufferedAmount > maxBufferedBytes) socket.pause();
      return false;
    },
    stop,
  };
}
