import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The maximum number of requests of one connection that wait for the responses to earlier ones. */
const maxQueued = 100;

/** The responses on each connection that wait for an earlier one. */
const queues = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * Answers pipelined requests one after another. Node would pass on all of them at once and keep their responses in memory:
 * one connection could hold gigabytes. Closes a connection on which more than 100 requests wait. If a connection closes,
 * its waiting requests are not answered, but emit `close`, as Node does only for the response that is being written.
 */
export function answerInTurn(listener: RequestListener): RequestListener {
  return (incoming, outgoing) => {
    // The connection belongs to a response from the moment when all earlier ones are complete.
    if (outgoing.socket !== null) return listener(incoming, outgoing);
    const { socket } = incoming;
    const queue = queues.get(socket) ?? startQueue(socket);
    queue.add(outgoing);
    outgoing.once('socket', () => {
      queue.delete(outgoing);
      listener(incoming, outgoing);
    });
    if (queue.size > maxQueued) socket.destroy();
  };
}

// One listener for a connection, which may have any number of requests.
function startQueue(socket: Socket): Set<ServerResponse> {
  const queue = new Set<ServerResponse>();
  queues.set(socket, queue);
  socket.once('close', () => {
    queues.delete(socket);
    for (const outgoing of queue) {
      if (outgoing.closed) continue;
      outgoing.destroy();
      outgoing.emit('close');
    }
  });
  return queue;
}
