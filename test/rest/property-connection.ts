import { once } from 'node:events';
import { connect } from 'node:net';
import type { TestApp } from './rest-app.ts';

/** How long a connection may stay open: what is not answered and closed then hangs. */
export const patienceMs = 10_000;

/**
 * Sends bytes as they are on a connection of their own and waits for its end: what was answered, maybe nothing. `endAfterMs`:
 * when to say that no more comes, for what may not be whole; a server then need not answer.
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
  // A reset is one way of being closed.
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
