import type { ServerResponse } from 'node:http';
import type { RequestView } from './request-view.ts';

/** The fields of a line of the access log. */
export interface AccessEntry {
  readonly requestId: string;
  readonly method: string;
  /** Without the query, which may hold a signature. */
  readonly path: string;
  readonly status: number;
  /** The time until the whole response was sent, or the connection closed. */
  readonly durationMs: number;
  /** The bytes of the response, with its headers. */
  readonly responseBytes: number;
  readonly address: string | null;
  /** The principal by its unprefixed id; null: the request was not authenticated. */
  readonly principalId: string | null;
  readonly userAgent: string | null;
  /** True if the client disconnected before it had the whole response. */
  readonly isAborted: boolean;
}

const maxLength = 500;

/** Calls `write` with the entry of a request when its response has ended. */
export function recordAccess(
  request: RequestView,
  outgoing: ServerResponse,
  write: (entry: AccessEntry) => void,
): void {
  const startedAt = performance.now();
  const { socket } = outgoing;
  // A connection has one response at a time.
  const bytesBefore = socket?.bytesWritten ?? 0;
  outgoing.once('close', () =>
    write({
      requestId: request.id,
      method: request.method,
      path: request.path.slice(0, maxLength),
      status: outgoing.statusCode,
      durationMs: Math.round((performance.now() - startedAt) * 10) / 10,
      responseBytes: (socket?.bytesWritten ?? 0) - bytesBefore,
      address: request.address,
      principalId: request.principalId,
      userAgent: request.header('user-agent')?.slice(0, maxLength) ?? null,
      isAborted: !outgoing.writableFinished,
    }),
  );
}
