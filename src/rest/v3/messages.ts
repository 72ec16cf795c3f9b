import { z } from '@hono/zod-openapi';
import { permissionFor } from '../../auth/permissions.ts';
import { prefixedId } from '../../domain/ids.ts';
import { useOrganization } from '../../domain/organizations/use-organization.ts';
import { getSession } from '../../domain/sessions/find-session.ts';
import { listLog } from '../../domain/sessions/list-log.ts';
import type { LogEntry, MessageType } from '../../domain/sessions/log.ts';
import { sendMessage } from '../../domain/sessions/messages.ts';
import type { Door } from '../door.ts';
import { page, pageOf, pageQuery, presentPage, time, timeSchema } from './dialect.ts';
import { presentSession, sessionResponse } from './session-shapes.ts';

const messages = '/v3/organizations/{org_id}/sessions/{devin_id}/messages';

const sources = {
  initial_user_message: 'user',
  user_message: 'user',
  agent_message: 'devin',
} as const satisfies Record<MessageType, string>;

const sessionMessage = z
  .object({ event_id: z.string(), source: z.enum(['devin', 'user']), message: z.string(), created_at: timeSchema })
  .openapi('SessionMessage');

/** The same `event_id` as in v1: one message is one event, whoever reads it. */
function presentMessage(entry: LogEntry): z.input<typeof sessionMessage> {
  return {
    event_id: prefixedId('message', entry.id),
    source: sources[entry.messageType ?? 'agent_message'],
    message: entry.body ?? '',
    created_at: time(entry.createdAt),
  };
}

/** `…/sessions/{devin_id}/messages`. */
export function serveMessages(door: Door): void {
  door.serve(
    {
      method: 'get',
      paths: [messages],
      name: 'listMessages',
      summary: 'List the messages of a session, oldest first',
      query: z.object(pageQuery),
      answer: pageOf(sessionMessage),
      refusals: [403, 404, 422],
    },
    async ({ context, query, param }) => {
      const organization = await useOrganization(context, param('org_id'), permissionFor.viewSession);
      const session = await getSession(context, param('devin_id'), organization.id);
      const request = { messagesOnly: true, first: query.first, after: query.after };
      return presentPage(await listLog(context, session, request, page), presentMessage);
    },
  );

  door.serve(
    {
      method: 'post',
      paths: [messages],
      name: 'sendMessage',
      summary: 'Send a message to a session; one that sleeps or has finished resumes',
      body: z
        .object({
          message: z.string(),
          message_as_user_id: z
            .string()
            .nullish()
            .openapi({ description: 'A member whose message it shall be; needs ImpersonateOrgSessions.' }),
          attachment_urls: z
            .array(z.string())
            .nullish()
            .openapi({ description: 'Uploaded files: what `POST …/attachments` gave.' }),
        })
        .openapi('SessionMessageRequest'),
      answer: sessionResponse,
      refusals: [400, 403, 404, 409, 413, 422],
      takesIdempotencyKey: true,
    },
    async ({ context, body, param, idempotencyKey }) => {
      const organization = await useOrganization(context, param('org_id'), permissionFor.viewSession);
      const input = {
        sessionId: param('devin_id'),
        organizationId: organization.id,
        message: body.message,
        messageAsUserId: body.message_as_user_id,
        attachmentIds: body.attachment_urls,
        idempotencyKey,
      };
      const { session } = await sendMessage(context, input);
      return presentSession(context, session);
    },
  );
}
