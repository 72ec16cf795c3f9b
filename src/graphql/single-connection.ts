import { randomBytes } from 'node:crypto';
import { type ExecutionResult, type GraphQLError, getOperationAST } from 'graphql';
import type { Viewer } from '../auth/viewer.ts';
import type { Log } from '../domain/context.ts';
import type { LiveViewer, LiveViewers } from '../domain/keys/live-viewers.ts';
import { charged, failure } from './answers.ts';
import type { Arrival, GraphqlContext } from './context.ts';
import { endedBy } from './ended-by.ts';
import { eventStream, eventText, jsonOf } from './event-stream.ts';
import type { OpenStreams } from './open-streams.ts';
import { createOutbox, type Outbox } from './outbox.ts';
import { type Engine, isIterable, type OperationResult, prepareOperation } from './prepare-operation.ts';

/** What a client may do on one stream. */
const connectionLimits = {
  /** At once. */
  operations: 100,
  /** From the reservation to the stream, and between two streams of one reservation: there are no two. */
  openMs: 10_000,
  /** Letters of an operation's id. */
  idLength: 255,
} as const;

/** What {@link createSingleConnections} needs. */
export interface SingleConnectionOptions {
  readonly engine: Engine;
  readonly streams: OpenStreams;
  readonly liveViewers: LiveViewers;
  readonly contextOf: (viewer: () => Viewer, address: string | null, arrival: Arrival) => GraphqlContext;
  readonly log: Pick<Log, 'error'>;
}

interface Connection {
  readonly principalId: string;
  readonly live: LiveViewer;
  readonly outbox: Outbox;
  readonly ended: AbortController;
  /** What ends each operation; null while it begins. */
  readonly operations: Map<string, (() => void) | null>;
  isOpen: boolean;
}

/**
 * Server-sent events on a single connection, as of the protocol of graphql-sse: PUT reserves a stream, GET opens it, POST
 * starts an operation that answers on it, DELETE ends one. For clients that may open few connections, as browsers with HTTP/1.
 */
