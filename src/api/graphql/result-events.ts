import type { ExecutionResult, GraphQLError } from 'graphql';
import { isIterable, type OperationResult } from './prepare-operation.ts';

/** One event in the text format of the wire. `id`: the value that a client sends back as `Last-Event-ID`. */
export function eventText(event: 'next' | 'complete', data: string, id: string | null = null): string {
  return `event: ${event}\n${id === null ? '' : `id: ${id}\n`}data:${data === '' ? '' : ` ${data}`}\n\n`;
}

/**
 * Converts the results of an operation to events, followed by a `complete` event. Not a generator: its return() would
 * wait for a pending next(), and would keep the subscription of a client that has disconnected.
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

/** A result as JSON, without the HTTP data of its errors. */
export function jsonOf(result: ExecutionResult): string {
  if (!result.errors?.some(({ extensions }) => extensions?.http)) return JSON.stringify(result);
  return JSON.stringify({ ...result, errors: result.errors.map(withoutHttp) });
}

function withoutHttp(error: GraphQLError): object {
  const { http: _, ...extensions } = error.extensions;
  return { ...error.toJSON(), extensions };
}
