import { createRoute, OpenAPIHono, type RouteConfig, z } from '@hono/zod-openapi';
import type { Context as HonoContext } from 'hono';
import { authenticate } from '../auth/authenticate.ts';
import { readToken } from '../auth/tokens.ts';
import type { Context, Services } from '../domain/context.ts';
import { DomainError } from '../domain/errors.ts';
import { readQuery } from './query.ts';
import { idempotencyHeader, type Places, type Refusal, type RefusalWords, RequestError, refusalOf } from './refusal.ts';
import { parseShape, readJson } from './request.ts';

/** What comes with a request beside itself: the caller's network address. */
export interface RestEnv {
  readonly address: string | null;
}

/** The keys that a version takes. */
export interface Credentials {
  readonly prefixes: readonly string[];
  /** Said, with 401, to a missing, unknown, expired or revoked key. */
  readonly missing: string;
  /** Said, with 401, to a key of another kind: it names the right prefix. */
  readonly wrongKind: string;
}

/** One version's habits. Resource files compose these and never write a status, a date or an error body themselves. */
export interface Dialect extends RefusalWords {
  readonly version: 'v1' | 'v3';
  readonly title: string;
  readonly description: string;
  readonly credentials: Credentials;
  /** The answer to a refusal; `instance` is the path that was asked for. */
  readonly problem: (refusal: Refusal, instance: string) => Response;
  /** The body of {@link Dialect.problem}, for the OpenAPI document. */
  readonly problemSchema: z.ZodType;
  readonly problemType: string;
  /** Said to an address that the version does not have. */
  readonly unknownRoute: string;
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** What can be called, and what the OpenAPI document says of it. */
export interface Endpoint<Q extends z.ZodObject, B extends z.ZodType, A extends z.ZodType> {
  readonly method: Method;
  /** With `{name}` for parameters. The first is documented, the others are aliases that real clients use. */
  readonly paths: readonly [string, ...string[]];
  readonly name: string;
  readonly summary: string;
  readonly query?: Q;
  readonly body?: B;
  /** The body of the 200. */
  readonly answer: A;
  /** The statuses that it may answer beside 200, 401 and 500. */
  readonly refusals: readonly number[];
  /** True where the Idempotency-Key header means something. */
  readonly takesIdempotencyKey?: boolean;
  /** 400 turns every 422 of this endpoint into a 400 with one string (v1's session creation, pinned 2). */
  readonly badInput?: 400;
}

/** One request, authenticated and parsed. */
export interface Call<Q, B> {
  readonly context: Context;
  readonly query: Q;
  readonly body: B;
  readonly idempotencyKey: string | null;
  /** A path parameter as it was written; '' when the path has none of that name. */
  readonly param: (name: string) => string;
}

/** One version on the wire. */
export interface Door {
  /** Adds an endpoint: authenticate, parse, `run`, and its result as JSON unless it is a Response already. */
  serve<
    A extends z.ZodType,
    Q extends z.ZodObject = z.ZodObject<Record<never, never>>,
    B extends z.ZodType = z.ZodUndefined,
  >(endpoint: Endpoint<Q, B, A>, run: (call: Call<z.output<Q>, z.output<B>>) => Promise<z.input<A> | Response>): void;
  fetch(request: Request, env: RestEnv): Promise<Response>;
  /** The OpenAPI 3.1 document of all endpoints served so far. */
  document(): object;
}

/** A version without endpoints. */
export function createDoor(dialect: Dialect, services: Services): Door {
  // Not strict: a slash at the end of a path makes no difference (pinned 2).
  const app = new OpenAPIHono<{ Bindings: RestEnv }>({ strict: false });
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' });

  const answer = (error: unknown, c: HonoContext, places: Places, badInput?: 400): Response => {
    const refusal = toRefusal(error, dialect, places);
    if (!refusal) {
      const fields = { err: error, method: c.req.method, path: c.req.path };
      services.log.error(fields, 'A REST request failed unexpectedly.');
    }
    const told = refusal ?? { status: 500, message: 'Something went wrong', issues: [] };
    return dialect.problem(badInput && told.status === 422 ? { ...told, status: badInput } : told, c.req.path);
  };
  const nowhere: Places = { query: new Set(), path: new Set() };

  app.onError((error, c) => answer(error, c, nowhere));
  app.notFound((c) => {
    const allowed = methods.filter(
      (method) => app.router.match(method, c.req.path.replace(/(?<=.)\/$/, ''))[0].length > 0,
    );
    if (allowed.length === 0) return answer(new RequestError(404, dialect.unknownRoute), c, nowhere);
    const allow = allowed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
    return answer(new RequestError(405, `Method not allowed: this takes ${allow}.`, [], { allow }), c, nowhere);
  });

  return {
    serve(endpoint, run) {
      const routes = endpoint.paths.map((path) => createRoute(routeConfig(endpoint, path, dialect)));
      const [documented] = routes;
      if (documented) app.openAPIRegistry.registerPath(documented);
      const places = placesOf(endpoint);
      const handle = async (c: HonoContext<{ Bindings: RestEnv }>): Promise<Response> => {
        try {
          const viewer = await authenticate(services, readKey(dialect.credentials, c.req.header('authorization')));
          const result = await run({
            context: { ...services, viewer, address: c.env.address },
            query: parseShape(endpoint.query ?? z.object({}), readQuery(c.req.url), 'query') as z.output<
              NonNullable<typeof endpoint.query>
            >,
            body: (endpoint.body
              ? parseShape(endpoint.body, await readJson(c.req.raw), 'body')
              : undefined) as z.output<NonNullable<typeof endpoint.body>>,
            idempotencyKey: c.req.header(idempotencyHeader) ?? null,
            param: (name) => c.req.param(name) ?? '',
          });
          return result instanceof Response ? result : Response.json(result);
        } catch (error) {
          return answer(error, c, places, endpoint.badInput);
        }
      };
      for (const route of routes) app.on(endpoint.method.toUpperCase(), route.getRoutingPath(), handle);
    },
    fetch: async (request, env) => app.fetch(request, env),
    document: () => {
      const { title, description } = dialect;
      const info = { title, description, version: '1.0.0' };
      return app.getOpenAPI31Document({
        openapi: '3.1.0',
        info,
        servers: [{ url: services.baseUrl }],
        security: [{ bearer: [] }],
      });
    },
  };
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

function readKey(credentials: Credentials, header: string | undefined): string | null {
  const token = readToken(header, false);
  if (token === null || credentials.prefixes.some((prefix) => token.startsWith(prefix))) return token;
  throw new RequestError(401, credentials.wrongKind, [], { 'www-authenticate': 'Bearer' });
}

function toRefusal(error: unknown, dialect: Dialect, places: Places): Refusal | null {
  if (error instanceof RequestError) return error;
  return error instanceof DomainError ? refusalOf(error, dialect, places) : null;
}

type AnyEndpoint = Endpoint<z.ZodObject, z.ZodType, z.ZodType>;

function pathNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
}

function placesOf(endpoint: AnyEndpoint): Places {
  return { query: new Set(Object.keys(endpoint.query?.shape ?? {})), path: new Set(pathNames(endpoint.paths[0])) };
}

function routeConfig(endpoint: AnyEndpoint, path: string, dialect: Dialect): RouteConfig {
  const json = (schema: z.ZodType) => ({ 'application/json': { schema } });
  const params = pathNames(path).map((name) => [name, z.string().openapi({ param: { name, in: 'path' } })]);
  const header = z.object({ [idempotencyHeader]: z.string().min(1).max(255).optional() });
  const refusals = [401, ...endpoint.refusals, 500].toSorted((a, b) => a - b);
  const problem = { description: 'Refused.', content: { [dialect.problemType]: { schema: dialect.problemSchema } } };
  return {
    method: endpoint.method,
    path,
    operationId: endpoint.name,
    summary: endpoint.summary,
    request: {
      ...(params.length > 0 ? { params: z.object(Object.fromEntries(params)) } : {}),
      ...(endpoint.query ? { query: endpoint.query } : {}),
      ...(endpoint.takesIdempotencyKey ? { headers: header } : {}),
      ...(endpoint.body ? { body: { content: json(endpoint.body), required: true } } : {}),
    },
    responses: {
      200: { description: 'Done.', content: json(endpoint.answer) },
      ...Object.fromEntries(refusals.map((status) => [status, problem])),
    },
  };
}
