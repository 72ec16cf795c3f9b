import type { ExecutionResult, GraphQLError, GraphQLFormattedError } from 'graphql';
import { Reply } from '../../http/reply.ts';

/** The content type of a response with one result. */
export type ResultType = 'application/json' | 'application/graphql-response+json';

/** The content type of a result that the header `Accept` asks for: the first of its ranges that has one. Null if none. */
export function resultTypeOf(accept: string | null): ResultType | null {
  for (const range of (accept || '*/*').toLowerCase().replaceAll(/\s/g, '').split(',')) {
    const [type = '', ...params] = range.split(';');
    const charset = params.find((param) => param.includes('charset=')) ?? 'charset=utf-8';
    if (charset !== 'charset=utf-8') continue;
    if (['*/*', 'application/*', '*/json', 'application/json'].includes(type)) return 'application/json';
    if (['*/graphql-response+json', 'application/graphql-response+json'].includes(type))
      return 'application/graphql-response+json';
  }
  return null;
}

/** The status and headers that an error asks for. `isOfSpec`: the status counts only for GraphQL's own content type. */
interface HttpExtension {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly spec?: boolean;
}

/** The response with the result of an operation, whose errors are masked already and decide its status. */
export function resultReply(result: ExecutionResult, type: ResultType): Reply {
  const headers: Record<string, string> = { 'content-type': `${type}; charset=utf-8` };
  const { errors } = result;
  if (errors === undefined || errors.length === 0) return new Reply(200, headers, JSON.stringify(result));
  const isSpecIgnored = type === 'application/json' && errors.some((error) => !error.extensions.originalError);
  let status: number | null = null;
  for (const { extensions } of errors) {
    const http = extensions.http as HttpExtension | undefined;
    for (const [name, value] of Object.entries(http?.headers ?? {})) headers[name.toLowerCase()] = value;
    if (http?.status !== undefined && !(isSpecIgnored && http.spec)) status = Math.max(status ?? 0, http.status);
  }
  return new Reply(status ?? 200, headers, JSON.stringify({ ...result, errors: errors.map(withoutHttp) }));
}

/** An error as a response has it, without its {@link HttpExtension}. */
function withoutHttp(error: GraphQLError): GraphQLFormattedError {
  const { extensions: { http: _, ...extensions } = {}, ...formatted } = error.toJSON();
  return Object.keys(extensions).length > 0 ? { ...formatted, extensions } : formatted;
}
