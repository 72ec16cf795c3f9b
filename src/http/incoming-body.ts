import type { IncomingMessage } from 'node:http';
import { IncompleteBodyError } from './request-view.ts';

/** Reads the body of a request to Node's HTTP server as {@link RequestView.read} describes. */
export function readIncomingBody(
  incoming: IncomingMessage,
  onPart: (part: Uint8Array) => void | Promise<void>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let pending: Promise<void> = Promise.resolve();
    const stop = () => {
      incoming.off('data', take).off('end', end).off('error', onInterrupted).off('close', onClose);
    };
    const fail = (error: unknown) => {
      stop();
      incoming.pause();
      reject(error);
    };
    const take = (part: Uint8Array) => {
      try {
        const waiting = onPart(part);
        if (!(waiting instanceof Promise)) return;
        incoming.pause();
        pending = waiting.then(() => void incoming.resume());
        pending.catch(fail);
      } catch (error) {
        fail(error);
      }
    };
    const end = () => {
      stop();
      pending.then(resolve, reject);
    };
    // A client may disconnect right after its request: then the body is complete, and its rest is in Node's buffer.
    const onInterrupted = (cause: Error) => {
      if (!incoming.complete) return fail(new IncompleteBodyError(cause));
      stop();
      readBuffered(incoming, onPart, pending).then(resolve, reject);
    };
    const onClose = () => onInterrupted(new Error('The connection ended within the body.'));
    incoming.on('data', take);
    incoming.on('end', end);
    incoming.on('error', onInterrupted);
    incoming.on('close', onClose);
    // In these cases no further event follows.
    if (incoming.readableEnded) end();
    else if (incoming.destroyed) onClose();
  });
}

async function readBuffered(
  incoming: IncomingMessage,
  onPart: (part: Uint8Array) => void | Promise<void>,
  pending: Promise<void>,
): Promise<void> {
  await pending;
  for (let part = incoming.read(); part !== null; part = incoming.read()) await onPart(part);
}

/** The time for the rest of a body after its response, in ms. */
const drainMs = 500;
const maxDrainedBytes = 64 * 1_048_576;

/**
 * Reads and drops the rest of a body that its handler did not read, so that the connection can carry another request.
 * Closes the connection if the rest is long or slow.
 */
export function drainIncomingBody(incoming: IncomingMessage): void {
  if (incoming.readableEnded || incoming.destroyed) return;
  let bytes = 0;
  const stop = () => {
    clearTimeout(timer);
    incoming.off('data', count).off('end', stop).off('error', stop);
  };
  const close = () => {
    stop();
    incoming.socket.destroySoon();
  };
  const count = (part: Uint8Array) => {
    bytes += part.byteLength;
    if (bytes > maxDrainedBytes) close();
  };
  const timer = setTimeout(close, drainMs).unref();
  incoming.on('data', count).on('end', stop).on('error', stop).resume();
}
