import type { WebSocket } from 'ws';

/** Asks clients now and then whether they are there. */
export interface Pings {
  /** Asks one from now on; gives what ends that. One that has not answered before it is to be asked again is cut off. */
  watch(socket: WebSocket): () => void;
}

/** Parts of a period, so that not all are asked at once; a timer of its own for each socket would cost memory. */
const parts = 12;

/** See {@link Pings}. A client that does not answer a ping before the next one is due has gone. */
export function createPings(everyMs: number): Pings {
  const circle = Array.from({ length: parts }, () => new Set<WebSocket>());
  const unanswered = new WeakSet<WebSocket>();
  let at = 0;
  let count = 0;
  let timer: NodeJS.Timeout | null = null;

  const pingSocket = (socket: WebSocket) => {
    // One that has not read what is there may be slow: it has a time-out of its own, as has one that is told to go.
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
