import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, createGzip, gzip } from 'node:zlib';
import { parseAccept } from 'hono/utils/accept';

/** Below this many bytes a packet is a packet. */
const minBytes = 1_024;

/** Node writes a text of so many bytes, its headers with it, straight from the stack. */
const maxTextBytes = 12_288;

/** Text of ours that is read as a whole. Never event streams and multipart: of these each piece counts when it is written. */
const compressible = /^(?:application\/(?:[\w.-]+\+)?json|text\/(?:html|css|javascript))\s*(?:;|$)/i;

// Half the time of the usual level, for a few per cent more bytes.
const options = { level: constants.Z_BEST_SPEED + 2 };
const gzipAsync = promisify(gzip);

/**
 * The answer as it is, or as gzip where it is text of some length and the client takes it. One whose length is not known
 * is compressed while it is written, in pieces and at the pace of the client. Files are left alone.
 */
export async function compressResponse(request: Request, response: Response): Promise<Response> {
  const { headers } = response;
  if (!isCompressible(response)) return response;
  headers.append('vary', 'Accept-Encoding');
  if (response.status === 304 || !takesGzip(request.headers.get('accept-encoding'))) return response;
  const length = headers.get('content-length');
  if (length !== null && Number(length) < minBytes) return response;
  // To HEAD: what GET would say, as far as it is known without the body.
  if (response.body === null || request.method === 'HEAD') {
    if (length === null) return response;
    setGzipHeaders(headers);
    return new Response(null, { status: response.status, headers });
  }
  if (length === null) return compressStream(response, response.body);
  return gzipResponse(response, new Uint8Array(await response.arrayBuffer()));
}

/** JSON as {@link compressResponse} would send it: a promise only where it is compressed. */
export function packJson(text: string | null, accepted: string | undefined): PackedJson | Promise<PackedJson> {
  const headers = { vary: 'Accept-Encoding' };
  if (text === null) return { headers, body: null, length: 0 };
  // A short text goes out in one piece with the headers. For a long one Node takes three times its length of memory, and
  // writes it there first.
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
  /** Of the body, in bytes. */
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

/** Whether `Accept-Encoding` names gzip, or anything, with a weight above 0. */
function takesGzip(header: string | null): boolean {
  if (header === null) return false;
  const weights = new Map(parseAccept(header).map(({ type, q }) => [type.toLowerCase(), q]));
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0;
}

function setGzipHeaders(headers: Headers): void {
  headers.delete('content-length');
  headers.set('content-encoding', 'gzip');
}

// The beginning is awaited, so that a short answer stays as it is, and what is all there already is packed as a whole.
async function compressStream(response: Response, body: ReadableStream<Uint8Array>): Promise<Response> {
  const { status, headers } = response;
  const reader = body.getReader();
  const head: Uint8Array[] = [];
  let size = 0;
  let next = reader.read();
  for (;;) {
    const isLong = size >= minBytes;
    // A source that fails breaks the answer off below, as it would without this.
    const part = await Promise.race([next, ...(isLong ? [soon()] : [])]).catch(() => null);
    if (part === null) break;
    if (part.done)
      return isLong ? gzipResponse(response, Buffer.concat(head)) : new Response(Buffer.concat(head), response);
    head.push(part.value);
    size += part.value.byteLength;
    next = reader.read();
    if (isLong) break;
  }
  // Awaited below; here only so that a failure before that is not one that nobody handles.
  next.catch(() => undefined);
  setGzipHeaders(headers);
  const packer = createGzip(options);
  // Where the source fails or the client leaves, the other side ends with it: nothing is left to do here.
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
