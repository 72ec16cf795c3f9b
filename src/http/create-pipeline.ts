import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type AccessEntry, recordAccess } from './access-log.ts';
import { compressReply } from './compression.ts';
import { createCors } from './cors.ts';
import { drainIncomingBody } from './incoming-body.ts';
import { IncomingRequest, readHeader } from './incoming-request.ts';
import { answerInTurn } from './queued-requests.ts';
import { Reply } from './reply.ts';
import { requestIdHeader, requestIdOf } from './request-id.ts';
import { readTarget } from './request-target.ts';
import type { RequestView } from './request-view.ts';
import { sendReply } from './send-reply.ts';

/** Options of {@link createPipeline}. */
export interface PipelineOptions {
  /** Answers a request. An error that it throws is logged, and answered with an empty 500. */
  readonly respond: (request: RequestView) => Promise<Reply>;
  /** As in the configuration. */
  readonly corsOrigins: readonly string[];
  /** Finds the caller's address. */
  readonly addressOf: (incoming: IncomingMessage) => string | null;
  readonly log: { error(fields: object, message: string): void };
  /** Writes a line of the access log for each request; null: there is none. */
  readonly logAccess: ((entry: AccessEntry) => void) | null;
}

/**
 * Creates the path of every request to Node's HTTP server: it reads the address, answers preflight requests, calls
 * `respond`, compresses the response, adds the CORS headers and the id of the request, and sends it.
 */
export function createPipeline(options: PipelineOptions): RequestListener {
  const { respond, corsOrigins, addressOf, log, logAccess } = options;
  const cors = createCors(corsOrigins);
  const report = (error: unknown, requestId: string) => log.error({ err: error, requestId }, 'A request failed.');
  const finalize = async (request: RequestView): Promise<Reply> => {
    try {
      const preflight = cors.preflight(request);
      if (preflight !== null) return preflight;
      const packed = compressReply(request, await respond(request));
      return cors.allow(request, packed instanceof Promise ? await packed : packed);
    } catch (error) {
      report(error, request.id);
      return new Reply(500);
    }
  };
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const id = requestIdOf(readHeader(incoming, requestIdHeader));
    try {
      const found = readTarget(incoming);
      const target = found instanceof Reply ? unreadable : found;
      const request = new IncomingRequest(incoming, outgoing, target, { id, address: addressOf(incoming) });
      if (logAccess !== null) recordAccess(request, outgoing, logAccess);
      const reply = found instanceof Reply ? found : await finalize(request);
      sendReply(outgoing, reply.with({ [requestIdHeader]: id }), (error) => report(error, id));
    } catch (error) {
      report(error, id);
      outgoing.destroy();
    }
  };
  return answerInTurn((incoming, outgoing) => {
    if (incoming.method !== 'GET' && incoming.method !== 'HEAD') outgoing.on('close', drain);
    void answer(incoming, outgoing);
  });
}

/** The target in the access log of a request whose address is not valid. */
const unreadable = { path: '', search: '' };

// One function for all requests, to avoid a closure per request.
function drain(this: ServerResponse): void {
  drainIncomingBody(this.req);
}
