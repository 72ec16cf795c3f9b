import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The responses on each connection that wait for an earlier one. */
const queues = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * Emits `close` for a response whose connection closes while an earlier response on it is not complete. Node emits it
 * only for the response that is being written, so the streams of pipelined requests would stay open forever.
 */
export function closeWithConnection(outgoing: ServerResponse): void {
  // It has its connection already: Node emits the event.
  if (outgoing.socket !== null) return;
  const { socket } = outgoing.req;
  let queue = queues.get(socket);
  if (queue === undefined) {
    queue = new Set();
    queues.set(socket, queue);
    // One listener for a connection, which may have any number of requests.
    socket.once('close', closeQueued);
  }
  queue.add(outgoing);
  outgoing.once('socket', leaveQueue);
}

function leaveQueue(this: ServerResponse): void {
  queues.get(this.req.socket)?.delete(this);
}

function closeQueued(this: Socket): void {
  for (const outgoing of queues.get(this) ?? []) {
    if (outgoing.closed) continue;
    outgoing.destroy();
    outgoing.emit('close');
  }
  queues.delete(this);
}
