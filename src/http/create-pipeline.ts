import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { compressReply } from './compression.ts';
import { createCors } from './cors.ts';
import { drainIncomingBody } from './incoming-body.ts';
import { IncomingRequest } from './incoming-request.ts';
import { answerInTurn } from './queued-requests.ts';
import { Reply } from './reply.ts';
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
}

/**
 * Creates the path of every request to Node's HTTP server: it reads the address, answers preflight requests, calls
 * `respond`, compresses the response, adds the CORS headers, and sends it.
 */
export function createPipeline({ respond, corsOrigins, addressOf, log }: PipelineOptions): RequestListener {
  const cors = createCors(corsOrigins);
  const onError = (error: unknown) => log.error({ err: error }, 'A request failed.');
  const finalize = async (request: RequestView): Promise<Reply> => {
    try {
      const preflight = cors.preflight(request);
      if (preflight !== null) return preflight;
      const packed = compressReply(request, await respond(request));
      return cors.allow(request, packed instanceof Promise ? await packed : packed);
    } catch (error) {
      onError(error);
      return new Reply(500);
    }
  };
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    try {
      const target = readTarget(incoming);
      const reply =
        target instanceof Reply
          ? target
          : await finalize(new IncomingRequest(incoming, outgoing, target, addressOf(incoming)));
      sendReply(outgoing, reply, onError);
    } catch (error) {
      onError(error);
      outgoing.destroy();
    }
  };
  return answerInTurn((incoming, outgoing) => {
    if (incoming.method !== 'GET' && incoming.method !== 'HEAD') outgoing.on('close', drain);
    void answer(incoming, outgoing);
  });
}

// One function for all requests, to avoid a closure per request.
function drain(this: ServerResponse): void {
  drainIncomingBody(this.req);
}
