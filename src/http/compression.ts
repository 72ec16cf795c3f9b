import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, createGzip, gzip } from 'node:zlib';
import { parseAccept } from 'hono/utils/accept';
import { appended, Reply } from './reply.ts';
import type { RequestView } from './request-view.ts';

/** A smaller response fits into one packet anyway. */
const minBytes = 1_024;

/**
 * Text types that are sent complete. Event streams and multipart are excluded: each of their chunks must be delivered
 * when it is written.
 */
const compressible = /^(?:application\/(?:(?:[\w.-]+\+)?json|x-ndjson)|text\/(?:html|css|javascript))\s*(?:;|$)/i;

// Half the time of the default level, for a few per cent more bytes.
const options = { level: constants.Z_BEST_SPEED + 2 };
const gzipAsync = promisify(gzip);

/**
 * Compresses a response with gzip if it is text of sufficient length and the client accepts gzip. A response of unknown
 * length is compressed while it is written, in chunks and at the pace of the client. Files are not compressed.
 */
export function compressReply(request: RequestView, reply: Reply): Reply | Promise<Reply> {
  if (!isCompressible(reply)) return reply;
  const { status, headers, body } = reply;
  const varying = reply.with({ vary: appended(headers.vary, 'Accept-Encoding') });
  if (status === 304 || !takesGzip(request.header('accept-encoding'))) return varying;
  const length = lengthOf(reply);
  if (length !== null && length < minBytes) return varying;
  // HEAD gets the headers of GET, as far as they are known without the body.
  if (body === null) return length === null ? varying : gzipped(varying, null);
  if (body instanceof ReadableStream) return compressStream(varying, body);
  return gzipAsync(body, options).then((bytes) => gzipped(varying, bytes));
}

function isCompressible({ status, headers }: Reply): boolean {
  if (status === 304) return headers.etag !== undefined;
  if (status === 206 || headers['content-encoding'] || headers['content-disposition']) return false;
  return compressible.test((headers['content-type'] as string | undefined) ?? '');
}

function lengthOf({ headers, body }: Reply): number | null {
  if (typeof body === 'string') return Buffer.byteLength(body);
  if (body instanceof Uint8Array) return body.byteLength;
  const length = headers['content-length'];
  return length === undefined ? null : Number(length);
}

/** Returns true if `Accept-Encoding` accepts gzip, or anything, with a weight above 0. */
function takesGzip(header: string | null): boolean {
  if (header === null) return false;
  const weights = new Map(parseAccept(header).map(({ type, q }) => [type.toLowerCase(), q]));
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0;
}

function gzipped({ status, headers }: Reply, body: Uint8Array | ReadableStream<Uint8Array> | null): Reply {
  const { 'content-length': _, ...others } = headers;
  return new Reply(status, { ...others, 'content-encoding': 'gzip' }, body);
}

// Waits for the beginning: a short response stays uncompressed, and one that is already complete is compressed in one
// step.
async function compressStream(reply: Reply, body: ReadableStream<Uint8Array>): Promise<Reply> {
  const reader = body.getReader();
  const head: Uint8Array[] = [];
  let size = 0;
  let next = reader.read();
  for (;;) {
    const isLong = size >= minBytes;
    // A source that fails aborts the response below, as it would without compression.
    const part = await Promise.race([next, ...(isLong ? [soon()] : [])]).catch(() => null);
    if (part === null) break;
    if (part.done) {
      const bytes = Buffer.concat(head);
      return isLong ? gzipped(reply, await gzipAsync(bytes, options)) : new Reply(reply.status, reply.headers, bytes);
    }
    head.push(part.value);
    size += part.value.byteLength;
    next = reader.read();
    if (isLong) break;
  }
  // Awaited below; this only prevents an unhandled rejection if something fails before.
  next.catch(() => undefined);
  const packer = createGzip(options);
  // If the source fails or the client disconnects, the pipeline ends both sides.
  pipeline(Readable.from(rest(head, next, reader), { objectMode: false }), packer, () => undefined);
  return gzipped(reply, Readable.toWeb(packer) as ReadableStream<Uint8Array>);
}

const soon = () => new Promise<null>((resolve) => setImmediate(resolve, null));

async function* rest(
  head: readonly Uint8Array[],
  next: ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>,
  reader: ReadableStreamDefaultReader<Uint8Array>,
) {
  try {
    yield* head;
    for (let part = await next; !part.done; part = await reader.read()) yield part.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
