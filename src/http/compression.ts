import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, createGzip, gzip } from 'node:zlib';
import { parseAccept } from 'hono/utils/accept';

/** A smaller response fits into one packet anyway. */
const minBytes = 1_024;

/** Up to this length, Node writes a text together with its headers from a stack buffer. */
const maxTextBytes = 12_288;

/**
 * Text types that are sent complete. Event streams and multipart are excluded: each of their chunks must be delivered
 * when it is written.
 */
const compressible = /^(?:application\/(?:[\w.-]+\+)?json|text\/(?:html|css|javascript))\s*(?:;|$)/i;

// Half the time of the default level, for a few per cent more bytes.
const options = { level: constants.Z_BEST_SPEED + 2 };
const gzipAsync = promisify(gzip);

/**
 * Compresses a response with gzip if it is text of sufficient length and the client accepts gzip. A response of unknown
 * length is compressed while it is written, in chunks and at the pace of the client. Files are not compressed.
 */
export async function compressResponse(request: Request, response: Response): Promise<Response> {
  const { headers } = response;
  if (!isCompressible(response)) return response;
  headers.append('vary', 'Accept-Encoding');
  if (response.status === 304 || !takesGzip(request.headers.get('accept-encoding'))) return response;
  const length = headers.get('content-length');
  if (length !== null && Number(length) < minBytes) return response;
  // HEAD gets the headers of GET, as far as they are known without the body.
  if (response.body === null || request.method === 'HEAD') {
    if (length === null) return response;
    setGzipHeaders(headers);
    return new Response(null, { status: response.status, headers });
  }
  if (length === null) return compressStream(response, response.body);
  return gzipResponse(response, new Uint8Array(await response.arrayBuffer()));
}

/** Encodes JSON as {@link compressResponse} would send it. Returns a promise only if it is compressed. */
export function packJson(text: string | null, accepted: string | undefined): PackedJson | Promise<PackedJson> {
  const headers = { vary: 'Accept-Encoding' };
  if (text === null) return { headers, body: null, length: 0 };
  // A short text goes out in one chunk with the headers. For a long text, Node would allocate three times its length
  // first.
  const body = text.length <= maxTextBytes ? text : Buffer.from(text);
  const length = Buffer.byteLength(body);
  if (length >= minBytes && takesGzip(accepted ?? null)) {
    return gzipAsync(body, options).then((packed) => {
      return { headers: { ...headers, 'content-encoding': 'gzip' }, body: packed, length: packed.length };
    });
  }
  return { headers, body, length };
}

/** See {@link packJson}. */
export interface PackedJson {
  readonly headers: Readonly<Record<string, string>>;
  /** Null: there is none. */
  readonly body: string | Buffer | null;
  /** The length of the body in bytes. */
  readonly length: number;
}

async function gzipResponse({ status, headers }: Response, content: Uint8Array): Promise<Response> {
  const bytes = await gzipAsync(content, options);
  setGzipHeaders(headers);
  headers.set('content-length', String(bytes.byteLength));
  return new Response(bytes, { status, headers });
}

function isCompressible({ status, headers }: Response): boolean {
  if (status === 304) return headers.has('etag');
  if (status === 206 || headers.has('content-encoding') || headers.has('content-disposition')) return false;
  return compressible.test(headers.get('content-type') ?? '');
}

/** Returns true if `Accept-Encoding` accepts gzip, or anything, with a weight above 0. */
function takesGzip(header: string | null): boolean {
  if (header === null) return false;
  const weights = new Map(parseAccept(header).map(({ type, q }) => [type.toLowerCase(), q]));
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0;
}

function setGzipHeaders(headers: Headers): void {
  headers.delete('content-length');
  headers.set('content-encoding', 'gzip');
}

// Waits for the beginning: a short response stays uncompressed, and one that is already complete is compressed in one
// step.
async function compressStream(response: Response, body: ReadableStream<Uint8Array>): Promise<Response> {
  const { status, headers } = response;
  const reader = body.getReader();
  const head: Uint8Array[] = [];
  let size = 0;
  let next = reader.read();
  for (;;) {
    const isLong = size >= minBytes;
    // A source that fails aborts the response below, as it would without compression.
    const part = await Promise.race([next, ...(isLong ? [soon()] : [])]).catch(() => null);
    if (part === null) break;
    if (part.done)
      return isLong ? gzipResponse(response, Buffer.concat(head)) : new Response(Buffer.concat(head), response);
    head.push(part.value);
    size += part.value.byteLength;
    next = reader.read();
    if (isLong) break;
  }
  // Awaited below; this only prevents an unhandled rejection if something fails before.
  next.catch(() => undefined);
  setGzipHeaders(headers);
  const packer = createGzip(options);
  // If the source fails or the client disconnects, the pipeline ends both sides.
  pipeline(Readable.from(rest(head, next, reader), { objectMode: false }), packer, () => undefined);
  return new Response(Readable.toWeb(packer) as ReadableStream<Uint8Array>, { status, headers });
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
