import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createYoga } from 'graphql-yoga';
import { isAnyoneAllowed } from '../../auth/authenticate.ts';
import type { Viewer } from '../../auth/viewer.ts';
import type { Context, Services } from '../../domain/context.ts';
import type { Watches } from '../../domain/sessions/watch.ts';
import { openLiveStream, tooManyStreams } from '../../domain/usage/limits/open-streams.ts';
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
import { createPlans } from './execution/plans.ts';
import { explorer, findExplorerAsset, wantsExplorer } from './explorer.ts';
import { createGraphqlFastPath, type GraphqlFastPath } from './fast-path.ts';
import { operationGate } from './operation-gate.ts';
import { readBody } from './read-body.ts';
import { schema } from './schema/index.ts';
import { createSingleConnections } from './single-connection.ts';
import { tokenOf } from './single-connection-request.ts';
import type { TrustedDocuments } from './trusted-documents.ts';
import { useEventStreams } from './use-event-streams.ts';
import { createSockets } from './websocket.ts';

/** What the operator decides about this door. */
export interface GraphqlOptions {
  readonly trusted: TrustedDocuments;
  /** Whether the schema may be asked for. */
  readonly isIntrospectable: boolean;
  /** Whether browsers get the explorer. */
  readonly hasExplorer: boolean;
  /** The most heap that cached documents may take, in bytes. */
  readonly cacheBytes: number;
}

/** Where a request comes from. */
export interface GraphqlCaller {
  readonly address: string | null;
  /** Cuts the connection, with all that waits to be sent on it. */
  readonly cut: () => void;
}

/** The GraphQL door. */
export interface Graphql {
  /** POST and GET as of GraphQL over HTTP, server-sent events in both modes, and the explorer for browsers. */
  fetch(request: Request, env: GraphqlCaller): Promise<Response>;
  /** The short way of plain queries, which all others go past. */
  readonly fastPath: GraphqlFastPath;
  /** A WebSocket, subprotocol graphql-transport-ws. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, address: string | null): void;
  /** Ends every socket; the streams of all doors are to be ended before. */
  stop(): Promise<void>;
}

/** Makes the door. */
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
    // Not for queries: what has such a field takes longer to make, and ten times as long to copy.
    if (typeof viewer === 'function') Object.defineProperty(domain, 'viewer', { get: viewer, enumerable: true });
    return createContext({ domain, watches, estimate }, requestContext);
  };
  const mask = (error: unknown) => maskError(error, report);
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
    // Texts that do not parse are parsed again: there is no end of them, and their errors hold the text.
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
      // Yoga rejects when the client leaves. A request that holds nothing to run costs the least also then.
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
        // Yoga rejects with this reason when the client leaves before the answer: nobody reads it, and nothing has failed.
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

// Without a token the other address takes operations too, each with a connection of its own.
function atGraphql(request: Request): Request {
  const url = new URL(request.url);
  url.pathname = '/graphql';
  const { method, headers, body, signal } = request;
  return new Request(url, { method, headers, body, signal, ...(body ? { duplex: 'half' } : {}) } as RequestInit);
}
