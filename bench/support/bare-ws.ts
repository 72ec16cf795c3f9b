// The baseline of subscriptions: `ws`, which sends a prepared frame to every socket on request.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { serveRequests } from './processes.ts';

/** Its requests: to listen, which returns its port, or to send. */
export type BareWsRequest = { readonly act: 'listen' } | { readonly act: 'send'; readonly frame: string };

let server: WebSocketServer | null = null;
let ready: { text: string; frame: Buffer } | null = null;

serveRequests<BareWsRequest>(async (request) => {
  if (request.act === 'listen') {
    server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }
  if (ready?.text !== request.frame) ready = { text: request.frame, frame: Buffer.from(request.frame) };
  for (const socket of server?.clients ?? []) socket.send(ready.frame, { binary: false });
  return null;
});
