import type { Duplex } from 'node:stream';

/** How long a client may take to read the answer, in ms. */
const timeoutMs = 1_000;

/**
 * Sends an answer and closes the connection, with which no request is associated. It reads and drops what the client still
 * sends: unread data would reset the connection before the client has the answer.
 */
export function closeWith(socket: Duplex, answer: string): void {
  const timer = setTimeout(() => socket.destroy(), timeoutMs).unref();
  socket.once('close', () => clearTimeout(timer));
  socket.on('error', () => socket.destroy());
  socket.resume();
  socket.end(answer);
}

/** Returns an answer as it is sent over the connection: a sentence as plain text, after which the connection closes. */
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