export function createSingleConnections(options: SingleConnectionOptions) {
  const connections = new Map<string, Connection>();

  const reserve = (viewer: Viewer, address: string | null): Response => {
    const ended = new AbortController();
    const end = () => ended.abort();
    const leave = options.streams.open('stream', viewer, end);
    if (leave === null) return tooMany(options.streams.most);
    const token = randomBytes(24).toString('base64url');
    const live = options.liveViewers.follow(viewer, address, end);
    const outbox = createOutbox();
    const principalId = viewer.principal.id;
    const connection: Connection = { principalId, live, outbox, ended, operations: new Map(), isOpen: false };
    connections.set(token, connection);
    const unopened = setTimeout(() => {
      if (!connection.isOpen) end();
    }, connectionLimits.openMs).unref();
    ended.signal.addEventListener('abort', () => {
      clearTimeout(unopened);
      connections.delete(token);
      leave();
      live.release();
      outbox.end();
      for (const stop of connection.operations.values()) stop?.();
      connection.operations.clear();
    });
    return new Response(token, { status: 201, headers: { 'content-type': 'text/plain; charset=utf-8' } });
  };

  const open = (connection: Connection, cut: () => void): Response => {
    if (connection.isOpen) return failure(409, 'INVALID_STATE', 'The stream of this token is open already.');
    connection.isOpen = true;
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
    const response = new Response(eventStream(connection.outbox), { headers });
    return endedBy(connection.ended.signal, response, () => connection.ended.abort(), cut);
  };

  const start = async (connection: Connection, request: Request, address: string | null): Promise<Response> => {
    const params = await paramsOf(request);
    if (params instanceof Response) return params;
    const id = idOf(params);
    if (id === null) {
      const said = `"extensions.operationId" must be a text of 1 to ${connectionLimits.idLength} letters.`;
      return failure(400, 'INVALID_INPUT', said);
    }
    const { operations } = connection;
    if (operations.has(id)) return failure(409, 'INVALID_STATE', 'There is an operation of this id on the stream.');
    const idempotencyKey = request.headers.get('idempotency-key');
    const arrival = { idempotencyKey, lastEventId: null, takesParts: true };
    const context = options.contextOf(connection.live.current, address, arrival);
    if (operations.size >= connectionLimits.operations) {
      const said = `A stream may have at most ${connectionLimits.operations} operations at once.`;
      return failure(429, 'LIMIT_EXCEEDED', said);
    }
    operations.set(id, null);
    const answer = await begin(connection, id, context, params, request.method).catch((error: unknown) => {
      operations.delete(id);
      throw error;
    });
    return charged(answer, context.charge);
  };

  const begin = async (
    { operations, outbox, ended }: Connection,
    id: string,
    context: GraphqlContext,
    params: Readonly<Record<string, unknown>>,
    method: string,
  ): Promise<Response> => {
    const prepared = await prepareOperation(options.engine, context, params);
    if (prepared.errors !== null) {
      operations.delete(id);
      return Response.json({ errors: prepared.errors }, { status: 400 });
    }
    const { args } = prepared;
    const operation = getOperationAST(args.document, args.operationName)?.operation;
    if (operation === undefined || (operation === 'mutation' && method === 'GET')) {
      operations.delete(id);
      return operation === undefined
        ? failure(400, 'BAD_REQUEST', 'The document must have the operation that "operationName" names.')
        : failure(405, 'BAD_REQUEST', 'A mutation must be sent by POST.');
    }
    const result = await prepared[operation === 'subscription' ? 'subscribe' : 'execute'](args);
    const stop = () => {
      if (isIterable(result))
        result[Symbol.asyncIterator]()
          .return?.()
          .catch(() => undefined);
    };
    // Ended or completed while it began: nobody else would end it.
    if (ended.signal.aborted || !operations.has(id)) stop();
    else {
      operations.set(id, stop);
      deliver(outbox, id, result, () => operations.get(id) === stop)
        .catch((error: unknown) => options.log.error({ err: error }, 'An operation on a stream failed.'))
        .finally(() => {
          if (operations.get(id) === stop) operations.delete(id);
        });
    }
    return new Response(null, { status: 202 });
  };

  const complete = ({ operations }: Connection, request: Request): Response => {
    const id = new URL(request.url).searchParams.get('operationId');
    if (id === null) return failure(400, 'INVALID_INPUT', 'The address must name the operation: "?operationId=…".');
    operations.get(id)?.();
    operations.delete(id);
    return new Response(null, { status: 200 });
  };

  return {
    /** Answers a request to the address of single connections, whose caller is known. `cut` ends its connection. */
    async fetch(request: Request, viewer: Viewer, address: string | null, cut: () => void): Promise<Response> {
      if (request.method === 'PUT') return reserve(viewer, address);
      const token = tokenOf(request);
      const connection = token === null ? undefined : connections.get(token);
      // Another's is like one that never was.
      if (token === null || !connection || connection.principalId !== viewer.principal.id)
        return failure(404, 'NOT_FOUND', 'There is no stream of this token: reserve one by PUT.');
      if (request.method === 'DELETE') return complete(connection, request);
      const isStream = request.method === 'GET' && request.headers.get('accept')?.includes('text/event-stream');
      if (isStream) return open(connection, cut);
      return start(connection, request, address);
    },
  };
}

/** The token of a stream that a request names, if any. */
export function tokenOf(request: Request): string | null {
  return request.headers.get('x-graphql-event-stream-token') ?? new URL(request.url).searchParams.get('token');
}

/** 429 for one stream more than a principal may have. */
export function tooMany(most: number): Response {
  return failure(429, 'LIMIT_EXCEEDED', `At most ${most} sockets and streams may be open at once: close one first.`);
}

async function deliver(outbox: Outbox, id: string, result: OperationResult, isWanted: () => boolean): Promise<void> {
  const put = (each: ExecutionResult) =>
    outbox.put(eventText('next', `{"id":${JSON.stringify(id)},"payload":${jsonOf(each)}}`));
  try {
    const results = isIterable(result) ? result : [result];
    for await (const each of results) {
      if (!isWanted()) return;
      await put(each);
    }
  } catch (error) {
    if (isWanted()) await put({ errors: [error as GraphQLError] });
  }
  if (isWanted()) await outbox.put(eventText('complete', JSON.stringify({ id })));
}

async function paramsOf(request: Request): Promise<Readonly<Record<string, unknown>> | Response> {
  try {
    if (request.method === 'POST') {
      const body: unknown = await request.json();
      if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
      return failure(400, 'BAD_REQUEST', 'The body must be a JSON object: batches are not taken.');
    }
    const given = Object.fromEntries(new URL(request.url).searchParams);
    const { variables, extensions } = given;
    return {
      ...given,
      variables: variables ? JSON.parse(variables) : undefined,
      extensions: extensions ? JSON.parse(extensions) : undefined,
    };
  } catch {
    return failure(400, 'BAD_REQUEST', 'The request must be JSON.');
  }
}

function idOf({ extensions }: Readonly<Record<string, unknown>>): string | null {
  const id = (extensions as { operationId?: unknown } | null | undefined)?.operationId;
  return typeof id === 'string' && id !== '' && id.length <= connectionLimits.idLength ? id : null;
}
