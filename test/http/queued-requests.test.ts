import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createPipeline } from '../../src/http/create-pipeline.ts';
import { createInFlight } from '../../src/http/in-flight.ts';
import { Reply } from '../../src/http/reply.ts';
import type { RequestView } from '../../src/http/request-view.ts';
import { connectRaw } from '../support/raw-http.ts';

/** Serves requests by a function, and returns the port. */
async function serve(respond: (request: RequestView) => Promise<Reply>) {
  const problems: unknown[] = [];
  const log = { error: (fields: object) => void problems.push(fields) };
  const inFlight = createInFlight();
  const server = createServer(
    inFlight.wrap(createPipeline({ respond, corsOrigins: [], addressOf: () => null, log, logAccess: null })),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, inFlight, problems };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const paths = Array.from({ length: 20 }, (_, n) => `/${n}`);

it('answers pipelined requests one after another, in their order', async () => {
  const started: string[] = [];
  let open = 0;
  const { port, inFlight } = await serve(async ({ path }) => {
    started.push(path);
    open += 1;
    // Other requests would start here.
    await new Promise(setImmediate);
    expect(open).toBe(1);
    open -= 1;
    return new Reply(200, path === paths.at(-1) ? { connection: 'close' } : {}, path);
  });
  const wire = connectRaw(port);
  wire.send(paths.map(get).join(''));
  expect((await wire.closed).match(/(?<=\r\n\r\n)\/\d+/g)).toEqual(paths);
  expect(started).toEqual(paths);
  await inFlight.finish(60_000);
});

it('starts no further request when the connection closes, and counts none as in progress', async () => {
  const started: string[] = [];
  const { port, inFlight, problems } = await serve(async ({ path }) => {
    started.push(path);
    return new Reply(200, {}, new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from('begun')) }));
  });
  const wire = connectRaw(port);
  wire.send(paths.map(get).join(''));
  await wire.waitFor(/begun/);
  wire.socket.destroy();
  // A stop waits for all requests in progress.
  await inFlight.finish(60_000);
  expect({ started, problems }).toEqual({ started: ['/0'], problems: [] });
});

it('closes a connection on which too many requests wait', async () => {
  const aborted: string[] = [];
  const { port, inFlight } = await serve(async ({ path, signal }) => {
    await once(signal, 'abort');
    aborted.push(path);
    return new Reply(200);
  });
  const wire = connectRaw(port);
  wire.send(get('/0').repeat(102));
  expect(await wire.closed).toBe('');
  await inFlight.finish(60_000);
  expect(aborted).toEqual(['/0']);
});
