import type { Server, ServerOptions, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { closeWith, closingAnswer } from './close-with.ts';

/** Bytes that the headers of a request may have together. A browser can send hundreds of KiB of cookies; few hosts set so many. */
const maxHeaderBytes = 64 * 1_024;

/** Options for the HTTP server. */
export const headerLimit: ServerOptions = { maxHeaderSize: maxHeaderBytes };

const tooLarge = closingAnswer(
  '431 Request Header Fields Too Large',
  `The headers of the request have more than ${maxHeaderBytes / 1_024} KiB. In a browser the cookies of this host are too large: ` +
    'the browser is asked to delete them. Reload the page; if that does not help, delete the cookies of this host yourself.',
  ['Cache-Control: no-store', 'Clear-Site-Data: "cookies"'],
);

// Node's own answers, which it no longer sends once there is a listener.
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
 * Answers what Node cannot read as a request. For too many headers this is 431 and `Clear-Site-Data: "cookies"`: a server on
 * another port of the host can set cookies that make every request of a browser too large. All else is answered as Node does.
 */
export function refuseUnreadable(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: HttpSocket) => {
    // A response that has begun must not have another in its middle.
    const hasBegun = socket._httpMessage?.headersSent === true;
    if (!socket.writable || hasBegun) {
      // Data that arrives after an answer of `closeWith` is unreadable too: that closes the connection by itself.
      if (!socket.writableEnded) socket.destroy(error);
      return;
    }
    if (error.code === 'HPE_HEADER_OVERFLOW') closeWith(socket, tooLarge);
    else socket.end(answers.get(error.code) ?? badRequest, () => socket.destroy());
  });
}
