import { readToken } from '../../auth/tokens.ts';
import type { Viewer } from '../../auth/viewer.ts';
import { DomainError, RateLimitedError } from '../../common/errors.ts';
import type { Context, Services } from '../../domain/context.ts';
import { prefixedId } from '../../domain/ids.ts';
import type { LegacyRoute } from '../../domain/legacy-usage.ts';
import { authenticateLimited } from '../../domain/limits/authenticate-limited.ts';
import type { Spending } from '../../domain/limits/counter.ts';
import { limitHeaders } from '../../domain/limits/limit-headers.ts';
import { asRefusal } from '../../domain/unavailable.ts';
import { appended, Reply } from '../../http/reply.ts';
import type { RequestView } from '../../http/request-view.ts';
import { tracedStore } from '../../tracing/traced-store.ts';
import { cachingOf, jsonAnswer } from './answer.ts';
import { addressOf, deprecationHeaders } from './deprecation.ts';
import type { Credentials, Dialect } from './dialect.ts';
import type { AnyEndpoint } from './endpoint.ts';
import { type ParameterLocations, type Refusal, RequestError, refusalOf } from './refusal.ts';
import type { RequestContext } from './request-context.ts';

/** An endpoint together with the function that runs it. */
export interface ServedEndpoint {
  readonly endpoint: AnyEndpoint;
  readonly parameterLocations: ParameterLocations;
  /** Set if calls of the endpoint are counted because clients should stop using it. */
  readonly legacy: LegacyRoute | null;
  /** Resolves to the JSON value of the response, or to the response itself. Rejects if the request is refused. */
  readonly run: (requestContext: RequestContext, context: Context) => Promise<unknown>;
}

/** Answers requests to the endpoints of a version. */
export interface EndpointCalls {
  /** Authenticates the caller, runs the endpoint, and presents its result or error. Never rejects. */
  answer(served: ServedEndpoint, requestContext: RequestContext): Promise<Reply>;
  /** The response to a request that matches no endpoint. */
  refuse(error: unknown, requestContext: RequestContext): Reply;
  /** Adds the common headers to the response of such a request. */
  finish(reply: Reply, requestContext: RequestContext): Reply;
}

const noParameters: ParameterLocations = { query: new Set(), path: new Set() };

/** The state of a request while it is handled. */
interface RequestState {
  viewer: Viewer | null;
  spending: Spending | null;
}

const initialState: Readonly<RequestState> = { viewer: null, spending: null };

/** See {@link EndpointCalls}. */
export function createEndpointCalls(dialect: Dialect, services: Services): EndpointCalls {
  const refusal = (error: unknown, { request, path }: RequestContext, served: ServedEndpoint | null): Reply => {
    const { badInput, statusOf } = served?.endpoint ?? {};
    const mapping = statusOf ? { ...dialect, statusOf: { ...dialect.statusOf, ...statusOf } } : dialect;
    const refused = toRefusal(error, mapping, served?.parameterLocations ?? noParameters);
    if (refused)
      return dialect.problem(badInput && refused.status === 422 ? { ...refused, status: badInput } : refused, path);
    services.log.error(
      { err: error, requestId: request.id, method: request.method, path },
      'A REST request failed unexpectedly.',
    );
    return dialect.problem({ status: 500, message: 'Something went wrong', issues: [] }, path);
  };

  // Adds the headers that every response has. `endpoint` is null where the path or the method is unknown.
  const finish = (
    reply: Reply,
    requestContext: RequestContext,
    endpoint: AnyEndpoint | null,
    { spending, viewer }: RequestState,
  ): Reply => {
    const deprecation = endpoint?.deprecation ?? dialect.deprecation;
    const successor = deprecation ? successorOf(endpoint, requestContext, viewer) : null;
    const headers = { ...limitHeaders(spending), ...(deprecation ? deprecationHeaders(deprecation, successor) : {}) };
    const negotiates = endpoint?.isAlsoStream === true || endpoint?.answerTypes !== undefined;
    const caching = cachingOf(requestContext.request.method, reply.status, negotiates);
    return reply.with({
      ...headers,
      'cache-control': reply.headers['cache-control'] ?? caching['cache-control'],
      'vary': appended(reply.headers.vary, caching.vary),
    });
  };

  const run = async (served: ServedEndpoint, requestContext: RequestContext, state: RequestState): Promise<Reply> => {
    const { request } = requestContext;
    const { address } = request;
    const viewer = await authenticateLimited(services, readKey(dialect.credentials, request), address);
    state.viewer = viewer;
    request.principalId = viewer.principal.id;
    if (served.legacy) services.legacyUsage.record(viewer, served.legacy);
    const spending = await services.limits.rest.spend(viewer.apiKeyId ?? viewer.principal.id);
    state.spending = spending;
    if (spending?.isAllowed === false) {
      const message = `A key may send ${spending.limit} requests in a minute. Wait and try again.`;
      throw new RateLimitedError(message, spending);
    }
    const { span } = request;
    span?.rename(`${request.method} ${served.endpoint.paths[0]}`);
    span?.set({ 'http.route': served.endpoint.paths[0] });
    const store = span === null ? services.store : tracedStore(services.store, { span });
    const result = await served.run(requestContext, { ...services, store, viewer, address });
    return result instanceof Reply ? result : jsonAnswer(request, result, served.endpoint.status);
  };

  return {
    refuse: (error, requestContext) => finish(refusal(error, requestContext, null), requestContext, null, initialState),
    finish: (reply, requestContext) => finish(reply, requestContext, null, initialState),
    async answer(served, requestContext) {
      const state: RequestState = { ...initialState };
      const { endpoint } = served;
      try {
        return finish(await run(served, requestContext, state), requestContext, endpoint, state);
      } catch (error) {
        return finish(refusal(error, requestContext, served), requestContext, endpoint, state);
      }
    },
  };
}

// Earlier versions name no organization in their paths: the key decides it.
function successorOf(
  endpoint: AnyEndpoint | null,
  requestContext: RequestContext,
  viewer: Viewer | null,
): string | null {
  if (endpoint?.successor === undefined) return null;
  const [only = null, ...others] = viewer?.organizations.keys() ?? [];
  const home = viewer?.homeOrganizationId ?? (others.length === 0 ? only : null);
  return addressOf(endpoint.successor, (name) => {
    const value = requestContext.param(name);
    if (value !== undefined || name !== 'org_id') return value ?? null;
    return home === null ? null : prefixedId('organization', home);
  });
}

function readKey({ prefixes, wrongKind }: Credentials, request: RequestView): string | null {
  const token = readToken(request.header('authorization'), false);
  if (token === null || prefixes.some((prefix) => token.startsWith(prefix))) return token;
  throw new RequestError(wrongKind, { status: 401, headers: { 'www-authenticate': 'Bearer' } });
}

function toRefusal(thrown: unknown, dialect: Dialect, parameterLocations: ParameterLocations): Refusal | null {
  const error = asRefusal(thrown);
  if (error instanceof DomainError) return refusalOf(error, dialect, parameterLocations);
  if (!(error instanceof RequestError)) return null;
  // Lists the members: an error's message is not enumerable, so a spread would lose it.
  return { status: error.status, message: error.message, issues: error.issues, headers: error.headers };
}
