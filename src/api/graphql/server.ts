import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createYoga } from 'graphql-yoga';
import { isAnyoneAllowed } from '../../auth/authenticate.ts';
import type { Viewer } from '../../auth/viewer.ts';
import type { Context, Services } from '../../domain/context.ts';
import { openLiveStream, tooManyStreams } from '../../domain/limits/open-streams.ts';
import type { Watches } from '../../domain/subscriptions/watches.ts';
import { abortableResponse } from '../../http/abortable-response.ts';
import { isFromConsole } from '../../http/same-origin.ts';
import {
  charged,
  explained,
  failure,
  failureOf,
  findBadAddress,
  findMismatch,
  takesParts,
  wantsStream,
} from './answers.ts';
import { createCallers, signInHeader } from './callers.ts';
import { chargeMinimum } from './charge.ts';
import { type ContextOf, createContext, type GraphqlContext, type RequestContext } from './context.ts';
import { maskError } from './errors.ts';
import { createEstimate } from './estimate.ts';
import { explorer, findExplorerAsset, wantsExplorer } from './explorer.ts';
import { createGraphqlFastPath, type GraphqlFastPath } from './fast-path.ts';
import { operationGate } from './operation-gate.ts';
import { createPlans } from './plans/plans.ts';
import { readBody } from './read-body.ts';
import { schema } from './schema/index.ts';
import { createSingleConnections } from './single-connection.ts';
import { tokenOf } from './single-connection-request.ts';
import type { TrustedDocuments } from './trusted-documents.ts';
import { useEventStreams } from './use-event-streams.ts';
import { createSockets } from './websocket.ts';

/** The operator's settings of the GraphQL API. */
export interface GraphqlOptions {
  readonly trusted: TrustedDocuments;
  /** True if introspection is allowed. */
  readonly isIntrospectable: boolean;
  /** True if browsers get the explorer. */
  readonly hasExplorer: boolean;
  /** The maximum heap for cached documents, in bytes. */
  readonly cacheBytes: number;
}

/** The network side of a request. */
export interface GraphqlCaller {
  readonly address: string | null;
  /** Closes the connection and drops everything that waits to be sent on it. */
  readonly cut: () => void;
}

/** The GraphQL API. */
export interface Graphql {
  /** Handles POST and GET of GraphQL over HTTP, server-sent events in both modes, and the explorer for browsers. */
  fetch(request: Request, env: GraphqlCaller): Promise<Response>;
  /** The fast path for simple queries; all other requests pass it by. */
  readonly fastPath: GraphqlFastPath;
  /** Handles a WebSocket with the subprotocol graphql-transport-ws. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, address: string | null): void;
  /** Closes every socket. End the streams of all APIs before. */
  stop(): Promise<void>;
}

