import { createRoute, OpenAPIHono, type z } from '@hono/zod-openapi';
import type { Services } from '../../domain/context.ts';
import { Reply } from '../../http/reply.ts';
import type { RequestView } from '../../http/request-view.ts';
import type { Dialect } from './dialect.ts';
import { type Call, describe, type Endpoint, parameterLocationsOf, parseRequest } from './endpoint.ts';
import { createEndpointCalls, type ServedEndpoint } from './endpoint-calls.ts';
import { RequestError } from './refusal.ts';
import type { RequestContext } from './request-context.ts';
import { createRoutes, routedPath } from './routes.ts';
import { describeTag, tagOf } from './tags.ts';

/** One version on the wire. */
export interface VersionApi {
  /** Adds an endpoint: authenticate, parse, `run`, and encode the result as JSON unless it is already a Reply. */
  serve<
    A extends z.ZodType,
    Q extends z.ZodObject = z.ZodObject<Record<never, never>>,
    B extends z.ZodType = z.ZodUndefined,
  >(endpoint: Endpoint<Q, B, A>, run: (call: Call<z.output<Q>, z.output<B>>) => Promise<z.input<A> | Reply>): void;
  /** Answers every request; it never rejects. */
  respond(request: RequestView): Promise<Reply>;
  /** Builds the OpenAPI 3.1 document of all endpoints served so far. */
  document(): object;
}

/** A version without endpoints. */
export function createVersionApi(dialect: Dialect, services: Services): VersionApi {
  /** Only for the document: it serves no request. */
  const described = new OpenAPIHono();
  const routes = createRoutes<ServedEndpoint>();
  const calls = createEndpointCalls(dialect, services);
  const tags = new Map<string, ReturnType<typeof describeTag>>();
  /** Deferred: describing the endpoints takes longer than serving a request, and few clients ask for the document. */
  const undescribed: (() => void)[] = [];
  described.openAPIRegistry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' });

  const answerUnmatched = (requestContext: RequestContext): Reply => {
    const { method } = requestContext.request;
    const refuse = (error: RequestError) => calls.refuse(error, requestContext);
    const path = requestContext.path.replace(/(?<=.)\/$/, '');
    const taken = routes.allowed(path);
    // Two trailing slashes: the router knows the path without one of them, and has not matched it.
    const isFound = routes.find(method, path) !== null;
    if (taken === '' || isFound) return refuse(new RequestError(dialect.unknownRoute, { status: 404 }));
    const headers = { allow: `${taken}, OPTIONS` };
    if (method === 'OPTIONS') return calls.finish(new Reply(204, headers), requestContext);
    return refuse(new RequestError(`Method not allowed: this route accepts ${taken}.`, { status: 405, headers }));
  };

  return {
    serve(endpoint, run) {
      const [, version = ''] = endpoint.paths[0].split('/');
      const isLegacy = (endpoint.deprecation ?? dialect.deprecation) !== undefined;
      const served: ServedEndpoint = {
        endpoint,
        parameterLocations: parameterLocationsOf(endpoint),
        legacy: isLegacy ? { version, route: `${endpoint.method.toUpperCase()} ${endpoint.paths[0]}` } : null,
        async run({ request, param }, context) {
          const { query, body } = await parseRequest(endpoint, request);
          const idempotencyKey = request.header('idempotency-key');
          return run({ context, request, query, body, idempotencyKey, param: (name) => param(name) ?? '' });
        },
      };
      const [documented] = endpoint.paths;
      undescribed.push(() => {
        described.openAPIRegistry.registerPath(createRoute(describe(endpoint, documented, dialect)));
        const tag = describeTag(tagOf(documented));
        tags.set(tag.name, tag);
      });
      for (const path of endpoint.paths) routes.add(endpoint.method.toUpperCase(), path, served);
    },
    async respond(request) {
      const path = routedPath(request.path);
      const match = routes.find(request.method, path);
      const requestContext: RequestContext = { request, path, param: match?.param ?? noParam };
      const reply = match ? await calls.answer(match.route, requestContext) : answerUnmatched(requestContext);
      return request.method === 'HEAD' ? reply.withoutBody() : reply;
    },
    document() {
      for (const describeOne of undescribed.splice(0)) describeOne();
      const license = { name: 'Apache-2.0', identifier: 'Apache-2.0' };
      const info = { title: dialect.title, description: dialect.description, version: '1.0.0', license };
      const servers = [{ url: services.baseUrl }];
      return described.getOpenAPI31Document({
        openapi: '3.1.0',
        info,
        servers,
        tags: inOrder(tags),
        security: [{ bearer: [] }],
      });
    },
  };
}

const noParam = () => undefined;

const inOrder = <T>(named: ReadonlyMap<string, T>): T[] => [...named].toSorted().map(([, value]) => value);
