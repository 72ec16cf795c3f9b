import { createRoute, OpenAPIHono, type z } from '@hono/zod-openapi';
import type { Context as HonoContext } from 'hono';
import { readToken } from '../auth/tokens.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { Services } from '../domain/context.ts';
import { DomainError, RateLimitedError } from '../domain/errors.ts';
import { prefixedId } from '../domain/ids.ts';
import { authenticateLimited } from '../domain/limits/authenticate-limited.ts';
import type { Spending } from '../domain/limits/counter.ts';
import { limitHeaders } from '../domain/limits/limit-headers.ts';
import { jsonAnswer, withCaching } from './answer.ts';
import { addressOf, deprecationHeaders } from './deprecation.ts';
import type { Credentials, Dialect } from './dialect.ts';
import { type AnyEndpoint, type Call, describe, type Endpoint, parseRequest, placesOf } from './endpoint.ts';
import { idempotencyHeader, type Places, type Refusal, RequestError, refusalOf } from './refusal.ts';
import { describeTag, tagOf } from './tags.ts';

/** What comes with a request beside itself: the caller's network address. */
export interface RestEnv {
  readonly address: string | null;
}

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
  /** The OpenAPI 3.1 document of all endpoints served so far. */
  document(): object;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
type OwnStatuses = Pick<AnyEndpoint, 'badInput' | 'statusOf'>;
const nowhere: Places = { query: new Set(), path: new Set() };

