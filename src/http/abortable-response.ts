/**
 * The time that a client may take to read one chunk of a stream or of a WebSocket. A client that stops reading is then
 * disconnected.
 */
export const slowReaderMs = 15_000;

/**
 * Wraps a response so that `end` ends its body, and `cut` closes the connection when the client reads nothing for
 * {@link slowReaderMs}. `over` is called when the body was read to its end, failed, was ended or was cancelled.
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
        // Cancelled here: Yoga does not check its request's signal between two events.
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
              // An error of the stream would also do it, but would be logged as the service's own.
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
    // Reads nothing ahead of the client.
    { highWaterMark: 0 },
  );
  return new Response(body, response);
}
