/** Often enough for proxies that end what is silent for half a minute. */
const keepAliveMs = 12_000;

const comment = ':\n\n';

/**
 * Server-sent events, as text on the wire, as the body of a response, at the pace of the client: the next one is asked for when
 * this one has been taken. `opening` begins it, so that its headers go out at once; a comment keeps it alive while there is
 * nothing to say.
 */
export function eventStream(events: AsyncIterator<string>, opening: string = comment): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let timer: NodeJS.Timeout | null = null;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(encoder.encode(opening));
        timer = setInterval(() => {
          // Not behind what has not been taken yet.
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
