import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { eventStream } from '../http/event-stream.ts';
import { takesOnlyStream, wantsStream } from './answers.ts';
import type { GraphqlContext } from './context.ts';
import { isIterable } from './prepare-operation.ts';
import { resultEvents } from './result-events.ts';

/**
 * Server-sent events with a connection for each operation, in place of Yoga's: with the `id:` of each event that a client
 * can go on from, and at the pace of the client.
 */
export function useEventStreams(): Plugin<Record<string, unknown>, GraphqlContext> {
  return {
    onResultProcess({ request, result, serverContext, setResultProcessor }) {
      if (Array.isArray(result) || !wantsStream(request)) return;
      if (!isIterable(result) && !takesOnlyStream(request)) return;
      const { place } = serverContext;
      setResultProcessor((given) => {
        const events = resultEvents(given as ExecutionResult, () => place.eventId);
        const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
        return new Response(eventStream(events), { headers });
      }, 'text/event-stream');
    },
  };
}
