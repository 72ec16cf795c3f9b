import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { JsonAnswer, Outside } from './outside.ts';

/**
 * A short way of some requests, without the objects of the platform and the layers that all others are given. Null for what is
 * to take the long way: nothing has been done for it then.
 */
export type PlainWay = (
  incoming: IncomingMessage,
  address: string | null,
) => Promise<JsonAnswer | Response | null> | JsonAnswer | Response | null;

/** What {@link createPlainWays} needs. */
export interface PlainWaysOptions {
  readonly way: PlainWay;
  readonly outside: Outside;
  readonly addressOf: (incoming: IncomingMessage) => string | null;
  readonly log: { error(fields: object, message: string): void };
}

/** Answers what has a short way by that. */
export interface PlainWays {
  /** Leaves to `listener` what has none. */
  before(listener: RequestListener): RequestListener;
  /** The answer of a request that was left to the listener only to be sent; null for every other. */
  findAnswer(incoming: IncomingMessage): Response | null;
}

/** See {@link PlainWays}. */
export function createPlainWays({ way, outside, addressOf, log }: PlainWaysOptions): PlainWays {
  const answers = new WeakMap<IncomingMessage, Response>();
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse, listener: RequestListener) => {
    const found = way(incoming, addressOf(incoming));
    const said = found instanceof Promise ? await found : found;
    if (said !== null && !(said instanceof Response)) return outside.send(incoming, outgoing, said);
    if (said !== null) answers.set(incoming, said);
    listener(incoming, outgoing);
  };
  return {
    before: (listener) => (incoming, outgoing) => {
      answer(incoming, outgoing, listener).catch((error: unknown) => {
        // The client has gone, or something is wrong that is ours: there is no answer to either.
        if (!incoming.errored) log.error({ err: error }, 'A request failed.');
        outgoing.destroy();
      });
    },
    findAnswer: (incoming) => answers.get(incoming) ?? null,
  };
}
