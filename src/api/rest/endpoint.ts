import { type RouteConfig, z } from '@hono/zod-openapi';
import type { ErrorCode } from '../../common/errors.ts';
import type { Context } from '../../domain/context.ts';
import type { RequestView } from '../../http/request-view.ts';
import type { Deprecation, RouteName } from './deprecation.ts';
import type { Dialect } from './dialect.ts';
import { readQuery } from './query.ts';
import { idempotencyHeader, type ParameterLocations } from './refusal.ts';
import { parseShape, readJson } from './request.ts';
import { tagOf } from './tags.ts';

/** An endpoint, with everything that its OpenAPI description needs. */
export interface Endpoint<Q extends z.ZodObject, B extends z.ZodType, A extends z.ZodType> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /**
   * Path templates with `{name}` for parameters. The first is documented; the others are aliases that real clients use.
   */
  readonly paths: readonly [string, ...string[]];
  readonly name: string;
  readonly summary: string;
  readonly query?: Q;
  readonly body?: B;
  /** The field of a multipart body that holds a file, for an upload endpoint: `run` reads it with receiveFile. */
  readonly file?: string;
  /** The body of the 200. If missing, the endpoint answers 204 without a body, and `run` returns that Reply. */
  readonly answer?: A;
  /** The status of success if it is neither 200 nor 204; a redirect has no `answer`. */
  readonly status?: 201 | 307;
  /** The content types of `answer` if it is not only JSON; `run` then returns a Reply. */
  readonly answerTypes?: readonly string[];
  /** True if `Accept: text/event-stream` gets server-sent events instead of `answer`. */
  readonly isAlsoStream?: true;
  /** The error statuses in the OpenAPI document, besides 401, 429, 500, 503 and those of {@link parseRequest}. */
  readonly refusals: readonly number[];
  /** Adds the Idempotency-Key header to the OpenAPI document. The handler passes `call.idempotencyKey` on. */
  readonly takesIdempotencyKey?: boolean;
  /** 400: every 422 of this endpoint becomes a 400 with one string (docs/wire/v1.md#start-a-session). */
  readonly badInput?: 400;
  /** Statuses of errors that differ from those of the version. */
  readonly statusOf?: Partial<Record<ErrorCode, number>>;
  /** Set if this endpoint is deprecated but its version is not. */
  readonly deprecation?: Deprecation;
  /** The endpoint that replaces a deprecated one: with the names of this path's parameters, and `{org_id}`. */
  readonly successor?: RouteName;
}

/** An endpoint of any query, body and response type. */
export type AnyEndpoint = Endpoint<z.ZodObject, z.ZodType, z.ZodType>;

/** One request, authenticated and parsed. */
export interface Call<Q, B> {
  readonly context: Context;
  /** The request as received: for its headers, and for a body that is not JSON. */
  readonly request: RequestView;
  readonly query: Q;
  readonly body: B;
  readonly idempotencyKey: string | null;
  /** The raw value of a path parameter; '' if the path has none of that name. */
  readonly param: (name: string) => string;
}

/**
 * Parses a request's query and body with the schemas of its endpoint: 400 and 413 as {@link readJson}, 422
 * as {@link parseShape}.
 */
export async function parseRequest<Q extends z.ZodObject, B extends z.ZodType, A extends z.ZodType>(
  endpoint: Endpoint<Q, B, A>,
  request: RequestView,
): Promise<{ query: z.output<Q>; body: z.output<B> }> {
  const query = endpoint.query ? parseShape(endpoint.query, readQuery(request.search), 'query') : {};
  const body = endpoint.body ? parseShape(endpoint.body, await readJson(request), 'body') : undefined;
  // An endpoint without a schema has an empty query and no body, which is also the default of its type parameters.
  return { query: query as z.output<Q>, body: body as z.output<B> };
}

/** The names of an endpoint's query and path parameters. All other names belong to its body. */
export function parameterLocationsOf(endpoint: AnyEndpoint): ParameterLocations {
  return { query: new Set(Object.keys(endpoint.query?.shape ?? {})), path: new Set(pathNames(endpoint.paths[0])) };
}

function pathNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
}

/** Describes one path of an endpoint for OpenAPI. */
export function describe(endpoint: AnyEndpoint, path: string, dialect: Dialect): RouteConfig {
  const types = (schema: z.ZodType, names: readonly string[] = ['application/json']) =>
    Object.fromEntries(names.map((name) => [name, { schema }]));
  const params = pathNames(path).map((name) => [name, z.string().openapi({ param: { name, in: 'path' } })]);
  const header = z.object({ [idempotencyHeader]: z.string().min(1).max(255).optional() });
  // A redirect has no 2xx response, so its statuses are described under "default".
  const isRedirection = endpoint.status === 307;
  const ofParsing =
    endpoint.query || endpoint.body ? [endpoint.badInput ?? 422, ...(endpoint.body ? [400, 413] : [])] : [];
  const refusals = [
    ...new Set([
      401,
      ...endpoint.refusals,
      ...ofParsing,
      429,
      isRedirection ? 'default' : 500,
      ...(isRedirection ? [] : [503]),
    ]),
  ].toSorted();
  const isValidated = endpoint.method === 'get' && endpoint.answer !== undefined && endpoint.answerTypes === undefined;
  const problem = { description: 'Refused.', content: { [dialect.problemType]: { schema: dialect.problemSchema } } };
  return {
    method: endpoint.method,
    path,
    operationId: endpoint.name,
    summary: endpoint.summary,
    tags: [tagOf(path)],
    ...((endpoint.deprecation ?? dialect.deprecation) ? { deprecated: true } : {}),
    ...(endpoint.successor ? { description: `Use \`${endpoint.successor}\` instead.` } : {}),
    request: {
      ...(params.length > 0 ? { params: z.object(Object.fromEntries(params)) } : {}),
      ...(endpoint.query ? { query: endpoint.query } : {}),
      ...(endpoint.takesIdempotencyKey ? { headers: header } : {}),
      ...(endpoint.body ? { body: { content: types(endpoint.body), required: true } } : {}),
      ...(endpoint.file
        ? { body: { content: types(fileBody(endpoint.file), ['multipart/form-data']), required: true } }
        : {}),
    },
    responses: {
      ...(endpoint.answer
        ? {
            [endpoint.status ?? 200]: {
              description: 'Done.',
              content: {
                ...types(endpoint.answer, endpoint.answerTypes),
                ...(endpoint.isAlsoStream ? types(z.string(), ['text/event-stream']) : {}),
              },
            },
          }
        : { [endpoint.status ?? 204]: { description: isRedirection ? 'Its URL is in `Location`.' : 'Done.' } }),
      ...(isValidated ? { 304: { description: 'It is what `If-None-Match` names.' } } : {}),
      ...Object.fromEntries(refusals.map((status) => [status, problem])),
    },
  };
}

function fileBody(field: string): z.ZodType {
  return z.object({ [field]: z.unknown().openapi({ type: 'string', format: 'binary' }) });
}
