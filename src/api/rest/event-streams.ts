import type { Context, Services } from '../../domain/context.ts';
import { withViewer } from '../../domain/sessions/enterprise-scope.ts';
import { openLiveStream, tooManyStreams } from '../../domain/usage/limits/open-streams.ts';
import { abortableResponse } from '../../http/abortable-response.ts';
import { destroySocket } from '../../http/destroy-socket.ts';
import { eventStream } from '../../http/event-stream.ts';
import type { Call } from './endpoint.ts';
import { RequestError } from './refusal.ts';

/** What is sent of an item: `id` is what a client that comes back gives as `Last-Event-ID`. */
export interface SentEvent {
  readonly id: string;
  readonly data: object;
}

/** A request that is answered by a stream. The context's viewer changes with the roles of its key while it is open. */
export interface StreamSource<T> {
  readonly read: (context: Context) => Promise<AsyncIterableIterator<T>>;
  readonly present: (item: T) => SentEvent;
}

/** The streams of the REST versions: server-sent events. */
export interface EventStreams {
  /**
   * Answers with a stream, until the client leaves or takes nothing for a while, its key ends or the service stops. 429 when
   * its principal has as many sockets and streams as it may. What `read` refuses is thrown.
   */
  open<T>(call: Pick<Call<unknown, unknown>, 'context' | 'request'>, source: StreamSource<T>): Promise<Response>;
}

/** Whether a request asks for server-sent events. */
export function wantsEvents(request: Request): boolean {
  return request.headers.get('accept')?.includes('text/event-stream') ?? false;
}

/** Said at once, so that the client knows that it is connected: and how soon it may come back when it no longer is. */
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
          return new Response(null, { headers });
        }
        const body = eventStream(eventsOf(items, present, report), opening);
        return abortableResponse(ended.signal, new Response(body, { headers }), leave, () => destroySocket(request));
      } catch (error) {
        leave();
        throw error;
      }
    },
  };
}

// Nothing is read ahead of the client: a slow one holds what the watch has read for it, and one event. What fails later is
// ours to know; the client comes back and is told then.
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
