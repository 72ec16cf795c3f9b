import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { GraphQLError } from 'graphql';
import { createYoga } from 'graphql-yoga';
import { isAnyoneAllowed } from '../auth/authenticate.ts';
import { readToken } from '../auth/tokens.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { Context, Services } from '../domain/context.ts';
import { DomainError, RateLimitedError } from '../domain/errors.ts';
import { authenticateLimited } from '../domain/limits/authenticate-limited.ts';
import { limitHeaders } from '../domain/limits/limit-headers.ts';
import type { Watches } from '../domain/sessions/watch.ts';
import { chargeLeast, refusalOf } from './charge.ts';
import { type Charge, createContext, type GraphqlContext } from './context.ts';
import { endedBy } from './ended-by.ts';
import { extensionsOf, maskError } from './errors.ts';
import { operationGate } from './operation-gate.ts';
import { BodyError, readBody } from './read-body.ts';
import { schema } from './schema/index.ts';
import { createSockets } from './websocket.ts';

/** The GraphQL door. */
export interface Graphql {
  /** POST and GET as of GraphQL over HTTP, server-sent events, and the explorer for browsers. */
  fetch(request: Request, env: { address: string | null }): Promise<Response>;
  /** A WebSocket, subprotocol graphql-transport-ws. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, address: string | null): void;
  /** Ends every socket and stream. */
  stop(): Promise<void>;
}

/** Makes the door. */
export function createGraphql(services: Services, watches: Watches): Graphql {
  const report = (error: unknown) => services.log.error({ err: error }, 'A GraphQL operation failed.');
  const contextOf = (viewer: () => Viewer, address: string | null, idempotencyKey: string | null): GraphqlContext => {
    const { baseUrl } = services;
    const domain: Context = {
      ...services,
      baseUrl,
      // Asked anew: what a subscription may read changes with the roles of its viewer.
      get viewer() {
        return viewer();
      },
      address,
    };
    return createContext(domain, watches, idempotencyKey);
  };
  const yoga = createYoga<GraphqlContext>({
    schema,
    graphqlEndpoint: '/graphql',
    // Refused by us first, with the right answer; yoga's own page loads its scripts from elsewhere.
    graphiql: false,
    landingPage: false,
    batching: false,
    multipart: false,
    cors: false,
    logging: false,
    healthCheckEndpoint: '/graphql/health-is-elsewhere',
    // Node's own: cancelling the reader of the stream that yoga brings along waits for the next event, and until then, or
    // for ever, a client that has gone stays subscribed.
    fetchAPI: { Request, Response, Headers, ReadableStream },
    maskedErrors: { maskError: (error) => maskError(error, report) },
    plugins: [operationGate()],
  });
  const sockets = createSockets({
    yoga,
    contextOf,
    authenticate: (token, address) => authenticateLimited(services, token, address),
    mayOpen: (address) => isAnyoneAllowed(services, address),
    liveViewers: services.liveViewers,
    log: services.log,
  });
  /** What ends each open stream. */
  const streams = new Set<() => void>();

  const run = async (whole: Request, context: GraphqlContext): Promise<Response> => {
    const response = worded(await yoga.fetch(whole, context));
    await chargeLeast(context);
    return charged(response, context.charge);
  };

  // A stream ends with the service and with its key.
  const stream = async (request: Request, viewer: Viewer, address: string | null, idempotencyKey: string | null) => {
    const ended = new AbortController();
    const end = () => ended.abort();
    const { current, release } = services.liveViewers.follow(viewer, address, end);
    streams.add(end);
    const over = () => {
      streams.delete(end);
      release();
    };
    try {
      const whole = await readBody(request, request.signal);
      return endedBy(ended.signal, await run(whole, contextOf(current, address, idempotencyKey)), over);
    } catch (error) {
      over();
      throw error;
    }
  };

  return {
    upgrade: (...asked) => void sockets.upgrade(...asked),
    async fetch(request, { address }) {
      if (new URL(request.url).pathname.replace(/\/+$/, '') !== '/graphql')
        return failure(404, 'NOT_FOUND', 'There is nothing at this address.');
      if (wantsPage(request)) return page();
      try {
        const token = readToken(request.headers.get('authorization'), false);
        const viewer = await authenticateLimited(services, token, address);
        if (!isAnswerable(request.headers.get('accept'))) {
          const said =
            'The answer is application/json, application/graphql-response+json or text/event-stream: accept one.';
          return failure(406, 'INVALID_INPUT', said);
        }
        const idempotencyKey = request.headers.get('idempotency-key');
        if (!wantsStream(request)) {
          const whole = await readBody(request, request.signal);
          return await run(
            whole,
            contextOf(() => viewer, address, idempotencyKey),
          );
        }
        return await stream(request, viewer, address, idempotencyKey);
      } catch (error) {
        if (error instanceof BodyError) return failure(error.status, 'INVALID_INPUT', error.message);
        if (error instanceof DomainError && error.code === 'UNAUTHENTICATED')
          return failure(401, error.code, error.message);
        if (error instanceof RateLimitedError)
          return refused(new GraphQLError(error.message, { extensions: extensionsOf(error) }));
        report(error);
        return failure(500, 'INTERNAL_SERVER_ERROR', 'Unexpected error.');
      }
    },
    async stop() {
      for (const end of streams) end();
      await sockets.stop();
      await yoga.dispose();
    },
  };
}

