import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { slowReaderMs } from '../../http/abortable-body.ts';

/**
 * The maximum number of bytes buffered for a client that does not read, before the service stops reading from it too.
 */
const maxBufferedBytes = 1_024 * 1_024;

/** The close of a socket whose client does not read: it may reconnect and resume after its last cursor. */
export const slowReaderClose = { code: 1013, reason: 'Messages are not read' } as const;

const nothing = Buffer.alloc(0);
const asText = { binary: false } as const;

/** A sender that waits until its message has been sent. */
export interface Sender {
  resume(): void;
}

/** The sending side of a socket, with bounded memory. */
export interface PacedSocket {
  /**
   * Resolves when the message has been sent or the socket has closed, so that a sender that waits is no faster than the
   * reader.
   */
  send(message: string): Promise<void>;
  /**
   * Sends the bytes of a text message, which many sockets may share. True: it has been sent, with all before it. False: the
   * sender's `resume` is called when it has been sent; never, if the socket is closing.
   */
  sendReady(message: Buffer, sender: Sender): boolean;
  /** Call when the socket has closed. */
  stop(): void;
}

/**
 * Sends at the pace of the client. While more than 1 MiB is buffered, nothing is read from the client either, so that
 * it cannot cause more output. If none of the buffered data is sent for {@link slowReaderMs}, the socket is closed.
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
    // The close frame waits behind the buffered data: a client that resumes reading in time still gets the reason.
    timer = setTimeout(() => socket.terminate(), closeMs).unref();
  };
  const taken = (resolve: () => void) => () => {
    waiting -= 1;
    if (socket.readyState === socket.OPEN) {
      stop();
      if (waiting > 0) timer = setTimeout(giveUp, slowReaderMs).unref();
    }
    // Also for a closing socket: the client's reply to the close ends it.
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
      // Checked directly: a callback for each message would cost more than a tenth of its delivery.
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
