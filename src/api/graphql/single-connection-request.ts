import type { Reply } from '../../http/reply.ts';
import { queryOf, type RequestView } from '../../http/request-view.ts';
import { failure } from './answers.ts';

/** The maximum length of an operation id on a single connection. */
export const maxOperationIdLength = 255;

type Params = Readonly<Record<string, unknown>>;

/** The stream token of a request, if any. */
export function tokenOf(request: RequestView): string | null {
  return request.header('x-graphql-event-stream-token') ?? queryOf(request).get('token');
}

/** Reads the operation of a request, whose body is `text`, without checking it, or returns the error response. */
export function paramsOf(request: RequestView, text: string): { params: Params; error: null } | { error: Reply } {
  try {
    if (request.method === 'POST') {
      const body: unknown = JSON.parse(text);
      if (typeof body === 'object' && body !== null && !Array.isArray(body))
        return { params: body as Params, error: null };
      return { error: failure(400, 'BAD_REQUEST', 'The body must be a JSON object. Batches are not supported.') };
    }
    const params = Object.fromEntries(queryOf(request));
    const { variables, extensions } = params;
    return {
      params: {
        ...params,
        variables: variables ? JSON.parse(variables) : undefined,
        extensions: extensions ? JSON.parse(extensions) : undefined,
      },
      error: null,
    };
  } catch {
    return { error: failure(400, 'BAD_REQUEST', 'The request must be JSON.') };
  }
}

/** The client's id of its operation, which the results carry; null if missing or too long. */
export function operationIdOf({ extensions }: Params): string | null {
  const id = (extensions as { operationId?: unknown } | null | undefined)?.operationId;
  return typeof id === 'string' && id !== '' && id.length <= maxOperationIdLength ? id : null;
}
