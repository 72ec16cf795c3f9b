import type { WebSocket } from 'ws';

/** Pings clients periodically to detect lost connections. */
export interface Pings {
  /**
   * Starts to ping a socket; returns a function that stops it. A client that has not answered before the next ping is
   * disconnected.
   */
  watch(socket: WebSocket): () => void;
}

/**
 * The period is divided into parts, so that not all sockets are pinged at once; a timer per socket would cost memory.
 */
const parts = 12;

/** Creates {@link Pings}. A client that does not answer a ping before the next one is considered lost. */
export function createPings(everyMs: number): Pings {
  const circle = Array.from({ length: parts }, () => new Set<WebSocket>());
  const unanswered = new WeakSet<WebSocket>();
  let at = 0;
  let count = 0;
  let timer: NodeJS.Timeout | null = null;

  const pingSocket = (socket: WebSocket) => {
    // A client with unread data may just be slow: it has a timeout of its own, and so has a socket that is closing.
    if (socket.bufferedAmount > 0 || socket.readyState !== socket.OPEN) return;
    if (unanswered.has(socket)) return socket.terminate();
    unanswered.add(socket);
    socket.ping();
  };
  const turn = () => {
    at = (at + 1) % parts;
    for (const socket of circle[at] ?? []) pingSocket(socket);
  };
  function answered(this: WebSocket) {
    unanswered.delete(this);
  }

  return {
    watch(socket) {
      const part = circle[at] as Set<WebSocket>;
      part.add(socket);
      count += 1;
      timer ??= setInterval(turn, everyMs / parts).unref();
      socket.on('pong', answered);
      return () => {
        if (!part.delete(socket)) return;
        count -= 1;
        if (count > 0 || timer === null) return;
        clearInterval(timer);
        timer = null;
      };
    },
  };
}
