/** How long a client may take over one piece of a stream: as long on a WebSocket. Whoever stops reading is let go then. */
export const slowReaderMs = 15_000;

/**
 * The response, ended when `end` is aborted, and cut off by `cut` when its reader takes nothing for {@link slowReaderMs}.
 * `over` is called when its body has been read to its end, has failed, was ended, or is wanted no more.
 */
export function abortableResponse(
  signal: AbortSignal,
  response: Response,
  onEnd: () => void,
  destroy: () => void,
): Response {
  const reader = response.body?.getReader();
  if (!reader) {
    onEnd();
    return response;
  }
  let stop: () => void = () => undefined;
  let stallTimer: NodeJS.Timeout | null = null;
  const finish = () => {
    if (stallTimer) clearTimeout(stallTimer);
    signal.removeEventListener('abort', stop);
    onEnd();
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
        if (signal.aborted) stop();
        else signal.addEventListener('abort', stop);
      },
      async pull(controller) {
        if (stallTimer) clearTimeout(stallTimer);
        try {
          const { done, value } = await reader.read();
          if (signal.aborted) return;
          if (!done) {
            controller.enqueue(value);
            stallTimer = setTimeout(() => {
              finish();
              reader.cancel().catch(() => undefined);
              // An error of the stream would do it too, but be printed as one of ours.
              destroy();
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
