import type { ExecutionResult, GraphQLError } from 'graphql';
import { isIterable, type OperationResult } from './prepare-operation.ts';

/** Often enough for proxies that end what is silent for half a minute. */
const keepAliveMs = 12_000;

/** One event, as text on the wire. `id`: what a client sends back as `Last-Event-ID`. */
export function eventText(event: 'next' | 'complete', data: string, id: string | null = null): string {
  return `event: ${event}\n${id === null ? '' : `id: ${id}\n`}data:${data === '' ? '' : ` ${data}`}\n\n`;
}

/**
 * Events as the body of a response, at the pace of the client: the next one is asked for when this one has been taken. A
 * comment begins it, so that its headers go out at once, and keeps it alive while there is nothing to say.
 */
export function eventStream(events: AsyncIterator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let timer: NodeJS.Timeout | null = null;
  const comment = encoder.encode(':\n\n');
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(comment);
        timer = setInterval(() => {
          // Not behind what has not been taken yet.
          if (controller.desiredSize === 0) controller.enqueue(comment);
        }, keepAliveMs).unref();
      },
      async pull(controller) {
        try {
          const { done, value } = await events.next();
          if (!done) return controller.enqueue(encoder.encode(value));
          if (timer) clearInterval(timer);
          controller.close();
        } catch (error) {
          if (timer) clearInterval(timer);
          throw error;
        }
      },
      async cancel() {
        if (timer) clearInterval(timer);
        await events.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/**
 * The results of an operation as events, the last of which says that it is complete. Not a generator: its return() would
 * wait for a pending next(), and so keep the subscription of a client that has gone.
 */
export function resultEvents(result: OperationResult, eventId: () => string | null): AsyncIterator<string> {
  const results = isIterable(result) ? result[Symbol.asyncIterator]() : [result].values();
  let isComplete = false;
  return {
    async next() {
      if (isComplete) return { done: true, value: undefined };
      const { done, value } = await results.next();
      if (!done) return { done: false, value: eventText('next', jsonOf(value), eventId()) };
      isComplete = true;
      return { done: false, value: eventText('complete', '') };
    },
    async return() {
      isComplete = true;
      await results.return?.();
      return { done: true, value: undefined };
    },
  };
}

/** A result as JSON, without what its errors say for HTTP. */
export function jsonOf(result: ExecutionResult): string {
  if (!result.errors?.some(({ extensions }) => extensions?.http)) return JSON.stringify(result);
  return JSON.stringify({ ...result, errors: result.errors.map(withoutHttp) });
}

function withoutHttp(error: GraphQLError): object {
  const { http: _, ...extensions } = error.extensions;
  return { ...error.toJSON(), extensions };
}
