import type { IncomingMessage, ServerResponse } from 'node:http';
import { compressResponse, packJson } from './compression.ts';
import { createCors } from './cors.ts';

/** What HTTP asks of every door alike. */
export interface ResponseFinalizer {
  /** The answer of a door as it goes out: compressed, and readable for pages of origins that are allowed. */
  finalize(request: Request, respond: () => Promise<Response>): Promise<Response>;
  /** Sends JSON in answer to a request that no Request was made of, as `answer` would. */
  send(incoming: IncomingMessage, outgoing: ServerResponse, answer: JsonAnswer): Promise<void>;
}

/** An answer of JSON. */
export interface JsonAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Null: no body. */
  readonly text: string | null;
}

/** See {@link ResponseFinalizer}; `corsOrigins` as the configuration has them. */
export function createResponseFinalizer({
  corsOrigins,
}: {
  readonly corsOrigins: readonly string[];
}): ResponseFinalizer {
  const cors = createCors(corsOrigins);
  return {
    async finalize(request, respond) {
      return cors.preflight(request) ?? cors.allow(request, await compressResponse(request, await respond()));
    },
    async send({ headers: { origin, 'accept-encoding': accepted } }, outgoing, { status, headers, text }) {
      const packing = packJson(text, accepted as string | undefined);
      const { headers: ofBody, body, length } = packing instanceof Promise ? await packing : packing;
      const ofOrigin = cors.headersFor(origin ?? null);
      const vary = [headers.vary, ofBody.vary, ofOrigin.vary].filter((each) => each !== undefined).join(', ');
      const ofLength = body === null ? {} : { 'content-length': length };
      outgoing.writeHead(status, { ...headers, ...ofBody, ...ofOrigin, ...ofLength, vary });
      outgoing.end(body);
    },
  };
}
