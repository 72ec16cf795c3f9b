import { readToken } from '../auth/tokens.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { Context, Services } from '../domain/context.ts';
import { DomainError, RateLimitedError } from '../domain/errors.ts';
import { prefixedId } from '../domain/ids.ts';
import type { LegacyRoute } from '../domain/legacy-calls/legacy-usage.ts';
import { authenticateLimited } from '../domain/limits/authenticate-limited.ts';
import type { Spending } from '../domain/limits/counter.ts';
import { limitHeaders } from '../domain/limits/limit-headers.ts';
import { asRefusal } from '../domain/unavailable.ts';
import type { JsonAnswer } from '../http/outside.ts';
import { cachingOf, jsonAnswer } from './answer.ts';
import type { Arrival } from './arrival.ts';
import { addressOf, deprecationHeaders } from './deprecation.ts';
import type { Credentials, Dialect } from './dialect.ts';
import type { AnyEndpoint } from './endpoint.ts';
import { type Places, type Refusal, RequestError, refusalOf } from './refusal.ts';

/** An endpoint, and what it does with a request of somebody. */
export interface ServedEndpoint {
  readonly endpoint: AnyEndpoint;
  readonly places: Places;
  /** Set where calls are counted, because clients should leave it. */
  readonly legacy: LegacyRoute | null;
  /** What is to be answered as JSON, or the answer itself. Rejects with what is refused. */
  readonly run: (arrival: Arrival, context: Context) => Promise<unknown>;
}

/** Answers requests to the endpoints of a version. */
export interface EndpointCalls {
  /** Never rejects. `viewer`: who calls, where that is known already. */
  answer(served: ServedEndpoint, arrival: Arrival, viewer?: Viewer): Promise<JsonAnswer | Response>;
  /** The answer to a request that came to no endpoint. */
  refuse(error: unknown, arrival: Arrival): Response;
  /** An answer to such a request with what every answer has beside what it says. */
  finish(answer: Response, arrival: Arrival): Response;
}

const nowhere: Places = { query: new Set(), path: new Set() };

/** What is known of a request so far. */
interface Seen {
  viewer: Viewer | null;
  spending: Spending | null;
}

const unseen: Readonly<Seen> = { viewer: null, spending: null };

/** See {@link EndpointCalls}. */
export function createEndpointCalls(dialect: Dialect, services: Services): EndpointCalls {
  const refusal = (error: unknown, { method, path }: Arrival, served: ServedEndpoint | null): Response => {
    const { badInput, statusOf } = served?.endpoint ?? {};
    const words = statusOf ? { ...dialect, statusOf: { ...dialect.statusOf, ...statusOf } } : dialect;
    const refused = toRefusal(error, words, served?.places ?? nowhere);
    if (refused)
      return dialect.problem(badInput && refused.status === 422 ? { ...refused, status: badInput } : refused, path);
    services.log.error({ err: error, method, path }, 'A REST request failed unexpectedly.');
    return dialect.problem({ status: 500, message: 'Something went wrong', issues: [] }, path);
  };

  // What every answer has beside what it says; without an endpoint where the address, or the method, is none.
  const finish = <A extends JsonAnswer | Response>(
    answer: A,
    arrival: Arrival,
    endpoint: AnyEndpoint | null,
    { spending, viewer }: Seen,
  ): A => {
    const deprecation = endpoint?.deprecation ?? dialect.deprecation;
    const successor = deprecation ? successorOf(endpoint, arrival, viewer) : null;
    const headers = { ...limitHeaders(spending), ...(deprecation ? deprecationHeaders(deprecation, successor) : {}) };
    const negotiates = endpoint?.isAlsoStream === true || endpoint?.answerTypes !== undefined;
    const caching = cachingOf(arrival.method, answer.status, negotiates);
    if (!(answer instanceof Response)) return { ...answer, headers: { ...answer.headers, ...headers, ...caching } };
    for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value);
    if (!answer.headers.has('cache-control')) answer.headers.set('cache-control', caching['cache-control']);
    answer.headers.append('vary', caching.vary);
    return answer;
  };

  const run = async (served: ServedEndpoint, arrival: Arrival, seen: Seen): Promise<JsonAnswer | Response> => {
    const { endpoint } = served;
    const { address, method } = arrival;
    seen.viewer ??= await authenticateLimited(services, readKey(dialect.credentials, arrival), address);
    const { viewer } = seen;
    if (served.legacy) services.legacyUsage.note(viewer, served.legacy);
    const spending = await services.limits.rest.spend(viewer.apiKeyId ?? viewer.principal.id);
    seen.spending = spending;
    if (spending?.isAllowed === false) {
      const said = `A key may send ${spending.limit} requests in a minute. Wait and try again.`;
      throw new RateLimitedError(said, spending);
    }
    const result = await served.run(arrival, { ...services, viewer, address });
    if (result instanceof Response) return result;
    return jsonAnswer({ method, known: arrival.header('if-none-match') }, result, endpoint.status);
  };

  return {
    refuse: (error, arrival) => finish(refusal(error, arrival, null), arrival, null, unseen),
    finish: (answer, arrival) => finish(answer, arrival, null, unseen),
    async answer(served, arrival, viewer) {
      const seen: Seen = { viewer: viewer ?? null, spending: null };
      const { endpoint } = served;
      try {
        return finish(await run(served, arrival, seen), arrival, endpoint, seen);
      } catch (error) {
        return finish(refusal(error, arrival, served), arrival, endpoint, seen);
      }
    },
  };
}

// Earlier versions name no organization in their paths: it is the key's.
function successorOf(endpoint: AnyEndpoint | null, arrival: Arrival, viewer: Viewer | null): string | null {
  if (endpoint?.successor === undefined) return null;
  const [only = null, ...others] = viewer?.organizations.keys() ?? [];
  const home = viewer?.homeOrganizationId ?? (others.length === 0 ? only : null);
  return addressOf(endpoint.successor, (name) => {
    const given = arrival.param(name);
    if (given !== undefined || name !== 'org_id') return given ?? null;
    return home === null ? null : prefixedId('organization', home);
  });
}

function readKey(credentials: Credentials, arrival: Arrival): string | null {
  const token = readToken(arrival.header('authorization'), false);
  if (token === null || isOfKind(credentials, token)) return token;
  throw new RequestError(credentials.wrongKind, { status: 401, headers: { 'www-authenticate': 'Bearer' } });
}

/** Whether a token is one of those that a version takes, by its prefix. */
export const isOfKind = ({ prefixes }: Credentials, token: string): boolean =>
  prefixes.some((prefix) => token.startsWith(prefix));

function toRefusal(given: unknown, dialect: Dialect, places: Places): Refusal | null {
  const error = asRefusal(given);
  if (error instanceof DomainError) return refusalOf(error, dialect, places);
  if (!(error instanceof RequestError)) return null;
  // Written out: an error's message is not enumerable and would be lost to a spread.
  return { status: error.status, message: error.message, issues: error.issues, headers: error.headers };
}
