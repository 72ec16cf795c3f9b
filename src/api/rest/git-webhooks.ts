import type { Services } from '../../domain/context.ts';
import { receiveGitDelivery } from '../../domain/git-deliveries/receive-delivery.ts';
import { limitHeaders } from '../../domain/limits/limit-headers.ts';
import { maxWebhookBytes } from '../../forges/interface/events.ts';
import { jsonReply, Reply } from '../../http/reply.ts';
import type { RequestView } from '../../http/request-view.ts';
import { RequestError } from './refusal.ts';
import { readBytes } from './request.ts';
import { defaultUnprovenLimits, limitUnprovenBytes, type UnprovenLimits } from './unproven-bytes.ts';
import { allow, refuseWebhook, requireNoEncoding, requirePost } from './webhook-requests.ts';

/**
 * Serves `/webhooks/git/{connection}`, the unversioned address to which forges send the events of a git connection. Errors
 * have version 3's form.
 */
export interface GitWebhooks {
  /** Answers every request; it never rejects. */
  respond(request: RequestView): Promise<Reply>;
}

/** See {@link GitWebhooks}. */
export function createGitWebhooks(
  services: Services,
  unprovenLimits: UnprovenLimits = defaultUnprovenLimits,
): GitWebhooks {
  const countUnproven = limitUnprovenBytes(unprovenLimits);

  async function receive(request: RequestView, connectionId: string): Promise<Reply> {
    requireNoEncoding(request);
    const { address } = request;
    const unproven = countUnproven(address);
    try {
      const body = await readBytes(request, maxWebhookBytes, { onPart: (part) => unproven.add(part.byteLength) });
      const headers = Object.fromEntries(request.headers());
      const received = await receiveGitDelivery(services, { connectionId, headers, body, address });
      if (received === null) throw noWebhook();
      const { status, error, spending } = received;
      const reply = jsonReply(status === 'repeated' ? 200 : 202, { status, ...(error !== null && { detail: error }) });
      return reply.with(limitHeaders(spending));
    } finally {
      unproven.release();
    }
  }

  return {
    async respond(request) {
      let reply: Reply;
      try {
        const connectionId = requirePost(request, 'git');
        reply = connectionId === null ? new Reply(204, { allow }) : await receive(request, connectionId);
      } catch (error) {
        reply = refuseWebhook(services, error, request, noWebhook);
      }
      return reply.with({ 'cache-control': 'no-store' });
    },
  };
}

// The response does not reveal if the connection exists, or if it has a secret.
const noWebhook = () =>
  new RequestError('No webhook exists at this address, or the delivery was not signed with its secret.', {
    status: 401,
    headers: { 'www-authenticate': 'Signature' },
  });
