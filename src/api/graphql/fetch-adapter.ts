import { Reply } from '../../http/reply.ts';
import type { RequestView } from '../../http/request-view.ts';

/**
 * Makes the Fetch API request that Yoga reads; `body` is its complete body. Its address is always `/graphql`: at the
 * single-connection address, a request without a stream token is an operation with a connection of its own.
 */
export function toRequest(request: RequestView, body: string | null): Request {
  const { method, path, search, signal } = request;
  const headers = request.headers();
  headers.delete('content-length');
  const url = `http://localhost${path.startsWith('/graphql/stream') ? '/graphql' : path}${search && `?${search}`}`;
  // The Fetch API refuses TRACE. Yoga answers both methods with the same 405.
  return new Request(url, { method: method === 'TRACE' ? 'PATCH' : method, headers, body, signal });
}

/** Makes a reply of Yoga's response. Only events and results in parts are streams. */
export async function toReply(response: Response): Promise<Reply> {
  const { status, body } = response;
  // Yoga keeps the connection open even if the client or a stop of the service asks for its end. Node decides that.
  const { connection: _, ...headers } = Object.fromEntries(response.headers);
  const isStream = /^(?:text\/event-stream|multipart\/mixed)/.test(headers['content-type'] ?? '');
  return new Reply(status, headers, isStream || body === null ? body : await response.text());
}
