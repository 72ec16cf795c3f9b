import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createYoga } from 'graphql-yoga';
import { isAnyoneAllowed } from '../../auth/authenticate.ts';
import type { Viewer } from '../../auth/viewer.ts';
import type { Context, Services } from '../../domain/context.ts';
import { openLiveStream, tooManyStreams } from '../../domain/limits/open-streams.ts';
import type { Watches } from '../../domain/subscriptions/watches.ts';
import { abortableBody } from '../../http/abortable-body.ts';
import { Reply } from '../../http/reply.ts';
import { type RequestView, withoutEndSlashes } from '../../http/request-view.ts';
import { isFromConsole } from '../../http/same-origin.ts';
import { tracedStore } from '../../tracing/traced-store.ts';
import {
  charged,
  failure,
  failureOf,
  findBadAddress,
  findMismatch,
  notAcceptable,
  takesParts,
  wantsStream,
} from './answers.ts';
import { createCallers, signInHeader } from './callers.ts';
import { chargeMinimum } from './charge.ts';
import { type ContextOf, createContext, type GraphqlContext, type RequestContext } from './context.ts';
import { maskError } from './errors.ts';
import { createEstimate } from './estimate.ts';
import { explorer, findExplorerAsset, wantsExplorer } from './explorer.ts';
import { toReply, toRequest } from './fetch-adapter.ts';
import { operationGate } from './operation-gate.ts';
import { createOperationTrace } from './operation-trace.ts';
import { createPlans } from './plans/plans.ts';
import { createPostHandler } from './post.ts';
import { readText } from './read-body.ts';
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

/** The GraphQL API. */
export interface Graphql {
  /** Handles POST and GET of GraphQL over HTTP, server-sent events in both modes, and the explorer for browsers. */
  respond(request: RequestView): Promise<Reply>;
  /** Handles a WebSocket with the subprotocol graphql-transport-ws. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, address: string | null): void;
  /** Closes every socket. End the streams of all APIs before. */
  stop(): Promise<void>;
}

/** Creates the {@link Graphql} API. */
export function createGraphql(services: Services, watches: Watches, options: GraphqlOptions): Graphql {
  const { trusted, isIntrospectable, hasExplorer } = options;
  const { liveViewers, log, openStreams } = services;
  const report = (error: unknown): string => {
    const errorId = randomUUID();
    log.error({ err: error, errorId }, 'A GraphQL operation failed.');
    return errorId;
  };
  const plans = createPlans(schema, { maxBytes: options.cacheBytes, isTrusted: trusted.has });
  const estimate = createEstimate({ schema, plans, trusted, isIntrospectable });
  const contextOf: ContextOf = (viewer, address, requestContext) => {
    const present = typeof viewer === 'function' ? viewer() : viewer;
    const isConsole = requestContext.isConsole === true || present.consoleSessionId !== undefined;
    const { trace = null } = requestContext;
    const store = trace === null ? services.store : tracedStore(services.store, trace);
    const domain: Context = { ...services, store, baseUrl: services.baseUrl, viewer: present, address, isConsole };
    // Not for queries: an object with an accessor takes longer to create, and ten times as long to copy.
    if (typeof viewer === 'function') Object.defineProperty(domain, 'viewer', { get: viewer, enumerable: true });
    return createContext({ domain, watches, estimate }, requestContext);
  };
  const mask = (error: unknown) => maskError(error, report);
  const gate = { trusted, plans, isIntrospectable, maskError: mask };
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
    plugins: [operationGate(gate), useEventStreams()],
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
    tracing: services.tracing,
  });
  const connections = createSingleConnections({ engine, services, contextOf });

  const answerPost = createPostHandler({ ...gate, yoga });

  // For what Yoga answers: GET, streams, results in parts, and the refusals of other methods.
  const answerByYoga = async (request: RequestView, text: string | null, context: GraphqlContext): Promise<Reply> => {
    let response: Response;
    try {
      response = await yoga.fetch(toRequest(request, text), context);
    } finally {
      // Yoga rejects when the client disconnects. A request without an operation costs the minimum in that case too.
      await chargeMinimum(context);
      context.trace?.end(null);
    }
    const isUnexplained = response.status === 406 && response.body === null;
    return charged(isUnexplained ? notAcceptable() : await toReply(response), context.charge);
  };

  // A stream ends with the service and with its key.
  const stream = async (request: RequestView, viewer: Viewer, requestContext: RequestContext): Promise<Reply> => {
    const { address } = request;
    const ended = new AbortController();
    const live = openLiveStream(services, { viewer, address }, () => ended.abort());
    if (live === null) return failure(429, 'LIMIT_EXCEEDED', tooManyStreams(services.openStreams));
    const { current, leave } = live;
    try {
      const text = await bodyOf(request);
      const reply = await answerByYoga(request, text, contextOf(current, address, requestContext));
      if (reply.body instanceof ReadableStream) {
        const body = abortableBody(ended.signal, reply.body, leave, () => request.destroy());
        return new Reply(reply.status, reply.headers, body);
      }
      leave();
      return reply;
    } catch (error) {
      leave();
      throw error;
    }
  };

  const answerOperation = async (request: RequestView, viewer: Viewer): Promise<Reply> => {
    const accept = request.header('accept');
    const takesEvents = wantsStream(accept);
    const requestContext = {
      idempotencyKey: request.header('idempotency-key'),
      lastEventId: request.header('last-event-id') || null,
      isConsole: isFromConsole(request),
      takesParts: takesParts(accept),
      takesEvents,
      // A stream may last for days.
      trace: request.span === null || takesEvents ? null : createOperationTrace(request.span),
    };
    if (takesEvents) return stream(request, viewer, requestContext);
    const text = await bodyOf(request);
    const context = contextOf(viewer, request.address, requestContext);
    const isPost = request.method === 'POST' && text !== null && !requestContext.takesParts;
    const reply = await (isPost ? answerPost(request, text, context) : answerByYoga(request, text, context));
    return viewer.consoleSessionId === undefined ? reply : reply.with({ [signInHeader]: viewer.consoleSessionId });
  };

  return {
    upgrade: (...args) => void sockets.upgrade(...args),
    async respond(request) {
      const path = withoutEndSlashes(request.path);
      try {
        if (path !== '/graphql' && path !== '/graphql/stream') {
          const asset = hasExplorer ? await findExplorerAsset(request) : null;
          return asset ?? failure(404, 'NOT_FOUND', 'Nothing exists at this address.');
        }
        if (hasExplorer && wantsExplorer(request)) return await explorer();
        const viewer = await callers.ofRequest(request);
        request.principalId = viewer.principal.id;
        const isSingle = path === '/graphql/stream' && (request.method === 'PUT' || tokenOf(request) !== null);
        const mismatch = isSingle && request.method !== 'POST' ? null : findMismatch(request);
        if (mismatch) return mismatch;
        if (isSingle) return await connections.respond(request, (await bodyOf(request)) ?? '', viewer);
        return findBadAddress(request) ?? (await answerOperation(request, viewer));
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

/** The body of a request; null for a method that has none. */
const bodyOf = async (request: RequestView): Promise<string | null> =>
  request.method === 'GET' || request.method === 'HEAD' ? null : readText(request);
