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
import type { JsonAnswer } from '../../http/response-finalizer.ts';
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
  /** Never rejects. `viewer`: the caller, if already known. */
  answer(served: ServedEndpoint, requestContext: RequestContext, viewer?: Viewer): Promise<JsonAnswer | Response>;
  /** The response to a request that matches no endpoint. */
  refuse(error: unknown, requestContext: RequestContext): Response;
  /** Adds the common headers to the response of such a request. */
  finish(answer: Response, requestContext: RequestContext): Response;
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
  const refusal = (error: unknown, { method, path }: RequestContext, served: ServedEndpoint | null): Response => {
    const { badInput, statusOf } = served?.endpoint ?? {};
    const mapping = statusOf ? { ...dialect, statusOf: { ...dialect.statusOf, ...statusOf } } : dialect;
    const refused = toRefusal(error, mapping, served?.parameterLocations ?? noParameters);
    if (refused)
      return dialect.problem(badInput && refused.status === 422 ? { ...refused, status: badInput } : refused, path);
    services.log.error({ err: error, method, path }, 'A REST request failed unexpectedly.');
    return dialect.problem({ status: 500, message: 'Something went wrong', issues: [] }, path);
  };

  // Adds the headers that every response has. `served` is missing where the path or the method is unknown.
  const finish = <A extends JsonAnswer | Response>(
    answer: A,
    requestContext: RequestContext,
    endpoint: AnyEndpoint | null,
    { spending, viewer }: RequestState,
  ): A => {
    const deprecation = endpoint?.deprecation ?? dialect.deprecation;
    const successor = deprecation ? successorOf(endpoint, requestContext, viewer) : null;
    const headers = { ...limitHeaders(spending), ...(deprecation ? deprecationHeaders(deprecation, successor) : {}) };
    const negotiates = endpoint?.isAlsoStream === true || endpoint?.answerTypes !== undefined;
    const caching = cachingOf(requestContext.method, answer.status, negotiates);
    if (!(answer instanceof Response)) return { ...answer, headers: { ...answer.headers, ...headers, ...caching } };
    for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value);
    if (!answer.headers.has('cache-control')) answer.headers.set('cache-control', caching['cache-control']);
    answer.headers.append('vary', caching.vary);
    return answer;
  };

  const run = async (
    served: ServedEndpoint,
    requestContext: RequestContext,
    state: RequestState,
  ): Promise<JsonAnswer | Response> => {
    const { endpoint } = served;
    const { address, method } = requestContext;
    state.viewer ??= await authenticateLimited(services, readKey(dialect.credentials, requestContext), address);
    const { viewer } = state;
    if (served.legacy) services.legacyUsage.record(viewer, served.legacy);
    const spending = await services.limits.rest.spend(viewer.apiKeyId ?? viewer.principal.id);
    state.spending = spending;
    if (spending?.isAllowed === false) {
      const message = `A key may send ${spending.limit} requests in a minute. Wait and try again.`;
      throw new RateLimitedError(message, spending);
    }
    const result = await served.run(requestContext, { ...services, viewer, address });
    if (result instanceof Response) return result;
    return jsonAnswer({ method, ifNoneMatch: requestContext.header('if-none-match') }, result, endpoint.status);
  };

  return {
    refuse: (error, requestContext) => finish(refusal(error, requestContext, null), requestContext, null, initialState),
    finish: (answer, requestContext) => finish(answer, requestContext, null, initialState),
    async answer(served, requestContext, viewer) {
      const state: RequestState = { viewer: viewer ?? null, spending: null };
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

function readKey(credentials: Credentials, requestContext: RequestContext): string | null {
  const token = readToken(requestContext.header('authorization'), false);
  if (token === null || isOfKind(credentials, token)) return token;
  throw new RequestError(credentials.wrongKind, { status: 401, headers: { 'www-authenticate': 'Bearer' } });
}

/** Returns true if a version accepts tokens with this prefix. */
export const isOfKind = ({ prefixes }: Credentials, token: string): boolean =>
  prefixes.some((prefix) => token.startsWith(prefix));

function toRefusal(thrown: unknown, dialect: Dialect, parameterLocations: ParameterLocations): Refusal | null {
  const error = asRefusal(thrown);
  if (error instanceof DomainError) return refusalOf(error, dialect, parameterLocations);
  if (!(error instanceof RequestError)) return null;
  // Lists the members: an error's message is not enumerable, so a spread would lose it.
  return { status: error.status, message: error.message, issues: error.issues, headers: error.headers };
}
