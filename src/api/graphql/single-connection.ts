import { randomBytes } from 'node:crypto';
import type { Viewer } from '../../auth/viewer.ts';
import type { Services } from '../../domain/context.ts';
import { type LiveStream, openLiveStream, tooManyStreams } from '../../domain/limits/open-streams.ts';
import { abortableBody } from '../../http/abortable-body.ts';
import { eventStream } from '../../http/event-stream.ts';
import { Reply } from '../../http/reply.ts';
import type { RequestView } from '../../http/request-view.ts';
import { isFromConsole } from '../../http/same-origin.ts';
import { failure, wantsStream } from './answers.ts';
import { type ConnectionOperations, createConnectionOperations } from './connection-operations.ts';
import type { ContextOf } from './context.ts';
import { createOutbox, type Outbox } from './outbox.ts';
import type { Engine } from './prepare-operation.ts';
import { tokenOf } from './single-connection-request.ts';

/**
 * The time from the reservation of a stream to its opening. A lost stream is not reopened; the client reserves a new
 * one.
 */
const openMs = 10_000;

/** Options of {@link createSingleConnections}. */
export interface SingleConnectionOptions {
  readonly engine: Engine;
  readonly services: Pick<Services, 'openStreams' | 'liveViewers' | 'log'>;
  readonly contextOf: ContextOf;
}

interface Connection {
  readonly principalId: string;
  readonly live: LiveStream;
  readonly outbox: Outbox;
  readonly operations: ConnectionOperations;
  readonly ended: AbortController;
  isOpen: boolean;
}

/**
 * Server-sent events on a single connection, with the protocol of graphql-sse: PUT reserves a stream, GET opens it,
 * POST starts an operation whose results go to it, and DELETE ends one. For clients with few connections, such as
 * browsers with HTTP/1.
 */
export function createSingleConnections({ engine, services, contextOf }: SingleConnectionOptions) {
  const connections = new Map<string, Connection>();
  const { log } = services;

  const reserve = (viewer: Viewer, address: string | null): Reply => {
    const ended = new AbortController();
    const end = () => ended.abort();
    const live = openLiveStream(services, { viewer, address }, end);
    if (live === null) return failure(429, 'LIMIT_EXCEEDED', tooManyStreams(services.openStreams));
    const token = randomBytes(24).toString('base64url');
    const outbox = createOutbox();
    const operations = createConnectionOperations({ engine, outbox, log });
    const connection: Connection = {
      principalId: viewer.principal.id,
      live,
      outbox,
      operations,
      ended,
      isOpen: false,
    };
    connections.set(token, connection);
    const unopened = setTimeout(() => {
      if (!connection.isOpen) end();
    }, openMs).unref();
    ended.signal.addEventListener('abort', () => {
      clearTimeout(unopened);
      connections.delete(token);
      live.leave();
      outbox.end();
      operations.end();
    });
    return new Reply(201, { 'content-type': 'text/plain; charset=utf-8' }, token);
  };

  const open = (connection: Connection, request: RequestView): Reply => {
    if (connection.isOpen) return failure(409, 'INVALID_STATE', 'The stream of this token is already open.');
    connection.isOpen = true;
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
    const { ended, outbox } = connection;
    const end = () => ended.abort();
    return new Reply(
      200,
      headers,
      abortableBody(ended.signal, eventStream(outbox), end, () => request.destroy()),
    );
  };

  return {
    /** Handles a request of the single-connection mode, with `text` as its body; its caller is authenticated. */
    async respond(request: RequestView, text: string, viewer: Viewer): Promise<Reply> {
      const { address } = request;
      if (request.method === 'PUT') return reserve(viewer, address);
      const token = tokenOf(request);
      const connection = token === null ? undefined : connections.get(token);
      // A stream of another caller is treated as unknown.
      if (!connection || connection.principalId !== viewer.principal.id)
        return failure(404, 'NOT_FOUND', 'There is no stream of this token: reserve one by PUT.');
      const { live, operations } = connection;
      if (request.method === 'DELETE') return operations.complete(request);
      const isStream = request.method === 'GET' && wantsStream(request.header('accept'));
      if (isStream) return open(connection, request);
      const idempotencyKey = request.header('idempotency-key');
      const isConsole = isFromConsole(request);
      const requestContext = { idempotencyKey, lastEventId: null, isConsole, takesParts: true, takesEvents: true };
      return operations.start(request, text, contextOf(live.current, address, requestContext));
    },
  };
}
