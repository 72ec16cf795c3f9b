// The baseline of subscriptions: `ws`, which sends a prepared frame to every socket on request, to all at once or to each at
// its own time.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { serveRequests } from './processes.ts';

/** Its requests. */
export type BareWsRequest =
  /** Returns the port. */
  | { readonly act: 'listen' }
  /** A frame to every socket at once. */
  | { readonly act: 'send'; readonly frame: string }
  /** A frame to every socket at this rate, for a duration. Each socket has its own times, spread over the interval. */
  | { readonly act: 'stream'; readonly frame: string; readonly perSecond: number; readonly ms: number };

let server: WebSocketServer | null = null;
let ready: { text: string; frame: Buffer } | null = null;

serveRequests<BareWsRequest>(async (request) => {
  if (request.act === 'listen') {
    server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }
  if (ready?.text !== request.frame) ready = { text: request.frame, frame: Buffer.from(request.frame) };
  const sockets = [...(server?.clients ?? [])];
  if (request.act === 'stream') return stream(sockets, ready.frame, request.perSecond, request.ms);
  for (const socket of sockets) socket.send(ready.frame, { binary: false });
  return null;
});

/** Timers without promises: the baseline is the sending alone. */
async function stream(sockets: readonly WebSocket[], frame: Buffer, perSecond: number, ms: number): Promise<null> {
  const startedAt = performance.now();
  const [gapMs, count] = [1_000 / perSecond, (ms / 1_000) * perSecond];
  const sendAll = (socket: WebSocket, firstMs: number) =>
    new Promise<void>((resolve) => {
      let sent = 0;
      const sendNext = () => {
        socket.send(frame, { binary: false });
        sent += 1;
        if (sent === count) resolve();
        else setTimeout(sendNext, startedAt + firstMs + sent * gapMs - performance.now());
      };
      setTimeout(sendNext, firstMs);
    });
  await Promise.all(sockets.map((socket, n) => sendAll(socket, (n * gapMs) / sockets.length)));
  return null;
}
