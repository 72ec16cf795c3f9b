import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { JsonAnswer, ResponseFinalizer } from './response-finalizer.ts';

/**
 * A short way of some requests, without the objects of the platform and the layers that all others are given. Null for what is
 * to take the long way: nothing has been done for it then.
 */
export type FastPathHandler = (
  incoming: IncomingMessage,
  address: string | null,
) => Promise<JsonAnswer | Response | null> | JsonAnswer | Response | null;

/** What {@link createFastPath} needs. */
export interface FastPathOptions {
  readonly handler: FastPathHandler;
  readonly finalizer: ResponseFinalizer;
  readonly addressOf: (incoming: IncomingMessage) => string | null;
  readonly log: { error(fields: object, message: string): void };
}

/** Answers what has a short way by that. */
export interface FastPath {
  /** Leaves to `listener` what has none. */
  wrap(listener: RequestListener): RequestListener;
  /** The answer of a request that was left to the listener only to be sent; null for every other. */
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
        // The client has gone, or something is wrong that is ours: there is no answer to either.
        if (!incoming.errored) log.error({ err: error }, 'A request failed.');
        outgoing.destroy();
      });
    },
    findAnswer: (incoming) => answers.get(incoming) ?? null,
  };
}
