import type { IncomingMessage, ServerResponse } from 'node:http';
import { readIncomingBody } from './incoming-body.ts';
import type { RequestTarget } from './request-target.ts';
import type { RequestView } from './request-view.ts';

/** The {@link RequestView} of a request to Node's HTTP server. */
export class IncomingRequest implements RequestView {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly address: string | null;
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  #signal: AbortSignal | null = null;

  constructor(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    { path, search }: RequestTarget,
    address: string | null,
  ) {
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

  // Not Node's own `headers`: of repeated headers it keeps the first one for some names, and all for others.
  header(name: string): string | null {
    const { rawHeaders } = this.#incoming;
    let found: string | null = null;
    for (let n = 0; n < rawHeaders.length; n += 2) {
      const rawName = rawHeaders[n] as string;
      if (rawName.length !== name.length || rawName.toLowerCase() !== name) continue;
      const value = rawHeaders[n + 1] as string;
      found = found === null ? value : `${found}${name === 'cookie' ? '; ' : ', '}${value}`;
    }
    return found;
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

function disconnectionOf(outgoing: ServerResponse): AbortSignal {
  const disconnected = new AbortController();
  const close = () => {
    if (!outgoing.writableFinished) disconnected.abort(new Error('The client disconnected.'));
  };
  if (outgoing.closed) close();
  else outgoing.once('close', close);
  return disconnected.signal;
}
