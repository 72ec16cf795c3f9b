import type { IncomingMessage } from 'node:http';
import { createRoute, OpenAPIHono, type z } from '@hono/zod-openapi';
import type { Context as HonoContext } from 'hono';
import { findCachedViewer } from '../../auth/authenticate.ts';
import { readToken } from '../../auth/tokens.ts';
import type { Viewer } from '../../auth/viewer.ts';
import type { Services } from '../../domain/context.ts';
import type { FastPathRequest } from '../../http/fast-path-request.ts';
import type { JsonAnswer } from '../../http/response-finalizer.ts';
import { toResponse } from './answer.ts';
import type { Dialect } from './dialect.ts';
import {
  type AnyEndpoint,
  type Call,
  describe,
  type Endpoint,
  parameterLocationsOf,
  parseRequest,
} from './endpoint.ts';
import { createEndpointCalls, isOfKind, type ServedEndpoint } from './endpoint-calls.ts';
import { RequestError } from './refusal.ts';
import { fastPathContextOf, type ParamsAt, paramsOf, type RestEnv, requestContextOf } from './request-context.ts';
import { describeTag, tagOf } from './tags.ts';

/** One version on the wire. */
export interface VersionApi {
  /** Adds an endpoint: authenticate, parse, `run`, and encode the result as JSON unless it is already a Response. */
  serve<
    A extends z.ZodType,
    Q extends z.ZodObject = z.ZodObject<Record<never, never>>,
    B extends z.ZodType = z.ZodUndefined,
  >(endpoint: Endpoint<Q, B, A>, run: (call: Call<z.output<Q>, z.output<B>>) => Promise<z.input<A> | Response>): void;
  /** Answers every request; it never rejects. */
  fetch(request: Request, env: RestEnv): Promise<Response>;
  /**
   * The fast path for a GET, or for a POST with JSON, with a key that this process has authenticated recently. It gives
   * the same response as `fetch` without the objects and layers of the normal path. Returns null for a request that
   * must take the normal path; nothing has been done for it then.
   */
  fastPath(
    request: FastPathRequest,
    incoming: IncomingMessage,
    env: RestEnv,
  ): Promise<JsonAnswer | Response | null> | null;
  /** Builds the OpenAPI 3.1 document of all endpoints served so far. */
  document(): object;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Parameters whose values contain slashes that some clients do not encode: names of repositories and branches. */
const isOfSegments: ReadonlySet<string> = new Set(['path', 'branch_name']);

/** A version without endpoints. */
export function createVersionApi(dialect: Dialect, services: Services): VersionApi {
  // Not strict: a slash at the end of a path makes no difference (docs/wire/README.md#paths-and-methods).
  const app = new OpenAPIHono<{ Bindings: RestEnv }>({ strict: false });
  const calls = createEndpointCalls(dialect, services);
  /** Keyed by the router's match. */
  const fastPathRoutes = new Map<unknown, FastPathRoute>();
  const tags = new Map<string, ReturnType<typeof describeTag>>();
  /** Deferred: describing the endpoints takes longer than serving a request, and few clients ask for the document. */
  const undescribed: (() => void)[] = [];
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' });

  const handleUnmatched = (c: HonoContext<{ Bindings: RestEnv }>): Response => {
    const requestContext = requestContextOf(c);
    const refuse = (error: RequestError) => calls.refuse(error, requestContext);
    const path = c.req.path.replace(/(?<=.)\/$/, '');
    const allowedMethods = methods.filter((method) => app.router.match(method, path)[0].length > 0);
    // Two trailing slashes: the router knows the path without one of them, and has not matched it.
    const isFound = allowedMethods.some((method) => method === (c.req.method === 'HEAD' ? 'GET' : c.req.method));
    if (allowedMethods.length === 0 || isFound) return refuse(new RequestError(dialect.unknownRoute, { status: 404 }));
    const taken = allowedMethods.map((method) => (method === 'GET' ? 'GET, HEAD' : method)).join(', ');
    const headers = { allow: `${taken}, OPTIONS` };
    if (c.req.method === 'OPTIONS') return calls.finish(new Response(null, { status: 204, headers }), requestContext);
    return refuse(new RequestError(`Method not allowed: this takes ${taken}.`, { status: 405, headers }));
  };

  app.onError((error, c) => calls.refuse(error, requestContextOf(c)));
  app.notFound(handleUnmatched);

  return {
    serve(endpoint, run) {
      const [, version = ''] = endpoint.paths[0].split('/');
      const isLegacy = (endpoint.deprecation ?? dialect.deprecation) !== undefined;
      const served: ServedEndpoint = {
        endpoint,
        parameterLocations: parameterLocationsOf(endpoint),
        legacy: isLegacy ? { version, route: `${endpoint.method.toUpperCase()} ${endpoint.paths[0]}` } : null,
        async run(requestContext, context) {
          const { query, body } = await parseRequest(endpoint, requestContext);
          return run({
            context,
            query,
            body,
            idempotencyKey: requestContext.header('idempotency-key') ?? null,
            param: (name) => requestContext.param(name) ?? '',
            get request() {
              return requestContext.request;
            },
          });
        },
      };
      const [documented] = endpoint.paths;
      undescribed.push(() => {
        app.openAPIRegistry.registerPath(createRoute(describe(endpoint, documented, dialect)));
      });
      const tag = describeTag(tagOf(documented));
      tags.set(tag.name, tag);
      for (const path of endpoint.paths) {
        const handle = async (c: HonoContext<{ Bindings: RestEnv }>): Promise<Response> => {
          const answer = await calls.answer(served, requestContextOf(c));
          return answer instanceof Response ? answer : toResponse(answer);
        };
        // The router sees paths without a trailing slash; an endpoint that needs the slash checks the URL itself.
        const routed = path
          .replaceAll(/\{(\w+)\}/g, (_, name: string) => (isOfSegments.has(name) ? `:${name}{.+}` : `:${name}`))
          .replace(/(?<=.)\/$/, '');
        app.on(endpoint.method.toUpperCase(), routed, handle);
        if (hasFastPath(endpoint)) fastPathRoutes.set(handle, { served, paramsAt: paramsOf(path) });
      }
    },
    fetch: async (request, env) => app.fetch(request, env),
    fastPath(request, incoming, { address }) {
      const [[match]] = app.router.match(request.method, request.path);
      const route = fastPathRoutes.get(match?.[0][0]);
      const token = readToken(incoming.headers.authorization, false);
      if (!route || token === null || !isOfKind(dialect.credentials, token)) return null;
      const answer = (viewer: Viewer | null) =>
        viewer && calls.answer(route.served, fastPathContextOf(request, incoming, route.paramsAt, address), viewer);
      const cachedViewer = findCachedViewer(services, token, address);
      // If the key cannot be read now, the normal path reads it again and reports the failure.
      return cachedViewer instanceof Promise ? cachedViewer.then(answer, () => null) : answer(cachedViewer);
    },
    document() {
      for (const describeOne of undescribed.splice(0)) describeOne();
      const license = { name: 'Apache-2.0', identifier: 'Apache-2.0' };
      const info = { title: dialect.title, description: dialect.description, version: '1.0.0', license };
      const servers = [{ url: services.baseUrl }];
      return app.getOpenAPI31Document({
        openapi: '3.1.0',
        info,
        servers,
        tags: inOrder(tags),
        security: [{ bearer: [] }],
      });
    },
  };
}

/** One path of an endpoint on the fast path. */
interface FastPathRoute {
  readonly served: ServedEndpoint;
  readonly paramsAt: ParamsAt;
}

// Endpoints that negotiate the content type or receive a file need the Fetch API request.
const hasFastPath = ({ method, body, answer, answerTypes, isAlsoStream }: AnyEndpoint): boolean => {
  const isOfJson = method === 'get' || (method === 'post' && body !== undefined);
  return isOfJson && answer !== undefined && answerTypes === undefined && isAlsoStream !== true;
};

const inOrder = <T>(named: ReadonlyMap<string, T>): T[] => [...named].toSorted().map(([, value]) => value);
