import { type ExecutionResult, GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { eventStream } from '../../http/event-stream.ts';
import { takesOnlyStream, wantsStream } from './answers.ts';
import type { GraphqlContext } from './context.ts';
import { isIterable } from './prepare-operation.ts';
import { resultEvents } from './result-events.ts';

/**
 * Replaces Yoga's server-sent events with one connection per operation. It adds the `id:` from which a client can
 * resume, and sends at the client's pace.
 */
export function useEventStreams(): Plugin<Record<string, unknown>, GraphqlContext> {
  return {
    // Yoga would send events to a client that accepts anything, on a stream that is not counted and outlives its key.
    onSubscribe({ args, setResultAndStopExecution }) {
      const { takesEvents } = args.contextValue as unknown as GraphqlContext;
      if (!takesEvents) setResultAndStopExecution({ errors: [noEvents()] });
    },
    onResultProcess({ request, result, serverContext, setResultProcessor }) {
      if (Array.isArray(result) || !wantsStream(request.headers.get('accept'))) return;
      if (!isIterable(result) && !takesOnlyStream(request.headers.get('accept'))) return;
      const { eventPosition } = serverContext;
      setResultProcessor((executionResult) => {
        const events = resultEvents(executionResult as ExecutionResult, () => eventPosition.eventId);
        const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
        return new Response(eventStream(events), { headers });
      }, 'text/event-stream');
    },
  };
}

function noEvents(): GraphQLError {
  const how = 'send "Accept: text/event-stream", or use a WebSocket';
  return new GraphQLError(`A subscription is answered with a stream of events: ${how}.`, {
    extensions: { code: 'BAD_REQUEST', http: { status: 406 } },
  });
}