const answerTypes =
  /^(?:\*|\*\/\*|application\/(?:\*|json|graphql-response\+json)|text\/(?:\*|event-stream)|multipart\/mixed)$/i;

// Asked before anything is done: Yoga runs the operation first, and finds out that nobody would take the answer then.
function isAnswerable(accept: string | null): boolean {
  const types = (accept ?? '*/*').split(',').map((range) => (range.split(';')[0] ?? '').trim());
  return accept?.trim() === '' || types.some((type) => answerTypes.test(type));
}

// Yoga refuses a body of another type without a word.
function worded(response: Response): Response {
  if (response.status !== 415 || response.body !== null) return response;
  return failure(415, 'INVALID_INPUT', 'The body must be JSON, sent with "Content-Type: application/json".');
}

function wantsPage(request: Request): boolean {
  const isBrowser = request.headers.get('accept')?.includes('text/html') ?? false;
  return request.method === 'GET' && isBrowser && !new URL(request.url).searchParams.has('query');
}

// The page itself holds nothing of anybody's, and needs no token; what it sends does.
function page(): Response {
  const html = renderGraphiQL({
    endpoint: '/graphql',
    title: 'Switchyard',
    subscriptionsProtocol: 'SSE',
    // Letters that a header can hold: the page sends them before anyone has put a token there.
    headers: '{\n  "Authorization": "Bearer put-a-token-here"\n}',
  });
  return new Response(html, { headers: { 'content-type': 'text/html; charset=utf-8' } });
}

/** The answer with what is left of its key's points, or instead of it that there are too few. */
async function charged(response: Response, charge: Charge): Promise<Response> {
  const refusal = refusalOf(charge);
  if (refusal) await response.body?.cancel();
  const answer = refusal ? refused(refusal) : response;
  for (const [name, value] of Object.entries(limitHeaders(charge.spending))) answer.headers.set(name, value);
  return answer;
}

// The same for every type of answer that was asked for.
function refused(error: GraphQLError): Response {
  const headers = { 'retry-after': String(error.extensions.retryAfter) };
  return Response.json({ errors: [error] }, { status: 429, headers });
}

function failure(status: number, code: string, message: string): Response {
  const headers: Record<string, string> = status === 401 ? { 'www-authenticate': 'Bearer' } : {};
  return Response.json({ errors: [{ message, extensions: { code } }] }, { status, headers });
}

function wantsStream(request: Request): boolean {
  return request.headers.get('accept')?.includes('text/event-stream') ?? false;
}
