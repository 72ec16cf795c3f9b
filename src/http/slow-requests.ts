import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';

/** Minimum rates at which a request must arrive. */
export interface RequestTimes {
  /** The maximum time for the headers, from the first byte or from the start of the connection, in ms. */
  readonly headersMs: number;
  /** The length of each window in which `minBodyBytes` must arrive, in ms. */
  readonly bodyWindowMs: number;
  /** Bytes of the body that must arrive in each window, unless the body ends in it. */
  readonly minBodyBytes: number;
  /** The interval of both checks, in ms. */
  readonly checkMs: number;
}

/** 20 s for the headers; 8 KiB of the body in each 30 s, with no limit on the total time. */
export const defaultRequestTimes: RequestTimes = {
  headersMs: 20_000,
  bodyWindowMs: 30_000,
  minBodyBytes: 8_192,
  checkMs: 5_000,
};

/** Node's own options: it enforces the time for the headers. A total for the request would end long uploads. */
export function serverTimes({ headersMs, checkMs }: RequestTimes): ServerOptions {
  return { headersTimeout: headersMs, connectionsCheckingInterval: checkMs, requestTimeout: 0 };
}

/** The current window of one request. */
interface Window {
  readonly outgoing: ServerResponse;
  startedAt: number;
  /** Bytes that the connection had received when the window started. */
  receivedBefore: number;
}

/**
 * Ends requests whose body arrives too slowly: with 408, or by closing the connection if a response has begun. Time in which
 * the service itself does not read, because it writes to a slow disk or bucket, does not count. Call it before the server
 * listens. Returns the check that otherwise runs every `checkMs`; `now` is a clock in ms that never goes back.
 */
export function requireBodyRate(
  server: Server,
  { bodyWindowMs, minBodyBytes, checkMs }: RequestTimes,
  now: () => number = () => performance.now(),
): () => void {
  const windows = new Map<IncomingMessage, Window>();
  const refusal = refuse(minBodyBytes, bodyWindowMs);
  function onResponseClosed(this: ServerResponse) {
    // The response may be sent before the body has arrived: the rest of the body must arrive in time too.
    if (this.req.complete) windows.delete(this.req);
  }
  // Before the listener that answers, which may do so at once.
  server.prependListener('request', (incoming, outgoing) => {
    if (!hasBody(incoming)) return;
    windows.set(incoming, { outgoing, startedAt: now(), receivedBefore: incoming.socket.bytesRead });
    outgoing.on('close', onResponseClosed);
  });
  const check = () => {
    const time = now();
    for (const [incoming, window] of windows) {
      const { socket } = incoming;
      if (incoming.complete || socket.destroyed) {
        windows.delete(incoming);
        continue;
      }
      const isOver = time - window.startedAt >= bodyWindowMs;
      if (isBackpressured(incoming) || (isOver && socket.bytesRead - window.receivedBefore >= minBodyBytes)) {
        window.startedAt = time;
        window.receivedBefore = socket.bytesRead;
      } else if (isOver) {
        windows.delete(incoming);
        end(incoming, window.outgoing, refusal);
      }
    }
  };
  server.once('listening', () => {
    const timer = setInterval(check, checkMs).unref();
    server.once('close', () => clearInterval(timer));
  });
  return check;
}

function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  return encoding !== undefined || (length !== undefined && length !== '0');
}

// From here on Node reads nothing of the connection until the handler reads.
function isBackpressured(incoming: IncomingMessage): boolean {
  return incoming.readableLength >= incoming.readableHighWaterMark;
}

function end({ socket }: IncomingMessage, outgoing: ServerResponse, refusal: string): void {
  // A response without a socket waits for an earlier one on the same connection, or has been sent.
  if (outgoing.headersSent || outgoing.socket === null) {
    socket.destroy();
    return;
  }
  socket.write(refusal);
  socket.destroySoon();
}

// Written past the ServerResponse, which belongs to a handler that still waits for the body.
function refuse(minBytes: number, windowMs: number): string {
  const detail = `The body arrived too slowly: at least ${minBytes} bytes must arrive in every ${windowMs / 1_000} seconds.`;
  const body = JSON.stringify({ type: 'about:blank', title: 'Request Timeout', status: 408, detail });
  const head = [
    'HTTP/1.1 408 Request Timeout',
    'Content-Type: application/problem+json',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  return [...head, '', body].join('\r\n');
}
