import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A received request. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: any;
}

/** A receiver of webhooks on loopback, until the test ends. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  /** Sets the response to later requests; 204 by default. */
  answer(how: (response: ServerResponse, received: Received) => void): void;
  /** Resolves with all requests once they satisfy the condition. */
  waitFor(isEnough: (received: readonly Received[]) => boolean): Promise<readonly Received[]>;
}

/** Starts a receiver. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const checks = new Set<() => void>();
  let how: Parameters<Receiver['answer']>[0] = (response) => void response.writeHead(204).end();
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString('utf8');
    const one = {
      path: request.url ?? '',
      headers: request.headers,
      text,
      body: text === '' ? null : JSON.parse(text),
    };
    received.push(one);
    how(response, one);
    for (const check of [...checks]) check();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    answer(next) {
      how = next;
    },
    waitFor: (isEnough) =>
      new Promise((resolve) => {
        const check = () => {
          if (!isEnough(received)) return;
          checks.delete(check);
          resolve([...received]);
        };
        checks.add(check);
        check();
      }),
  };
}
