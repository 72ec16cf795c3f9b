/**
 * The time that a client may take to read one chunk of a stream or of a WebSocket. A client that stops reading is then
 * disconnected.
 */
export const slowReaderMs = 15_000;

/**
 * Wraps the body of a response so that `signal` ends it, and `destroy` closes the connection when the client reads nothing
 * for {@link slowReaderMs}. `onEnd` is called when the body was read to its end, failed, was ended or was cancelled.
 */
export function abortableBody(
  signal: AbortSignal,
  body: ReadableStream<Uint8Array>,
  onEnd: () => void,
  destroy: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let stop: () => void = () => undefined;
  let stallTimer: NodeJS.Timeout | null = null;
  const finish = () => {
    if (stallTimer) clearTimeout(stallTimer);
    signal.removeEventListener('abort', stop);
    onEnd();
  };
  return new ReadableStream<Uint8Array>(
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
}
