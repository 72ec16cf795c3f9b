import { EventEmitter, once } from 'node:events';
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
  const server = createServer(inFlight.wrap(createPipeline({ respond, corsOrigins: [], addressOf: () => null, log })));
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

it('cancels the streams of all pipelined requests when their connection closes', async () => {
  const cancelled: string[] = [];
  const progress = new EventEmitter();
  const { port, inFlight, problems } = await serve(async ({ path }) => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(`${path}\n`)),
      cancel: () => {
        if (cancelled.push(path) === paths.length) progress.emit('cancelled');
      },
    });
    return new Reply(200, {}, body);
  });
  const wire = connectRaw(port);
  wire.send(paths.map(get).join(''));
  await wire.waitFor(/\/0\n/);
  const allCancelled = once(progress, 'cancelled');
  wire.socket.destroy();
  await allCancelled;
  expect(cancelled.toSorted()).toEqual(paths.toSorted());
  // A stop does not wait for their responses.
  await inFlight.finish(60_000);
  expect(problems).toEqual([]);
});

it('tells the handlers of all pipelined requests that the client disconnected', async () => {
  const progress = new EventEmitter();
  const allStarted = once(progress, 'started');
  const open = new Set(paths);
  const { port, inFlight, problems } = await serve(async ({ path, signal }) => {
    if (path === paths.at(-1)) progress.emit('started');
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    open.delete(path);
    return new Reply(200, {}, 'too late');
  });
  const wire = connectRaw(port);
  wire.send(paths.map(get).join(''));
  await allStarted;
  wire.socket.destroy();
  await inFlight.finish(60_000);
  expect({ open: [...open], problems }).toEqual({ open: [], problems: [] });
});

it('sends the responses to pipelined requests in their order', async () => {
  let answerFirst: () => void = () => undefined;
  const { port, inFlight } = await serve(async ({ path }) => {
    if (path === '/0') await new Promise<void>((resolve) => (answerFirst = resolve));
    else if (path === '/19') setImmediate(() => answerFirst());
    return new Reply(200, path === '/19' ? { connection: 'close' } : {}, path);
  });
  const wire = connectRaw(port);
  wire.send(paths.map(get).join(''));
  expect((await wire.closed).match(/(?<=\r\n\r\n)\/\d+/g)).toEqual(paths);
  await inFlight.finish(60_000);
});
