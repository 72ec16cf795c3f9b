/**
 * The response, ended when `end` is aborted. `over` is called when its body has been read to its end, has failed, was
 * ended, or is wanted no more.
 */
export function endedBy(end: AbortSignal, response: Response, over: () => void): Response {
  const reader = response.body?.getReader();
  if (!reader) {
    over();
    return response;
  }
  let stop: () => void = () => undefined;
  const finish = () => {
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
        try {
          const { done, value } = await reader.read();
          if (end.aborted) return;
          if (!done) return controller.enqueue(value);
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
