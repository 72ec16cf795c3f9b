import type { Server, ServerOptions, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { closeWith, closingResponse } from './close-with.ts';

/**
 * The maximum size of a request's headers in total. A browser can send hundreds of KiB of cookies; few hosts set so
 * many.
 */
const maxHeaderBytes = 64 * 1_024;

/** Options for the HTTP server. */
export const headerLimit: ServerOptions = { maxHeaderSize: maxHeaderBytes };

/**
 * The size of cookies from which on a server of the host is assumed to make requests too large. Other cookies stay far
 * below.
 */
const minCookieBytes = 16_384;

/** The time for which request heads on new connections are measured after one that was too large, in ms. */
const measureMs = 60_000;

const cookieName = 'cookie:';

const status = '431 Request Header Fields Too Large';
const message = `The address and the headers of the request have more than ${maxHeaderBytes / 1_024} KiB.`;
const tooLarge = closingResponse(
  status,
  `${message} In a browser, reload the page; if that does not help, delete the cookies of this host.`,
  ['Cache-Control: no-store'],
);
const cookiesTooLarge = closingResponse(
  status,
  `${message} In a browser the cookies of this host are too large: the browser is asked to delete all cookies of this site. ` +
    'Reload the page; if that does not help, delete the cookies of this host yourself.',
  ['Cache-Control: no-store', 'Clear-Site-Data: "cookies"'],
);

// Node's own responses, which it no longer sends once there is a listener.
const answers: ReadonlyMap<string | undefined, string> = new Map([
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 'HTTP/1.1 413 Payload Too Large\r\nConnection: close\r\n\r\n'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n'],
]);
const badRequest = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n';

/** Node's property for the response that is being written to a connection. */
interface HttpSocket extends Duplex {
  readonly _httpMessage?: Pick<ServerResponse, 'headersSent'> | null;
}

/**
 * Answers requests that Node cannot parse. Too many headers get a 431. If cookies are too large, the 431 has
 * `Clear-Site-Data: "cookies"`: a server on another port of the host can set cookies that make every request of a
 * browser too large. A long URL alone does not get this header: every website can make a browser request one, and the
 * header deletes the cookies of the whole domain. Node reports neither size, and measuring costs time, so only new
 * connections are measured, for a minute after a request that was too large. All other errors get the same response as
 * from Node.
 */
export function refuseUnreadable(server: Server): void {
  const heads = new WeakMap<Duplex, Head>();
  let measuredUntil = Number.NEGATIVE_INFINITY;
  server.on('connection', (socket: Duplex) => {
    if (performance.now() < measuredUntil) heads.set(socket, measureHead(socket));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: HttpSocket) => {
    // Another response must not be inserted into one that has started.
    const hasBegun = socket._httpMessage?.headersSent === true;
    if (!socket.writable || hasBegun) {
      // Data that arrives after a response of `closeWith` is unreadable too; `closeWith` closes that connection itself.
      if (!socket.writableEnded) socket.destroy(error);
      return;
    }
    if (error.code !== 'HPE_HEADER_OVERFLOW')
      return void socket.end(answers.get(error.code) ?? badRequest, () => socket.destroy());
    measuredUntil = performance.now() + measureMs;
    closeWith(socket, (heads.get(socket)?.cookieBytes ?? 0) >= minCookieBytes ? cookiesTooLarge : tooLarge);
  });
}

/** Sizes of the head of the first request on a connection; 0 once it has ended. */
interface Head {
  cookieBytes: number;
}

function measureHead(socket: Duplex): Head {
  const head = { cookieBytes: 0 };
  let begin = '';
  const measure = (chunk: Buffer) => {
    for (let from = 0; from < chunk.length; ) {
      const lineBreak = chunk.indexOf('\n', from);
      const part = chunk.subarray(from, lineBreak < 0 ? chunk.length : lineBreak);
      begin = (begin + part.toString('latin1', 0, cookieName.length)).slice(0, cookieName.length);
      if (begin.toLowerCase() === cookieName) head.cookieBytes += part.length;
      if (lineBreak < 0) return;
      if (begin.trim() === '') {
        head.cookieBytes = 0;
        return void socket.off('data', measure);
      }
      begin = '';
      from = lineBreak + 1;
    }
  };
  socket.on('data', measure);
  return head;
}
