import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ExecutionArgs, type ExecutionResult, GraphQLError } from 'graphql';
import { CloseCode, makeServer, type ServerOptions } from 'graphql-ws';
import { WebSocketServer } from 'ws';
import type { LiveViewer, LiveViewers } from '../../auth/live-viewers.ts';
import { DomainError, RateLimitedError } from '../../common/errors.ts';
import type { Log } from '../../domain/context.ts';
import type { OpenStreams } from '../../domain/limits/open-streams.ts';
import { isOutage } from '../../domain/unavailable.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import type { Callers } from './callers.ts';
import { chargeMinimum } from './charge.ts';
import type { ContextOf } from './context.ts';
import { outageHeaders } from './errors.ts';
import { tooDeep } from './operation-ids.ts';
import { createSocketTrace, type OperationTrace } from './operation-trace.ts';
import { createPings } from './pings.ts';
import type { Plans } from './plans/plans.ts';
import { type Engine, isIterable, type OperationResult, prepareOperation } from './prepare-operation.ts';
import { type SocketExtra, serveSocket } from './serve-socket.ts';
import { createSocketDelivery } from './subscription-delivery.ts';
import { createSharedResults } from './subscription-results.ts';

/** Limits of one socket. */
export const socketLimits = {
  /** The default of `ws` is 100 MiB. */
  payloadBytes: 256 * 1_024,
  /** From the upgrade to `connection_init`. */
  initMs: 3_000,
  keepAliveMs: 12_000,
  /** Concurrent operations. */
  operations: 100,
  /** The time for a client to close its side when the service stops. */
  closeMs: 2_000,
  /** The same for a client that is closed because it does not read. */
  slowMs: 10_000,
} as const;

/** The close code for a socket beyond a principal's limit: clients do not retry it automatically. */
const tooManySockets = CloseCode.TooManyInitialisationRequests;

/** The reason of a close with 4403: the same text for every problem with the token, at the start or later. */
const noGoodToken = 'The token is missing, unknown, expired or revoked';

/**
 * The close code during an outage: 1013, Try Again Later. graphql-ws reconnects such a socket, and each of its
 * subscriptions at the client's cursor; after most of its own codes (4xxx), and after 1011, it does not.
 */
const unavailable = { code: 1013, reason: 'Try again later' } as const;

/** Options of {@link createSockets}. */
export interface SocketOptions {
  readonly engine: Engine;
  readonly streams: OpenStreams;
  /** `viewer`: the current viewer, read whenever it matters. */
  readonly contextOf: ContextOf;
  readonly callers: Pick<Callers, 'ofSocket'>;
  /** Resolves to true if a socket may be opened from an address. */
  readonly mayOpen: (address: string | null) => Promise<boolean>;
  readonly liveViewers: LiveViewers;
  readonly plans: Plans;
  readonly maskError: (error: unknown) => GraphQLError;
  readonly log: Pick<Log, 'debug' | 'error'>;
  readonly tracing: Pick<Tracing, 'start'>;
}

type EnvelopedArgs = ExecutionArgs & {
  rootValue: { execute: (args: ExecutionArgs) => unknown; subscribe: (args: ExecutionArgs) => unknown };
};

