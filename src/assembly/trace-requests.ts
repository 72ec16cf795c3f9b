import { errorTypeOf } from '../common/trace-span.ts';
import type { Config } from '../config/config.ts';
import type { Reply } from '../http/reply.ts';
import type { RequestView } from '../http/request-view.ts';
import type { Tracing } from '../tracing/tracing.ts';

/** The longest path in a span, in characters. */
const maxPath = 500;

/** Records the function that answers requests in traces, if spans are exported. A span lasts until the start of the response. */
export function traceRequests(
  { traces }: Config,
  tracing: Tracing,
  respond: (request: RequestView) => Promise<Reply>,
): (request: RequestView) => Promise<Reply> {
  if (traces.endpoint === null) return respond;
  return async (request) => {
    const { method } = request;
    const span = tracing.start(method, {
      kind: 'server',
      // Without the query, which may hold a signature.
      attributes: {
        'http.request.method': method,
        'url.path': request.path.slice(0, maxPath),
        'switchyard.request_id': request.id,
      },
      traceparent: request.header('traceparent'),
    });
    if (span === null) return respond(request);
    request.span = span;
    try {
      const reply = await respond(request);
      span.set({ 'http.response.status_code': reply.status });
      span.end(reply.status >= 500 ? String(reply.status) : undefined);
      return reply;
    } catch (error) {
      span.end(errorTypeOf(error));
      throw error;
    }
  };
}
