import { once } from 'node:events';
import { connect } from 'node:net';
import type { TestApp } from './rest-app.ts';

/** The maximum life of a connection; one that is not answered and closed by then hangs. */
export const patienceMs = 10_000;

/**
 * Sends raw bytes on a separate connection and waits for its end; returns the response, which may be empty.
 * `endAfterMs`: when to end the request, for data that may be incomplete; a server then need not answer.
 */
export async function exchange(
  test: Pick<TestApp, 'url'>,
  bytes: Uint8Array | string,
  endAfterMs?: number,
): Promise<string> {
  const { hostname, port } = new URL(test.url);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.on('data', (data) => {
    answer += data.toString('latin1');
  });
  // A reset also closes a connection.
  socket.on('error', () => undefined);
  socket.write(bytes);
  const timers = [setTimeout(() => socket.destroy(), patienceMs)];
  if (endAfterMs !== undefined) timers.push(setTimeout(() => socket.end(), endAfterMs));
  const started = performance.now();
  await once(socket, 'close');
  for (const timer of timers) clearTimeout(timer);
  const isLate = performance.now() - started >= patienceMs;
  if (isLate) throw new Error(`The connection was still open after ${patienceMs} ms: ${answer}`);
  return answer;
}
