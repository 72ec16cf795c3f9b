import { type RouteConfig, z } from '@hono/zod-openapi';
import type { Context } from '../../domain/context.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Deprecation, RouteName } from './deprecation.ts';
import type { Dialect } from './dialect.ts';
import { readQuery } from './query.ts';
import { idempotencyHeader, type ParameterLocations } from './refusal.ts';
import { parseShape } from './request.ts';
import type { RequestContext } from './request-context.ts';
import { tagOf } from './tags.ts';

/** What can be called, and what the OpenAPI document says of it. */
export interface Endpoint<Q extends z.ZodObject, B extends z.ZodType, A extends z.ZodType> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** With `{name}` for parameters. The first is documented, the others are aliases that real clients use. */
  readonly paths: readonly [string, ...string[]];
  readonly name: string;
  readonly summary: string;
  readonly query?: Q;
  readonly body?: B;
  /** The field of a multipart body that holds a file, for an endpoint that takes one: `run` reads it with receiveFile. */
  readonly file?: string;
  /** The body of the 200. Left out: 204 without one, and `run` gives that Response. */
  readonly answer?: A;
  /** The status of success where it is neither 200 nor 204; a redirection has no `answer`. */
  readonly status?: 201 | 307;
  /** The content types of `answer` where it is not only JSON; `run` then gives a Response. */
  readonly answerTypes?: readonly string[];
  /** True where `Accept: text/event-stream` gets server-sent events instead of `answer`. */
  readonly isAlsoStream?: true;
  /** The statuses that it may answer beside success, 401, 429, 500, 503 and those of {@link parseRequest}. */
  readonly refusals: readonly number[];
  /** True where the Idempotency-Key header means something. */
  readonly takesIdempotencyKey?: boolean;
  /** 400 turns every 422 of this endpoint into a 400 with one string (v1's session creation, pinned 2). */
  readonly badInput?: 400;
  /** Where this endpoint answers a refusal with another status than its version does elsewhere. */
  readonly statusOf?: Partial<Record<ErrorCode, number>>;
  /** Set where this endpoint is deprecated and its version is not. */
  readonly deprecation?: Deprecation;
  /** What takes its place, where it is deprecated: with the names of this path's parameters, and `{org_id}`. */
  readonly successor?: RouteName;
}

/** An endpoint of which only the outside matters. */
export type AnyEndpoint = Endpoint<z.ZodObject, z.ZodType, z.ZodType>;

/** One request, authenticated and parsed. */
export interface Call<Q, B> {
  readonly context: Context;
  /** As it came: for its headers, and for a body that is no JSON. */
  readonly request: Request;
  readonly query: Q;
  readonly body: B;
  readonly idempotencyKey: string | null;
  /** A path parameter as it was written; '' when the path has none of that name. */
  readonly param: (name: string) => string;
}

/** A request's query and body in the shapes of its endpoint: 400 and 413 as {@link RequestContext.json}, 422 as {@link parseShape}. */
export async function parseRequest<Q extends z.ZodObject, B extends z.ZodType, A extends z.ZodType>(
  endpoint: Endpoint<Q, B, A>,
  requestContext: RequestContext,
): Promise<{ query: z.output<Q>; body: z.output<B> }> {
  const query = endpoint.query ? parseShape(endpoint.query, readQuery(requestContext.search), 'query') : {};
  const body = endpoint.body ? parseShape(endpoint.body, await requestContext.json(), 'body') : undefined;
  // An endpoint without a schema has the empty query, and no body: what its type parameters default to.
  return { query: query as z.output<Q>, body: body as z.output<B> };
}

/** Which names of an endpoint stand in its query and its path; all others stand in its body. */
export function parameterLocationsOf(endpoint: AnyEndpoint): ParameterLocations {
  return { query: new Set(Object.keys(endpoint.query?.shape ?? {})), path: new Set(pathNames(endpoint.paths[0])) };
}

function pathNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
}

/** One path of an endpoint as OpenAPI describes it. */
export function describe(endpoint: AnyEndpoint, path: string, dialect: Dialect): RouteConfig {
  const types = (schema: z.ZodType, names: readonly string[] = ['application/json']) =>
    Object.fromEntries(names.map((name) => [name, { schema }]));
  const params = pathNames(path).map((name) => [name, z.string().openapi({ param: { name, in: 'path' } })]);
  const header = z.object({ [idempotencyHeader]: z.string().min(1).max(255).optional() });
  // A redirection has no success of its own (2xx): what is left is "default".
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
        : { [endpoint.status ?? 204]: { description: isRedirection ? 'It is at `Location`.' : 'Done.' } }),
      ...(isValidated ? { 304: { description: 'It is what `If-None-Match` names.' } } : {}),
      ...Object.fromEntries(refusals.map((status) => [status, problem])),
    },
  };
}

function fileBody(field: string): z.ZodType {
  return z.object({ [field]: z.unknown().openapi({ type: 'string', format: 'binary' }) });
}
