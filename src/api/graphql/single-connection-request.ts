import { failure } from './answers.ts';

/** The maximum length of an operation id on a single connection. */
export const maxOperationIdLength = 255;

/** The stream token of a request, if any. */
export function tokenOf(request: Request): string | null {
  return request.headers.get('x-graphql-event-stream-token') ?? new URL(request.url).searchParams.get('token');
}

/** Reads the operation of a request without checking it, or returns the error response. */
export async function paramsOf(request: Request): Promise<Readonly<Record<string, unknown>> | Response> {
  try {
    if (request.method === 'POST') {
      const body: unknown = await request.json();
      if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
      return failure(400, 'BAD_REQUEST', 'The body must be a JSON object: batches are not taken.');
    }
    const params = Object.fromEntries(new URL(request.url).searchParams);
    const { variables, extensions } = params;
    return {
      ...params,
      variables: variables ? JSON.parse(variables) : undefined,
      extensions: extensions ? JSON.parse(extensions) : undefined,
    };
  } catch {
    return failure(400, 'BAD_REQUEST', 'The request must be JSON.');
  }
}

/** The client's id of its operation, which the results carry; null if missing or too long. */
export function operationIdOf({ extensions }: Readonly<Record<string, unknown>>): string | null {
  const id = (extensions as { operationId?: unknown } | null | undefined)?.operationId;
  return typeof id === 'string' && id !== '' && id.length <= maxOperationIdLength ? id : null;
}
