import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { JsonAnswer, ResponseFinalizer } from './response-finalizer.ts';

/**
 * Handles some requests without the objects and layers of the normal path. Returns null for a request that must take
 * the normal path; nothing has been done for it then.
 */
export type FastPathHandler = (
  incoming: IncomingMessage,
  address: string | null,
) => Promise<JsonAnswer | Response | null> | JsonAnswer | Response | null;

/** Options of {@link createFastPath}. */
export interface FastPathOptions {
  readonly handler: FastPathHandler;
  readonly finalizer: ResponseFinalizer;
  readonly addressOf: (incoming: IncomingMessage) => string | null;
  readonly log: { error(fields: object, message: string): void };
}

/** Answers requests on the fast path where possible. */
export interface FastPath {
  /** Passes all other requests to `listener`. */
  wrap(listener: RequestListener): RequestListener;
  /** The response of a request that was passed to the listener only to be sent; null for every other request. */
  findAnswer(incoming: IncomingMessage): Response | null;
}

/** See {@link FastPath}. */
export function createFastPath({ handler, finalizer, addressOf, log }: FastPathOptions): FastPath {
  const answers = new WeakMap<IncomingMessage, Response>();
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse, listener: RequestListener) => {
    const result = handler(incoming, addressOf(incoming));
    const reply = result instanceof Promise ? await result : result;
    if (reply !== null && !(reply instanceof Response)) return finalizer.send(incoming, outgoing, reply);
    if (reply !== null) answers.set(incoming, reply);
    listener(incoming, outgoing);
  };
  return {
    wrap: (listener) => (incoming, outgoing) => {
      answer(incoming, outgoing, listener).catch((error: unknown) => {
        // Logs failures of the service only. If the client has disconnected, there is nobody to answer.
        if (!incoming.errored) log.error({ err: error }, 'A request failed.');
        outgoing.destroy();
      });
    },
    findAnswer: (incoming) => answers.get(incoming) ?? null,
  };
}
