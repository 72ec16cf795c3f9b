import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ExecutionArgs, GraphQLError } from 'graphql';
import { CloseCode, type ServerOptions } from 'graphql-ws';
import { type Extra, useServer } from 'graphql-ws/use/ws';
import type { YogaServerInstance } from 'graphql-yoga';
import { WebSocketServer } from 'ws';
import { readToken } from '../auth/tokens.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { Log } from '../domain/context.ts';
import { DomainError } from '../domain/errors.ts';
import type { GraphqlContext } from './context.ts';

/** What a client may do on one socket. */
export const socketLimits = {
  /** `ws` would take 100 MiB. */
  payloadBytes: 256 * 1_024,
  /** From the upgrade to `connection_init`. */
  initMs: 3_000,
  keepAliveMs: 12_000,
  /** At once. */
  operations: 100,
  /** What a client may take to close its side when the service stops. */
  closeMs: 2_000,
} as const;

/** What {@link createSockets} needs. */
export interface SocketOptions {
  // biome-ignore lint/suspicious/noExplicitAny: the server context is not used on sockets
  readonly yoga: YogaServerInstance<any, any>;
  readonly contextOf: (viewer: Viewer, address: string | null, idempotencyKey: null) => GraphqlContext;
  /** Rejects with UNAUTHENTICATED. */
  readonly authenticate: (token: string | null) => Promise<Viewer>;
  readonly now: () => Date;
  readonly log: Pick<Log, 'debug' | 'error'>;
}

type SocketExtra = Extra & { address?: string | null; viewer?: Viewer };
type EnvelopedArgs = ExecutionArgs & {
  rootValue: { execute: (args: ExecutionArgs) => unknown; subscribe: (args: ExecutionArgs) => unknown };
};

/** The WebSocket side of the door: graphql-transport-ws through the same parse, validate and execute as HTTP. */
export function createSockets(options: SocketOptions) {
  const addresses = new WeakMap<IncomingMessage, string | null>();
  const wss = new WebSocketServer({
    noServer: true,
    maxPayload: socketLimits.payloadBytes,
    handleProtocols: (offered) => (offered.has('graphql-transport-ws') ? 'graphql-transport-ws' : false),
  });
  // By their payloads: an id may be taken again before its last operation has ended.
  const operations = new WeakMap<object, Set<object>>();

  const server: ServerOptions<Record<string, unknown>, SocketExtra> = {
    connectionInitWaitTimeout: socketLimits.initMs,
    execute: (args) => (args as EnvelopedArgs).rootValue.execute(args as ExecutionArgs) as never,
    subscribe: (args) => (args as EnvelopedArgs).rootValue.subscribe(args as ExecutionArgs) as never,
    async onConnect({ connectionParams, extra }) {
      const given = connectionParams?.authorization ?? connectionParams?.Authorization;
      const header = extra.request.headers.authorization;
      const token = typeof given === 'string' ? readToken(given, true) : readToken(header, false);
      try {
        extra.viewer = await options.authenticate(token);
        closeWhenExpired(extra.socket, extra.viewer, options.now());
        return true;
      } catch (error) {
        if (error instanceof DomainError) return false;
        options.log.error({ err: error }, 'A socket could not be authenticated.');
        extra.socket.close(CloseCode.InternalServerError, 'Unexpected error.');
        return false;
      }
    },
    async onSubscribe({ extra }, _id, payload) {
      const open = operations.get(extra) ?? new Set();
      operations.set(extra, open);
      if (open.size >= socketLimits.operations) {
        return [
          new GraphQLError(`A socket may have at most ${socketLimits.operations} operations at once.`, {
            extensions: { code: 'LIMIT_EXCEEDED' },
          }),
        ];
      }
      const address = addresses.get(extra.request) ?? null;
      const { schema, execute, subscribe, contextFactory, parse, validate } = options.yoga.getEnveloped({
        ...options.contextOf(extra.viewer as Viewer, address, null),
        params: payload,
      });
      try {
        const document = parse(payload.query);
        const errors = validate(schema, document);
        if (errors.length > 0) return errors as GraphQLError[];
        open.add(payload);
        const contextValue = await contextFactory();
        const { operationName, variables } = payload;
        const rootValue = { execute, subscribe };
        return {
          schema,
          document,
          operationName,
          variableValues: variables,
          contextValue,
          rootValue,
        } as unknown as ExecutionArgs;
      } catch (error) {
        // A document that does not parse is this operation's error; thrown on, it would close the socket for all.
        if (error instanceof GraphQLError) return [error];
        options.log.error({ err: error }, 'An operation on a socket could not be started.');
        return [new GraphQLError('Unexpected error.', { extensions: { code: 'INTERNAL_SERVER_ERROR' } })];
      }
    },
    onError: ({ extra }, _id, payload) => {
      operations.get(extra)?.delete(payload);
    },
    onComplete: ({ extra }, _id, payload) => {
      operations.get(extra)?.delete(payload);
    },
  };
  // In production means: what goes wrong inside is not told to the client.
  const disposable = useServer({ ...server, isProd: true }, wss, socketLimits.keepAliveMs);

  return {
    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, address: string | null): void {
      addresses.set(request, address);
      wss.handleUpgrade(request, socket, head, (connection) => {
        // graphql-ws listens for the first error only; a second one would end the process.
        connection.on('error', (error) => options.log.debug({ err: error }, 'A socket failed.'));
        wss.emit('connection', connection, request);
      });
    },
    async stop(): Promise<void> {
      // Asked to close first; one that does not answer is not waited for.
      const timer = setTimeout(() => {
        for (const client of wss.clients) client.terminate();
      }, socketLimits.closeMs);
      await disposable.dispose();
      clearTimeout(timer);
    },
  };
}

/** Node's longest timer, 24 days, in milliseconds: a longer one would fire at once. */
export const longestTimerMs = 2 ** 31 - 1;

function closeWhenExpired(socket: SocketExtra['socket'], viewer: Viewer, now: Date): void {
  if (viewer.expiresAt === null) return;
  const leftMs = Math.min(viewer.expiresAt.getTime() - now.getTime(), longestTimerMs);
  const timer = setTimeout(() => socket.close(CloseCode.Forbidden, 'Forbidden'), leftMs).unref();
  socket.once('close', () => clearTimeout(timer));
}
