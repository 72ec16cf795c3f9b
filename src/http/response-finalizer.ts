import type { IncomingMessage, ServerResponse } from 'node:http';
import { compressResponse, packJson } from './compression.ts';
import { createCors } from './cors.ts';

/** HTTP features that all APIs share. */
export interface ResponseFinalizer {
  /** Finalizes the response of an API: compression, and CORS headers for allowed origins. */
  finalize(request: Request, respond: () => Promise<Response>): Promise<Response>;
  /** Sends a JSON response to a request of the fast path, as `finalize` would. */
  send(incoming: IncomingMessage, outgoing: ServerResponse, answer: JsonAnswer): Promise<void>;
}

/** A JSON response. */
export interface JsonAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Null: no body. */
  readonly text: string | null;
}

/** Creates a {@link ResponseFinalizer}; `corsOrigins` as in the configuration. */
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