/** A version without endpoints. */
export function createDoor(dialect: Dialect, services: Services): Door {
  // Not strict: a slash at the end of a path makes no difference (pinned 2).
  const app = new OpenAPIHono<{ Bindings: RestEnv }>({ strict: false });
  const tags = new Map<string, ReturnType<typeof describeTag>>();
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' });

  const refuse = (error: unknown, c: HonoContext, places: Places = nowhere, own: OwnStatuses = {}): Response => {
    const { badInput, statusOf } = own;
    const words = statusOf ? { ...dialect, statusOf: { ...dialect.statusOf, ...statusOf } } : dialect;
    const refusal = toRefusal(error, words, places);
    if (refusal)
      return dialect.problem(
        badInput && refusal.status === 422 ? { ...refusal, status: badInput } : refusal,
        c.req.path,
      );
    services.log.error({ err: error, method: c.req.method, path: c.req.path }, 'A REST request failed unexpectedly.');
    return dialect.problem({ status: 500, message: 'Something went wrong', issues: [] }, c.req.path);
  };

  // What every answer has beside what it says; without an endpoint where the address, or the method, is none.
  const finish = (response: Response, c: HonoContext, endpoint: AnyEndpoint | null, seen: Seen): Response => {
    set(response, limitHeaders(seen.spending));
    const deprecation = endpoint?.deprecation ?? dialect.deprecation;
    if (deprecation) set(response, deprecationHeaders(deprecation, successorOf(endpoint, c, seen.viewer)));
    return withCaching(c.req.raw, response, endpoint?.isAlsoStream === true || endpoint?.answerTypes !== undefined);
  };

  const lost = (c: HonoContext): Response => {
    const path = c.req.path.replace(/(?<=.)\/$/, '');
    const known = methods.filter((method) => app.router.match(method, path)[0].length > 0);
    // Two slashes at the end: the router knows the path without one of them, and has not found it.
    const isFound = known.some((method) => method === (c.req.method === 'HEAD' ? 'GET' : c.req.method));
    if (known.length === 0 || isFound) return refuse(new RequestError(dialect.unknownRoute, { status: 404 }), c);
    const taken = known.map((method) => (method === 'GET' ? 'GET, HEAD' : method)).join(', ');
    const headers = { allow: `${taken}, OPTIONS` };
    if (c.req.method === 'OPTIONS') return new Response(null, { status: 204, headers });
    return refuse(new RequestError(`Method not allowed: this takes ${taken}.`, { status: 405, headers }), c);
  };

  app.onError((error, c) => refuse(error, c));
  app.notFound((c) => finish(lost(c), c, null, { viewer: null, spending: null }));

  return {
    serve(endpoint, run) {
      const places = placesOf(endpoint);
      const isLegacy = (endpoint.deprecation ?? dialect.deprecation) !== undefined;
      const [, version = ''] = endpoint.paths[0].split('/');
      const called = { version, route: `${endpoint.method.toUpperCase()} ${endpoint.paths[0]}` };
      const handle = async (c: HonoContext<{ Bindings: RestEnv }>): Promise<Response> => {
        const seen: Seen = { viewer: null, spending: null };
        try {
          const token = readKey(dialect.credentials, c.req.header('authorization'));
          const viewer = await authenticateLimited(services, token, c.env.address);
          seen.viewer = viewer;
          if (isLegacy) services.legacyUsage.note(viewer, called);
          const spending = await services.limits.rest.spend(viewer.apiKeyId ?? viewer.principal.id);
          seen.spending = spending;
          if (spending?.isAllowed === false) {
            const said = `A key may send ${spending.limit} requests in a minute. Wait and try again.`;
            throw new RateLimitedError(said, spending);
          }
          const { query, body } = await parseRequest(endpoint, c.req.raw);
          const context = { ...services, viewer, address: c.env.address };
          const idempotencyKey = c.req.header(idempotencyHeader) ?? null;
          const param = (name: string) => c.req.param(name) ?? '';
          const result = await run({ context, request: c.req.raw, query, body, idempotencyKey, param });
          const answer = result instanceof Response ? result : jsonAnswer(c.req.raw, result, endpoint.status);
          return finish(answer, c, endpoint, seen);
        } catch (error) {
          return finish(refuse(error, c, places, endpoint), c, endpoint, seen);
        }
      };
      const routes = endpoint.paths.map((path) => createRoute(describe(endpoint, path, dialect)));
      if (routes[0]) app.openAPIRegistry.registerPath(routes[0]);
      const tag = describeTag(tagOf(endpoint.paths[0]));
      tags.set(tag.name, tag);
      for (const route of routes) {
        // The router sees paths without a slash at their end; an endpoint that needs one looks at the address itself.
        app.on(route.method.toUpperCase(), route.getRoutingPath().replace(/(?<=.)\/$/, ''), handle);
      }
    },
    fetch: async (request, env) => app.fetch(request, env),
    document() {
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

/** What is known of a request so far. */
interface Seen {
  viewer: Viewer | null;
  spending: Spending | null;
}

const inOrder = <T>(named: ReadonlyMap<string, T>): T[] => [...named].toSorted().map(([, value]) => value);

function set(response: Response, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
}

// Earlier versions name no organization in their paths: it is the key's.
function successorOf(endpoint: AnyEndpoint | null, c: HonoContext, viewer: Viewer | null): string | null {
  if (endpoint?.successor === undefined) return null;
  const [only = null, ...others] = viewer?.organizations.keys() ?? [];
  const home = viewer?.homeOrganizationId ?? (others.length === 0 ? only : null);
  return addressOf(endpoint.successor, (name) => {
    const given = c.req.param(name);
    if (given !== undefined || name !== 'org_id') return given ?? null;
    return home === null ? null : prefixedId('organization', home);
  });
}

function readKey(credentials: Credentials, header: string | undefined): string | null {
  const token = readToken(header, false);
  if (token === null || credentials.prefixes.some((prefix) => token.startsWith(prefix))) return token;
  throw new RequestError(credentials.wrongKind, { status: 401, headers: { 'www-authenticate': 'Bearer' } });
}

function toRefusal(error: unknown, dialect: Dialect, places: Places): Refusal | null {
  if (error instanceof DomainError) return refusalOf(error, dialect, places);
  if (!(error instanceof RequestError)) return null;
  // Written out: an error's message is not enumerable and would be lost to a spread.
  return { status: error.status, message: error.message, issues: error.issues, headers: error.headers };
}
