import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The part of S3 that files need, in memory: one bucket, path style. */
export interface S3Server {
  readonly endpoint: string;
  /** The stored objects by bucket and key. */
  readonly objects: Map<string, Buffer>;
  /** Method and path of every request, in order. */
  readonly requests: string[];
  /** Holds the next uploaded object that is no part of a checkpoint: `reached` resolves once it has arrived, and `release` stores it. */
  holdNext(): { readonly reached: Promise<void>; release(): void };
  /** Answers every request with this status until it is null. */
  fail(status: number | null): void;
  close(): void;
}

/** Starts a server that accepts every signed request. */
export async function startS3Server(): Promise<S3Server> {
  const objects = new Map<string, Buffer>();
  const requests: string[] = [];
  let gate: (() => Promise<void>) | null = null;
  let failure: number | null = null;
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://s3').pathname;
    requests.push(`${request.method} ${path}`);
    const pass = request.method === 'PUT' && !path.includes('/checkpoints/') ? gate : null;
    if (pass) gate = null;
    await pass?.();
    if (failure !== null) {
      request.resume();
      return fail(response, failure, 'ServiceUnavailable');
    }
    void answer(objects, path, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    requests,
    holdNext() {
      let release: () => void = () => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const reached = new Promise<void>((resolve) => {
        gate = () => {
          resolve();
          return released;
        };
      });
      return { reached, release: () => release() };
    },
    fail(status) {
      failure = status;
    },
    close: () => server.close(),
  };
}

async function answer(
  objects: Map<string, Buffer>,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const isSigned = /^AWS4-HMAC-SHA256 Credential=test-access-key\//.test(request.headers.authorization ?? '');
  if (!isSigned) return fail(response, 403, 'AccessDenied');
  if (request.method === 'PUT') {
    // Real servers accept no object without a length.
    if (request.headers['content-length'] === undefined) return fail(response, 411, 'MissingContentLength');
    objects.set(path, Buffer.concat(chunks));
    response.writeHead(200, { etag: '"x"' }).end();
  } else if (request.method === 'DELETE') {
    objects.delete(path);
    response.writeHead(204).end();
  } else {
    const found = objects.get(path);
    if (!found) return fail(response, 404, 'NoSuchKey');
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    const body = start === undefined ? found : found.subarray(Number(start), Number(end) + 1);
    response.writeHead(start === undefined ? 200 : 206, { 'content-length': body.length }).end(body);
  }
}

function fail(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}
