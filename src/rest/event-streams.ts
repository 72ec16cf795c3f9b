import type { Context, Services } from '../domain/context.ts';
import { withViewer } from '../domain/sessions/enterprise-scope.ts';
import type { Call } from './endpoint.ts';

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

/** The open streams of the REST versions: server-sent events. */
export interface EventStreams {
  /** Answers with a stream, until the client leaves, its key ends or the service stops. What `read` refuses is thrown. */
  open<T>(call: Pick<Call<unknown, unknown>, 'context' | 'request'>, source: StreamSource<T>): Promise<Response>;
  /** How many are open. */
  active(): number;
  /** Ends them all. */
  stop(): void;
}

/** How often something is said on a stream on which nothing happens, so that nobody between takes it for dead. */
const keepAliveMs = 15_000;

/** Whether a request asks for server-sent events. */
export function wantsEvents(request: Request): boolean {
  return request.headers.get('accept')?.includes('text/event-stream') ?? false;
}

/** See {@link EventStreams}. */
export function createEventStreams(services: Services): EventStreams {
  const open = new Set<() => void>();
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' };
  return {
    async open({ context, request }, { read, present }) {
      const ended = new AbortController();
      const end = () => ended.abort();
      const { current, release } = services.liveViewers.follow(context.viewer, context.address, end);
      open.add(end);
      const over = () => {
        open.delete(end);
        release();
      };
      try {
        const items = await read(withViewer(context, current));
        if (request.method === 'HEAD') {
          over();
          void items.return?.();
          return new Response(null, { headers });
        }
        const report = (error: unknown) => services.log.error({ err: error }, 'A stream failed.');
        return new Response(bodyOf(items, { present, ended: ended.signal, over, report }), { headers });
      } catch (error) {
        over();
        throw error;
      }
    },
    active: () => open.size,
    stop() {
      for (const end of [...open]) end();
    },
  };
}

interface BodyOptions<T> {
  readonly present: (item: T) => SentEvent;
  readonly ended: AbortSignal;
  readonly over: () => void;
  readonly report: (error: unknown) => void;
}

// Pulled, and nothing is read ahead of the client: a slow one holds what the watch has read for it, and one event.
function bodyOf<T>(
  items: AsyncIterableIterator<T>,
  { present, ended, over, report }: BodyOptions<T>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<T>> | null = null;
  let isOver = false;
  let stop: () => void = () => undefined;
  const finish = () => {
    isOver = true;
    ended.removeEventListener('abort', stop);
    over();
    void items.return?.();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        stop = () => {
          finish();
          controller.close();
        };
        // Said at once, so that the client knows that it is connected.
        controller.enqueue(encoder.encode('retry: 3000\n\n'));
        if (ended.aborted) stop();
        else ended.addEventListener('abort', stop);
      },
      async pull(controller) {
        try {
          next ??= items.next();
          const result = await orIdle(next);
          if (isOver) return;
          if (result === null) return controller.enqueue(encoder.encode(': keep-alive\n\n'));
          next = null;
          if (result.done) return stop();
          const { id, data } = present(result.value);
          controller.enqueue(encoder.encode(`id: ${id}\ndata: ${JSON.stringify(data)}\n\n`));
        } catch (error) {
          if (isOver) return;
          report(error);
          stop();
        }
      },
      cancel: finish,
    },
    { highWaterMark: 0 },
  );
}

/** The result, or null when there is none for a while. */
async function orIdle<T>(next: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const idle = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, keepAliveMs, null).unref();
  });
  try {
    return await Promise.race([next, idle]);
  } finally {
    clearTimeout(timer);
  }
}
