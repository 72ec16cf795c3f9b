import type { Reply } from '../../src/http/reply.ts';
import { IncompleteBodyError, type RequestView } from '../../src/http/request-view.ts';

/** The view of a Fetch API request, for a handler that is called without a connection. */
export function viewOf(request: Request, address: string | null): RequestView {
  const { method, headers, signal } = request;
  const { pathname, search } = new URL(request.url);
  return {
    id: 'test-request',
    principalId: null,
    span: null,
    method,
    path: pathname,
    search: search.slice(1),
    address,
    signal,
    header: (name) => headers.get(name),
    headers: () => new Headers(headers),
    async read(onPart) {
      const parts = (request.body ?? []) as AsyncIterable<Uint8Array>;
      const iterator = parts[Symbol.asyncIterator]?.();
      for (;;) {
        const part = await iterator?.next().catch((cause: unknown) => {
          throw new IncompleteBodyError(cause);
        });
        if (part === undefined || part.done) return;
        await onPart(part.value);
      }
    },
    destroy: () => undefined,
  };
}

/** A reply as a Fetch API response. */
export function responseOf({ status, headers, body }: Reply): Response {
  const all = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((each): [string, string] => [name, each as string]),
  );
  return new Response(body as BodyInit | null, { status, headers: all });
}