/** Creates the {@link Graphql} API. */
export function createGraphql(services: Services, watches: Watches, options: GraphqlOptions): Graphql {
  const { trusted, isIntrospectable, hasExplorer } = options;
  const { liveViewers, log, openStreams } = services;
  const report = (error: unknown) => log.error({ err: error }, 'A GraphQL operation failed.');
  const plans = createPlans(schema, { maxBytes: options.cacheBytes, isTrusted: trusted.has });
  const estimate = createEstimate({ schema, plans, trusted, isIntrospectable });
  const contextOf: ContextOf = (viewer, address, requestContext) => {
    const present = typeof viewer === 'function' ? viewer() : viewer;
    const isConsole = requestContext.isConsole === true || present.consoleSessionId !== undefined;
    const domain: Context = { ...services, baseUrl: services.baseUrl, viewer: present, address, isConsole };
    // Not for queries: an object with an accessor takes longer to create, and ten times as long to copy.
    if (typeof viewer === 'function') Object.defineProperty(domain, 'viewer', { get: viewer, enumerable: true });
    return createContext({ domain, watches, estimate }, requestContext);
  };
  const mask = (error: unknown) => maskError(error, report);
  const yoga = createYoga<GraphqlContext>({
    schema,
    graphqlEndpoint: '/graphql',
    // Disabled because Yoga's page loads scripts from another host; this service's own check runs first.
    graphiql: false,
    landingPage: false,
    batching: false,
    multipart: false,
    cors: false,
    logging: false,
    healthCheckEndpoint: '/graphql/health-is-elsewhere',
    // Node's own classes: cancelling Yoga's ReadableStream waits for the next event, so a client that has disconnected
    // would stay subscribed until then, or forever.
    fetchAPI: { Request, Response, Headers, ReadableStream },
    // Documents that do not parse are not cached: their number is unlimited, and their errors hold the text.
    parserAndValidationCache: { documentCache: plans.documents, errorCache: { get: () => undefined, set: () => {} } },
    maskedErrors: { maskError: mask },
    plugins: [operationGate({ trusted, plans, isIntrospectable, maskError: mask }), useEventStreams()],
  });
  const engine = { yoga, trusted };
  const callers = createCallers(services);
  const mayOpen = (address: string | null) => isAnyoneAllowed(services, address);
  const sockets = createSockets({
    engine,
    streams: openStreams,
    contextOf,
    callers,
    mayOpen,
    liveViewers,
    plans,
    maskError: mask,
    log,
  });
  const connections = createSingleConnections({ engine, services, contextOf });

  const run = async (bufferedRequest: Request, context: GraphqlContext): Promise<Response> => {
    let response: Response;
    try {
      response = explained(await yoga.fetch(bufferedRequest, context));
    } finally {
      // Yoga rejects when the client disconnects. A request without an operation costs the minimum in that case too.
      await chargeMinimum(context);
    }
    return charged(response, context.charge);
  };

  // A stream ends with the service and with its key.
  const stream = async (
    request: Request,
    viewer: Viewer,
    address: string | null,
    requestContext: RequestContext,
    cut: () => void,
  ) => {
    const ended = new AbortController();
    const live = openLiveStream(services, { viewer, address }, () => ended.abort());
    if (live === null) return failure(429, 'LIMIT_EXCEEDED', tooManyStreams(services.openStreams));
    const { current, leave: over } = live;
    try {
      const bufferedRequest = await readBody(request, request.signal);
      const response = await run(bufferedRequest, contextOf(current, address, requestContext));
      return abortableResponse(ended.signal, response, over, cut);
    } catch (error) {
      over();
      throw error;
    }
  };

  return {
    fastPath: createGraphqlFastPath({ services, plans, trusted, isIntrospectable, contextOf, maskError: mask }),
    upgrade: (...args) => void sockets.upgrade(...args),
    async fetch(request, { address, cut }) {
      const path = new URL(request.url).pathname.replace(/\/+$/, '');
      try {
        if (path !== '/graphql' && path !== '/graphql/stream') {
          const asset = hasExplorer ? await findExplorerAsset(request) : null;
          return asset ?? failure(404, 'NOT_FOUND', 'There is nothing at this address.');
        }
        if (hasExplorer && wantsExplorer(request)) return await explorer();
        const viewer = await callers.ofRequest(request.headers, address);
        const isSingle = path === '/graphql/stream' && (request.method === 'PUT' || tokenOf(request) !== null);
        const mismatch = isSingle && request.method !== 'POST' ? null : findMismatch(request);
        if (mismatch) return mismatch;
        const bad = isSingle ? null : findBadAddress(request);
        if (bad) return bad;
        if (isSingle) {
          const bufferedRequest = await readBody(request, request.signal);
          return await connections.fetch(bufferedRequest, viewer, address, cut);
        }
        const graphqlRequest = path === '/graphql' ? request : atGraphql(request);
        const { headers } = graphqlRequest;
        const requestContext = {
          idempotencyKey: headers.get('idempotency-key'),
          lastEventId: headers.get('last-event-id') || null,
          isConsole: isFromConsole(headers),
          takesParts: takesParts(graphqlRequest),
          takesEvents: wantsStream(graphqlRequest),
        };
        if (wantsStream(graphqlRequest)) return await stream(graphqlRequest, viewer, address, requestContext, cut);
        const bufferedRequest = await readBody(graphqlRequest, graphqlRequest.signal);
        const response = await run(bufferedRequest, contextOf(viewer, address, requestContext));
        if (viewer.consoleSessionId !== undefined) response.headers.set(signInHeader, viewer.consoleSessionId);
        return response;
      } catch (error) {
        const { signal } = request;
        // Yoga rejects with this reason when the client disconnects before the response: nobody reads it, and nothing
        // has failed.
        if (signal.aborted && error === signal.reason) return failure(400, 'BAD_REQUEST', 'The connection was closed.');
        return failureOf(error, report);
      }
    },
    async stop() {
      await sockets.stop();
      await yoga.dispose();
    },
  };
}

// Without a stream token, the single-connection address also takes operations, each with a connection of its own.
function atGraphql(request: Request): Request {
  const url = new URL(request.url);
  url.pathname = '/graphql';
  const { method, headers, body, signal } = request;
  return new Request(url, { method, headers, body, signal, ...(body ? { duplex: 'half' } : {}) } as RequestInit);
}
