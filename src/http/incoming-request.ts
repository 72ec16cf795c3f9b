import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TraceSpan } from '../common/trace-span.ts';
import { readIncomingBody } from './incoming-body.ts';
import type { RequestTarget } from './request-target.ts';
import type { RequestView } from './request-view.ts';

/** The {@link RequestView} of a request to Node's HTTP server. */
export class IncomingRequest implements RequestView {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly address: string | null;
  principalId: string | null = null;
  span: TraceSpan | null = null;
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  #signal: AbortSignal | null = null;

  constructor(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    { path, search }: RequestTarget,
    { id, address }: { readonly id: string; readonly address: string | null },
  ) {
    this.id = id;
    this.method = incoming.method ?? 'GET';
    this.path = path;
    this.search = search;
    this.address = address;
    this.#incoming = incoming;
    this.#outgoing = outgoing;
  }

  get signal(): AbortSignal {
    this.#signal ??= disconnectionOf(this.#outgoing);
    return this.#signal;
  }

  header(name: string): string | null {
    return readHeader(this.#incoming, name);
  }

  headers(): Headers {
    const { rawHeaders } = this.#incoming;
    const headers = new Headers();
    for (let n = 0; n < rawHeaders.length; n += 2) headers.append(rawHeaders[n] as string, rawHeaders[n + 1] as string);
    return headers;
  }

  read(onPart: (part: Uint8Array) => void | Promise<void>): Promise<void> {
    return readIncomingBody(this.#incoming, onPart);
  }

  destroy(): void {
    this.#outgoing.destroy();
  }
}

/**
 * Returns a header by its lower-case name; null if it is missing. Repeated headers are joined, unlike in Node's own `headers`, which
 * keeps only the first one for some names.
 */
export function readHeader({ rawHeaders }: IncomingMessage, name: string): string | null {
  let found: string | null = null;
  for (let n = 0; n < rawHeaders.length; n += 2) {
    const rawName = rawHeaders[n] as string;
    if (rawName.length !== name.length || rawName.toLowerCase() !== name) continue;
    const value = rawHeaders[n + 1] as string;
    found = found === null ? value : `${found}${name === 'cookie' ? '; ' : ', '}${value}`;
  }
  return found;
}

function disconnectionOf(outgoing: ServerResponse): AbortSignal {
  const disconnected = new AbortController();
  const close = () => {
    if (!outgoing.writableFinished) disconnected.abort(new Error('The client disconnected.'));
  };
  if (outgoing.closed) close();
  else outgoing.once('close', close);
  return disconnected.signal;
}
