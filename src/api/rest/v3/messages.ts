import { z } from '@hono/zod-openapi';
import { DomainError } from '../../../common/errors.ts';
import { prefixedId } from '../../../domain/ids.ts';
import { getSession } from '../../../domain/sessions/find-session.ts';
import { listLog, logCursor } from '../../../domain/sessions/list-log.ts';
import type { LogEntry, MessageType } from '../../../domain/sessions/log.ts';
import { watchLog } from '../../../domain/sessions/watch.ts';
import type { Watches } from '../../../domain/subscriptions/watches.ts';
import { type EventStreams, wantsEvents } from '../event-streams.ts';
import { invalidRequest } from '../refusal.ts';
import type { VersionApi } from '../version-api.ts';
import { page, pageOf, pageQuery, presentPage, time, timeSchema } from './dialect.ts';
import { type SessionScope, sessionScopes } from './session-scopes.ts';
import { presentSession, presentWithChildren, sessionResponse } from './session-shapes.ts';

const sources = {
  initial_user_message: 'user',
  user_message: 'user',
  agent_message: 'devin',
} as const satisfies Record<MessageType, string>;

const sessionMessage = z
  .object({ event_id: z.string(), source: z.enum(['devin', 'user']), message: z.string(), created_at: timeSchema })
  .openapi('SessionMessage');

/** The same `event_id` as in v1: a message has one event id in all versions. */
function presentMessage(entry: LogEntry): z.input<typeof sessionMessage> {
  return {
    event_id: prefixedId('message', entry.id),
    source: sources[entry.messageType ?? 'agent_message'],
    message: entry.body ?? '',
    created_at: time(entry.createdAt),
  };
}

/** `…/sessions/{devin_id}/messages`. */
export function serveMessages(api: VersionApi, watches: Watches, streams: EventStreams): void {
  for (const scope of sessionScopes) {
    serveList(api, scope, watches, streams);
    serveSend(api, scope);
  }
}

function serveList(api: VersionApi, scope: SessionScope, watches: Watches, streams: EventStreams): void {
  const { one, word, of, query, enter } = scope;
  api.serve(
    {
      method: 'get',
      paths: [`${one}/messages`],
      name: `list${word}Messages`,
      summary: `List the messages of a session ${of}, oldest first; with "Accept: text/event-stream" also as they come`,
      query: z.object({ ...query, ...pageQuery }),
      answer: pageOf(sessionMessage),
      isAlsoStream: true,
      refusals: [403, 404, 422],
    },
    async (call) => {
      const { first, after } = call.query;
      if (!wantsEvents(call.request)) {
        const { context, target } = await enter(call, 'view');
        const session = await getSession(context, target.sessionId, target.organizationId);
        const request = { messagesOnly: true, isCurrent: true, first, after };
        return presentPage(await listLog(context, session, request, page), presentMessage);
      }
      // A client that lost its stream repeats the same request; the header carries its position.
      const lastEventId = call.request.header(lastEventIdHeader.toLowerCase());
      const cursor = lastEventId || after;
      return streams.open(call, {
        async read(live) {
          const { context, target } = await enter({ ...call, context: live }, 'view');
          const session = await getSession(context, target.sessionId, target.organizationId);
          const watched = watchLog(context, watches, { sessionId: session.id, after: cursor, messagesOnly: true });
          return lastEventId ? watched.catch(refuseLastEventId) : watched;
        },
        present: (entry) => ({ id: logCursor(entry), data: presentMessage(entry) }),
      });
    },
  );
}

const lastEventIdHeader = 'Last-Event-ID';

// The header replaces `after`, so the error must not name a parameter that may not have been sent.
function refuseLastEventId(error: unknown): never {
  if (!(error instanceof DomainError && error.code === 'BAD_CURSOR')) throw error;
  const msg = `"${lastEventIdHeader}" must be the id of an event of this session’s messages.`;
  throw invalidRequest([{ loc: ['header', lastEventIdHeader], msg, type: 'bad_cursor' }]);
}

const sendRequest = z
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
  .openapi('SessionMessageRequest');

function serveSend(api: VersionApi, { one, word, of, query, send }: SessionScope): void {
  api.serve(
    {
      method: 'post',
      paths: [`${one}/messages`],
      name: `send${word}Message`,
      summary: `Send a message to a session ${of}; one that sleeps or has finished resumes`,
      query: z.object(query),
      body: sendRequest,
      answer: sessionResponse,
      refusals: [400, 403, 404, 409, 413, 422],
      takesIdempotencyKey: true,
    },
    async (call) => {
      const { session } = await send(call, {
        message: call.body.message,
        messageAsUserId: call.body.message_as_user_id,
        attachmentIds: call.body.attachment_urls,
        idempotencyKey: call.idempotencyKey,
      });
      const { childIds } = session;
      return childIds
        ? presentWithChildren(call.context, { ...session, childIds })
        : presentSession(call.context, session);
    },
  );
}
