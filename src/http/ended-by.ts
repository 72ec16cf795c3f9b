/** How long a client may take over one piece of a stream: as long on a WebSocket. Whoever stops reading is let go then. */
export const slowReaderMs = 15_000;

/**
 * The response, ended when `end` is aborted, and cut off by `cut` when its reader takes nothing for {@link slowReaderMs}.
 * `over` is called when its body has been read to its end, has failed, was ended, or is wanted no more.
 */
export function endedBy(end: AbortSignal, response: Response, over: () => void, cut: () => void): Response {
  const reader = response.body?.getReader();
  if (!reader) {
    over();
    return response;
  }
  let stop: () => void = () => undefined;
  let patience: NodeJS.Timeout | null = null;
  const finish = () => {
    if (patience) clearTimeout(patience);
    end.removeEventListener('abort', stop);
    over();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // Cancelled by us: Yoga does not look at its request's signal between two events.
        stop = () => {
          finish();
          controller.close();
          reader.cancel().catch(() => undefined);
        };
        if (end.aborted) stop();
        else end.addEventListener('abort', stop);
      },
      async pull(controller) {
        if (patience) clearTimeout(patience);
        try {
          const { done, value } = await reader.read();
          if (end.aborted) return;
          if (!done) {
            controller.enqueue(value);
            patience = setTimeout(() => {
              finish();
              reader.cancel().catch(() => undefined);
              // An error of the stream would do it too, but be printed as one of ours.
              cut();
            }, slowReaderMs).unref();
            return;
          }
          finish();
          controller.close();
        } catch (error) {
          finish();
          throw error;
        }
      },
      async cancel(reason) {
        finish();
        await reader.cancel(reason);
      },
    },
    // Nothing is read ahead of the client.
    { highWaterMark: 0 },
  );
  return new Response(body, response);
}
