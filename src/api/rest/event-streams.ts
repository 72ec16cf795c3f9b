import type { Context, Services } from '../../domain/context.ts';
import { withViewer } from '../../domain/identity/organizations/enterprise-scope.ts';
import { openLiveStream, tooManyStreams } from '../../domain/limits/open-streams.ts';
import { abortableBody } from '../../http/abortable-body.ts';
import { eventStream } from '../../http/event-stream.ts';
import { Reply } from '../../http/reply.ts';
import type { RequestView } from '../../http/request-view.ts';
import type { Call } from './endpoint.ts';
import { RequestError } from './refusal.ts';

/** An item as it is sent. `id` is the `Last-Event-ID` of a client that reconnects. */
export interface SentEvent {
  readonly id: string;
  readonly data: object;
}

/**
 * A request that is answered by a stream. While the stream is open, the context's viewer follows changes to the roles
 * of its key.
 */
export interface StreamSource<T> {
  readonly read: (context: Context) => Promise<AsyncIterableIterator<T>>;
  readonly present: (item: T) => SentEvent;
}

/** Server-sent event streams of the REST versions. */
export interface EventStreams {
  /**
   * Answers with a stream. It ends when the client disconnects or reads nothing for a while, when its key ends, and
   * when the service stops. 429 if the principal has reached its limit of sockets and streams. Throws the errors of
   * `read`.
   */
  open<T>(call: Pick<Call<unknown, unknown>, 'context' | 'request'>, source: StreamSource<T>): Promise<Reply>;
}

/** Returns true if a request asks for server-sent events. */
export function wantsEvents(request: RequestView): boolean {
  return request.header('accept')?.includes('text/event-stream') ?? false;
}

/** Sent at once, so that the client knows that it is connected. It also sets the reconnection delay. */
const opening = 'retry: 3000\n\n';

/** See {@link EventStreams}. */
export function createEventStreams(services: Services): EventStreams {
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' };
  const report = (error: unknown) => services.log.error({ err: error }, 'A stream failed.');
  return {
    async open({ context, request }, { read, present }) {
      const ended = new AbortController();
      const live = openLiveStream(services, context, () => ended.abort());
      if (live === null) throw new RequestError(tooManyStreams(services.openStreams), { status: 429 });
      const { current, leave } = live;
      try {
        const items = await read(withViewer(context, current));
        if (request.method === 'HEAD') {
          leave();
          void items.return?.();
          return new Reply(200, headers);
        }
        const body = eventStream(eventsOf(items, present, report), opening);
        return new Reply(
          200,
          headers,
          abortableBody(ended.signal, body, leave, () => request.destroy()),
        );
      } catch (error) {
        leave();
        throw error;
      }
    },
  };
}

// Reads nothing ahead of the client: for a slow client, memory holds one batch of the watch and one event. A later
// failure is only logged; the client reconnects and gets the error then.
function eventsOf<T>(
  items: AsyncIterableIterator<T>,
  present: (item: T) => SentEvent,
  report: (error: unknown) => void,
): AsyncIterator<string> {
  let isOver = false;
  const over = async (): Promise<IteratorResult<string>> => {
    isOver = true;
    await items.return?.();
    return { done: true, value: undefined };
  };
  return {
    async next() {
      try {
        const { done, value } = await items.next();
        if (isOver || done) return over();
        const { id, data } = present(value);
        return { done: false, value: `id: ${id}\ndata: ${JSON.stringify(data)}\n\n` };
      } catch (error) {
        if (!isOver) report(error);
        return over();
      }
    },
    return: over,
  };
}
