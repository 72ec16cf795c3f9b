import type { Duplex } from 'node:stream';

/** The time that a client may take to read the response, in ms. */
const timeoutMs = 1_000;

/**
 * Sends a response and closes the connection, which has no current request. It reads and drops further data of the
 * client: unread data would reset the connection before the client has the response.
 */
export function closeWith(socket: Duplex, answer: string): void {
  const timer = setTimeout(() => socket.destroy(), timeoutMs).unref();
  socket.once('close', () => clearTimeout(timer));
  socket.on('error', () => socket.destroy());
  socket.resume();
  socket.end(answer);
}

/** Formats a complete HTTP response for the connection: a plain-text message with `Connection: close`. */
export function closingResponse(status: string, message: string, headers: readonly string[] = []): string {
  const body = `${message}\n`;
  return [
    `HTTP/1.1 ${status}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
