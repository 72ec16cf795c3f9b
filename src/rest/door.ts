import type { IncomingMessage } from 'node:http';
import { createRoute, OpenAPIHono, type z } from '@hono/zod-openapi';
import type { Context as HonoContext } from 'hono';
import { findKnownViewer } from '../auth/authenticate.ts';
import { readToken } from '../auth/tokens.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { Services } from '../domain/context.ts';
import type { JsonAnswer } from '../http/outside.ts';
import type { PlainRequest } from '../http/plain-request.ts';
import { toResponse } from './answer.ts';
import { arrivalOf, type ParamsAt, paramsOf, plainArrivalOf, type RestEnv } from './arrival.ts';
import type { Dialect } from './dialect.ts';
import { type AnyEndpoint, type Call, describe, type Endpoint, parseRequest, placesOf } from './endpoint.ts';
import { createEndpointCalls, isOfKind, type ServedEndpoint } from './endpoint-calls.ts';
import { RequestError } from './refusal.ts';
import { describeTag, tagOf } from './tags.ts';

/** One version on the wire. */
export interface Door {
  /** Adds an endpoint: authenticate, parse, `run`, and its result as JSON unless it is a Response already. */
  serve<
    A extends z.ZodType,
    Q extends z.ZodObject = z.ZodObject<Record<never, never>>,
    B extends z.ZodType = z.ZodUndefined,
  >(endpoint: Endpoint<Q, B, A>, run: (call: Call<z.output<Q>, z.output<B>>) => Promise<z.input<A> | Response>): void;
  /** Answers every request; it never rejects. */
  fetch(request: Request, env: RestEnv): Promise<Response>;
  /**
   * The short way of a GET, or of JSON by a POST, by a key that this process has seen lately: the same as by `fetch`, without
   * the objects and layers that all other requests are given. Null for what is to take the long way: nothing has been done for
   * it then.
   */
  plain(asked: PlainRequest, incoming: IncomingMessage, env: RestEnv): Promise<JsonAnswer | Response | null> | null;
  /** The OpenAPI 3.1 document of all endpoints served so far. */
  document(): object;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Parameters whose values have slashes, which some clients do not encode: names of repositories and branches. */
const isOfSegments: ReadonlySet<string> = new Set(['path', 'branch_name']);

/** A version without endpoints. */
export function createDoor(dialect: Dialect, services: Services): Door {
  // Not strict: a slash at the end of a path makes no difference (pinned 2).
  const app = new OpenAPIHono<{ Bindings: RestEnv }>({ strict: false });
  const calls = createEndpointCalls(dialect, services);
  /** By what the router finds. */
  const plainRoutes = new Map<unknown, PlainRoute>();
  const tags = new Map<string, ReturnType<typeof describeTag>>();
  /** To describe what is served takes longer than to serve it, and few ask for the document. */
  const undescribed: (() => void)[] = [];
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' });

  const lost = (c: HonoContext<{ Bindings: RestEnv }>): Response => {
    const arrival = arrivalOf(c);
    const refuse = (error: RequestError) => calls.refuse(error, arrival);
    const path = c.req.path.replace(/(?<=.)\/$/, '');
    const known = methods.filter((method) => app.router.match(method, path)[0].length > 0);
    // Two slashes at the end: the router knows the path without one of them, and has not found it.
    const isFound = known.some((method) => method === (c.req.method === 'HEAD' ? 'GET' : c.req.method));
    if (known.length === 0 || isFound) return refuse(new RequestError(dialect.unknownRoute, { status: 404 }));
    const taken = known.map((method) => (method === 'GET' ? 'GET, HEAD' : method)).join(', ');
    const headers = { allow: `${taken}, OPTIONS` };
    if (c.req.method === 'OPTIONS') return calls.finish(new Response(null, { status: 204, headers }), arrival);
    return refuse(new RequestError(`Method not allowed: this takes ${taken}.`, { status: 405, headers }));
  };

  app.onError((error, c) => calls.refuse(error, arrivalOf(c)));
  app.notFound(lost);

  return {
    serve(endpoint, run) {
      const [, version = ''] = endpoint.paths[0].split('/');
      const isLegacy = (endpoint.deprecation ?? dialect.deprecation) !== undefined;
      const served: ServedEndpoint = {
        endpoint,
        places: placesOf(endpoint),
        legacy: isLegacy ? { version, route: `${endpoint.method.toUpperCase()} ${endpoint.paths[0]}` } : null,
        async run(arrival, context) {
          const { query, body } = await parseRequest(endpoint, arrival);
          return run({
            context,
            query,
            body,
            idempotencyKey: arrival.header('idempotency-key') ?? null,
            param: (name) => arrival.param(name) ?? '',
            get request() {
              return arrival.request;
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
          const answer = await calls.answer(served, arrivalOf(c));
          return answer instanceof Response ? answer : toResponse(answer);
        };
        // The router sees paths without a slash at their end; an endpoint that needs one looks at the address itself.
        const routed = path
          .replaceAll(/\{(\w+)\}/g, (_, name: string) => (isOfSegments.has(name) ? `:${name}{.+}` : `:${name}`))
          .replace(/(?<=.)\/$/, '');
        app.on(endpoint.method.toUpperCase(), routed, handle);
        if (isPlain(endpoint)) plainRoutes.set(handle, { served, paramsAt: paramsOf(path) });
      }
    },
    fetch: async (request, env) => app.fetch(request, env),
    plain(asked, incoming, { address }) {
      const [[match]] = app.router.match(asked.method, asked.path);
      const route = plainRoutes.get(match?.[0][0]);
      const token = readToken(incoming.headers.authorization, false);
      if (!route || token === null || !isOfKind(dialect.credentials, token)) return null;
      const answer = (viewer: Viewer | null) =>
        viewer && calls.answer(route.served, plainArrivalOf(asked, incoming, route.paramsAt, address), viewer);
      const known = findKnownViewer(services, token, address);
      // What cannot be read now is read again, and its failure told, on the long way.
      return known instanceof Promise ? known.then(answer, () => null) : answer(known);
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

/** An endpoint by one of its paths. */
interface PlainRoute {
  readonly served: ServedEndpoint;
  readonly paramsAt: ParamsAt;
}

// What answers by what is accepted, or with a file, asks the request itself.
const isPlain = ({ method, body, answer, answerTypes, isAlsoStream }: AnyEndpoint): boolean => {
  const isOfJson = method === 'get' || (method === 'post' && body !== undefined);
  return isOfJson && answer !== undefined && answerTypes === undefined && isAlsoStream !== true;
};

const inOrder = <T>(named: ReadonlyMap<string, T>): T[] => [...named].toSorted().map(([, value]) => value);