/** The WebSocket API: graphql-transport-ws, with the same parsing, validation and execution as HTTP. */
export function createSockets(options: SocketOptions) {
  const wss = new WebSocketServer({
    noServer: true,
    maxPayload: socketLimits.payloadBytes,
    handleProtocols: (offered) => (offered.has('graphql-transport-ws') ? 'graphql-transport-ws' : false),
  });
  const viewers = new WeakMap<SocketExtra, LiveViewer>();
  const shared = createSharedResults(options.plans, options.maskError);
  const pings = createPings(socketLimits.keepAliveMs);

  const server = makeServer<Record<string, unknown>, SocketExtra>({
    connectionInitWaitTimeout: socketLimits.initMs,
    execute: (args) => (args as EnvelopedArgs).rootValue.execute(args as ExecutionArgs) as never,
    subscribe: (args) => (args as EnvelopedArgs).rootValue.subscribe(args as ExecutionArgs) as never,
    async onConnect({ connectionParams, extra }) {
      try {
        const { headers } = extra;
        extra.headers = {};
        const viewer = await options.callers.ofSocket(headers, connectionParams, extra.address);
        const { socket } = extra;
        const leave = options.streams.open('socket', viewer, () => socket.close(1001, 'Going away'));
        if (leave === null) {
          socket.close(tooManySockets, `At most ${options.streams.max} sockets and streams`);
          return false;
        }
        const live = options.liveViewers.follow(viewer, extra.address, () =>
          socket.close(CloseCode.Forbidden, noGoodToken),
        );
        viewers.set(extra, live);
        const over = () => {
          leave();
          live.release();
        };
        if (socket.readyState === socket.OPEN) extra.leave = over;
        else over();
        return true;
      } catch (error) {
        if (error instanceof DomainError) {
          const reason = error instanceof RateLimitedError ? 'Too many failed attempts' : noGoodToken;
          // Sent before graphql-ws closes the socket with "Forbidden" alone.
          extra.socket.close(CloseCode.Forbidden, reason);
          return false;
        }
        if (isOutage(error)) {
          extra.socket.close(unavailable.code, unavailable.reason);
          return false;
        }
        options.log.error({ err: error }, 'A WebSocket could not be authenticated.');
        extra.socket.close(CloseCode.InternalServerError, 'Unexpected error.');
        return false;
      }
    },
    async onSubscribe({ extra }, id, payload) {
      const { open, socket } = extra;
      const { current } = viewers.get(extra) as LiveViewer;
      const delivery = createSocketDelivery(shared, extra.readyMessages, id);
      const span = options.tracing.start('WebSocket operation', { kind: 'server' });
      const trace = span === null ? null : createSocketTrace(span);
      const refuseWith = (...errors: GraphQLError[]) => {
        trace?.end({ errors });
        return errors;
      };
      const context = options.contextOf(current, extra.address, {
        idempotencyKey: null,
        lastEventId: null,
        takesParts: true,
        takesEvents: true,
        delivery,
        trace,
      });
      if (open.size >= socketLimits.operations) {
        await chargeMinimum(context);
        return refuseWith(
          new GraphQLError(`A socket may have at most ${socketLimits.operations} operations at once.`, {
            extensions: { code: 'LIMIT_EXCEEDED' },
          }),
        );
      }
      if (payload.query === tooDeep) {
        await chargeMinimum(context);
        return refuseWith(new GraphQLError('The message nests too deep.', { extensions: { code: 'INVALID_INPUT' } }));
      }
      open.add(id);
      try {
        const prepared = await prepareOperation(options.engine, context, { ...payload });
        if (prepared.errors !== null) {
          open.delete(id);
          return refuseWith(...prepared.errors);
        }
        const { args, execute, subscribe } = prepared;
        const rootValue = {
          execute: trace === null ? execute : traced(execute, trace),
          subscribe: async (subscribeArgs: ExecutionArgs) => {
            const result = await subscribe(subscribeArgs);
            // graphql-ws ends the operations that it knows when a socket closes; an operation that starts later must be
            // ended here.
            if (!isIterable(result)) {
              if (outageHeaders(result.errors)) socket.close(unavailable.code, unavailable.reason);
              return result;
            }
            if (socket.readyState !== socket.OPEN) await result[Symbol.asyncIterator]().return?.();
            const delivered = delivery.begin(subscribeArgs, context);
            if (delivered === null)
              return untilOutage(result, () => socket.close(unavailable.code, unavailable.reason));
            // graphql-ws keeps both for the life of the operation: they would be most of the cost of an idle
            // subscription.
            Object.assign(subscribeArgs, { contextValue: null, rootValue: null, variableValues: null });
            Object.assign(payload, { query: '', variables: null });
            return delivered;
          },
        };
        return { ...args, rootValue } as unknown as ExecutionArgs;
      } catch (error) {
        open.delete(id);
        return refuseWith(options.maskError(error));
      }
    },
    onError: ({ extra }, id) => {
      extra.open.delete(id);
    },
    onComplete: ({ extra }, id) => {
      extra.open.delete(id);
    },
  } satisfies ServerOptions<Record<string, unknown>, SocketExtra>);

  return {
    async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, address: string | null): Promise<void> {
      try {
        if (!(await options.mayOpen(address))) return refuse(socket, '401 Unauthorized');
      } catch (error) {
        if (isOutage(error)) return refuse(socket, '503 Service Unavailable', 'Retry-After: 2');
        options.log.error({ err: error }, 'The permission to open a WebSocket could not be read.');
        return refuse(socket, '500 Internal Server Error');
      }
      wss.handleUpgrade(request, socket, head, (connection) => {
        const { log } = options;
        const open = new Set<string>();
        const { headers } = request;
        const extra = {
          socket: connection,
          connection: socket,
          readyMessages: null,
          headers,
          address,
          open,
          leave: null,
        };
        serveSocket(server, extra, { pings, closeMs: socketLimits.slowMs, log });
      });
    },
    async stop(): Promise<void> {
      for (const client of wss.clients) client.close(1001, 'Going away');
      // Sockets are asked to close first; one that does not reply is terminated.
      const timer = setTimeout(() => {
        for (const client of wss.clients) client.terminate();
      }, socketLimits.closeMs);
      await new Promise<void>((resolve) => wss.close(() => resolve()));
      clearTimeout(timer);
    },
  };
}

// Ends the trace with the result, or with the first one of several.
const traced =
  (execute: (args: ExecutionArgs) => Promise<OperationResult>, trace: OperationTrace) =>
  async (args: ExecutionArgs) => {
    const result = await execute(args);
    trace.end(isIterable(result) ? null : result);
    return result;
  };

/**
 * Passes results on until one of them fails in an outage: otherwise the client would resume after a result that it has
 * not received. Not an async generator, whose return() would wait for the pending result.
 */
function untilOutage(
  results: AsyncIterable<ExecutionResult>,
  close: () => void,
): AsyncIterableIterator<ExecutionResult> {
  const source = results[Symbol.asyncIterator]();
  const end = async (): Promise<IteratorResult<ExecutionResult>> => {
    await source.return?.();
    return { done: true, value: undefined };
  };
  return {
    async next() {
      const step = await source.next();
      if (step.done || !outageHeaders(step.value.errors)) return step;
      close();
      return end();
    },
    return: end,
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

function refuse(socket: Duplex, status: string, header?: string): void {
  const more = header === undefined ? '' : `\r\n${header}`;
  socket.end(`HTTP/1.1 ${status}${more}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
