/** Short enough for proxies that close connections after 30 silent seconds. */
const keepAliveMs = 12_000;

const comment = ':\n\n';

/**
 * Sends server-sent events as a response body at the pace of the client: the next event is pulled when the current one
 * has been read. `opening` is sent first, so that the headers go out at once. Comments keep the connection alive
 * between events.
 */
export function eventStream(events: AsyncIterator<string>, opening: string = comment): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let timer: NodeJS.Timeout | null = null;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(encoder.encode(opening));
        timer = setInterval(() => {
          // Skipped while earlier data has not been read.
          if (controller.desiredSize === 0) controller.enqueue(encoder.encode(comment));
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
