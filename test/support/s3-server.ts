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
  /** Holds the next request of this method for a segment of a checkpoint in the same way: for any, or for one of these. */
  holdNextSegment(method: 'PUT' | 'GET', ids?: readonly string[]): { readonly reached: Promise<void>; release(): void };
  /** Answers every request with this status and code until the status is null. */
  fail(status: number | null, code?: string): void;
  close(): void;
}

/** Holds one request. */
interface Gate {
  matches(method: string | undefined, path: string): boolean;
  pass(): Promise<void>;
}

/** The credentials that {@link startS3Server} accepts. */
export const s3Credentials = { accessKeyId: 'test-access-key', secretAccessKey: 'test-secret-key' };

/** Starts a server that accepts every signed request. */
export async function startS3Server(): Promise<S3Server> {
  const objects = new Map<string, Buffer>();
  const requests: string[] = [];
  const gates: Gate[] = [];
  let failure: { readonly status: number; readonly code: string } | null = null;
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://s3').pathname;
    requests.push(`${request.method} ${path}`);
    const gate = gates.find((each) => each.matches(request.method, path));
    if (gate) {
      gates.splice(gates.indexOf(gate), 1);
      await gate.pass();
    }
    if (failure !== null) {
      request.resume();
      return fail(response, failure.status, failure.code);
    }
    const { searchParams } = new URL(request.url ?? '/', 'http://s3');
    if (searchParams.has('list-type')) return list(objects, path, searchParams, response);
    void answer(objects, path, request, response);
  });
  const hold = (matches: Gate['matches']) => {
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const reached = new Promise<void>((resolve) => {
      const pass = () => {
        resolve();
        return released;
      };
      gates.push({ matches, pass });
    });
    return { reached, release: () => release() };
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    requests,
    holdNext: () => hold((method, path) => method === 'PUT' && !path.includes('/checkpoints/')),
    holdNextSegment: (wanted, ids) =>
      hold((method, path) => {
        const [, id = ''] = /\/checkpoints\/[^/]+\/(.+)$/.exec(path) ?? [];
        return method === wanted && id !== '' && (ids === undefined || ids.includes(id));
      }),
    fail(status, code = 'ServiceUnavailable') {
      failure = status === null ? null : { status, code };
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

/** Answers a list of the objects of a bucket with a prefix; with a delimiter, of the folders and objects right below it. */
function list(objects: Map<string, Buffer>, bucket: string, query: URLSearchParams, response: ServerResponse): void {
  const root = `${bucket.replace(/\/$/, '')}/`;
  const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter') ?? ''];
  const keys = [...objects.keys()]
    .filter((path) => path.startsWith(root + prefix))
    .map((path) => path.slice(root.length));
  const endOf = (key: string) => (delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length));
  const folders = new Set(keys.filter((key) => endOf(key) >= 0).map((key) => key.slice(0, endOf(key) + 1)));
  const items = [
    ...keys.filter((key) => endOf(key) < 0).map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`),
    ...[...folders].map((folder) => `<CommonPrefixes><Prefix>${folder}</Prefix></CommonPrefixes>`),
  ];
  response.writeHead(200, { 'content-type': 'application/xml' });
  response.end(
    `<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>${items.join('')}</ListBucketResult>`,
  );
}

function fail(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}
