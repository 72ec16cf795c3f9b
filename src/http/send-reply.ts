import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Reply } from './reply.ts';

/** Up to this length, Node writes a text together with its headers from a stack buffer. */
const maxTextBytes = 12_288;

/** Sends a response. `onError` gets the error of a stream that fails; its connection is closed. */
export function sendReply(outgoing: ServerResponse, reply: Reply, onError: (error: unknown) => void): void {
  const { status, headers, body } = reply;
  if (body === null) {
    outgoing.writeHead(status, headers as OutgoingHttpHeaders);
    outgoing.end();
  } else if (body instanceof ReadableStream) {
    outgoing.writeHead(status, headers as OutgoingHttpHeaders);
    outgoing.flushHeaders();
    sendStream(outgoing, body, onError);
  } else {
    // A short text goes out in one chunk with the headers. For a long text, Node would allocate three times its length
    // first.
    const bytes = typeof body === 'string' && body.length > maxTextBytes ? Buffer.from(body) : body;
    const all = { ...headers, 'content-length': Buffer.byteLength(bytes) };
    outgoing.writeHead(status, all as OutgoingHttpHeaders);
    outgoing.end(bytes);
  }
}

// Reads nothing ahead of the client.
function sendStream(
  outgoing: ServerResponse,
  body: ReadableStream<Uint8Array>,
  onError: (error: unknown) => void,
): void {
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => undefined);
  if (outgoing.destroyed || outgoing.req.method === 'HEAD') {
    cancel();
    outgoing.end();
    return;
  }
  const fail = (error: unknown) => {
    if (!outgoing.destroyed) onError(error);
    outgoing.destroy();
  };
  const next = () => void reader.read().then(write, fail);
  const write = ({ done, value }: ReadableStreamReadResult<Uint8Array>) => {
    if (done) {
      outgoing.off('close', cancel);
      outgoing.end();
    } else if (outgoing.write(value)) next();
    else outgoing.once('drain', next);
  };
  outgoing.on('close', cancel);
  next();
}
