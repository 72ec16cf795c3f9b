import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { logCursor } from '../../../domain/sessions/list-log.ts';
import type { LogEntry, MessageEntry } from '../../../domain/sessions/log.ts';
import type { SessionRecord } from '../../../domain/sessions/session.ts';
import { startWatch, type WatchRequest } from '../../../domain/sessions/start-watch.ts';
import { watchLogFrom, watchSession } from '../../../domain/sessions/watch.ts';
import { builder } from '../builder.ts';
import { type GraphqlContext, renewLoaders } from '../context.ts';
import { refuseLastEventId } from '../last-event-id.ts';
import { SessionEventKindEnum } from './enums.ts';
import { SessionEventList, SessionMessageList } from './events.ts';
import { needs, viewsSession } from './needs.ts';
import { Session } from './sessions.ts';

const sessionIdDescription = 'Global ID or REST id of the session.';
const afterDescription =
  'Cursor of the session’s messages or events, from a list or a subscription. Only later entries are sent. Starts at the first entry if omitted.';

// The cursor is also the event id, where the transport has ids.
function toEdge<T extends LogEntry>(node: T, { eventPosition }: GraphqlContext) {
  const cursor = logCursor(node);
  eventPosition.eventId = cursor;
  return { cursor, node };
}

/**
 * {@link watchLogFrom} at the client's position: a client that reconnects automatically repeats its request unchanged,
 * together with the id of the last event.
 */
async function follow({ domain, watches, eventPosition, delivery }: GraphqlContext, request: WatchRequest) {
  const { lastEventId } = eventPosition;
  const context = ofAnySession(domain, 'view');
  const starting = startWatch(context, { ...request, after: lastEventId ?? request.after });
  const start = await (lastEventId === null ? starting : starting.catch(refuseHeader));
  return delivery?.accept(start) ?? watchLogFrom(context, watches, start);
}

const refuseHeader = refuseLastEventId('an event of this session’s messages or events');

builder.subscriptionFields((t) => ({
  sessionMessages: t.field({
    type: SessionMessageList.edge,
    extensions: needs(viewsSession),
    description:
      'Sends the messages of a session after the cursor, then new messages as they are written, each exactly once and in order. The subscription stays open after the session ends.',
    args: {
      sessionId: t.arg.id({ required: true, description: sessionIdDescription }),
      after: t.arg.string({ description: afterDescription }),
    },
    subscribe: (_root, { sessionId, after }, context) => follow(context, { sessionId, after, messagesOnly: true }),
    resolve: (entry, _args, context) => {
      renewLoaders(context);
      return toEdge(entry as MessageEntry, context) as never;
    },
  }),
  sessionEvents: t.field({
    type: SessionEventList.edge,
    extensions: needs(viewsSession),
    description:
      'Sends the log entries of a session after the cursor (messages, tool calls, plans, status, usage and others), then new entries as they are written, each exactly once and in order. The subscription stays open after the session ends.',
    args: {
      sessionId: t.arg.id({ required: true, description: sessionIdDescription }),
      after: t.arg.string({ description: afterDescription }),
      kinds: t.arg({
        type: [SessionEventKindEnum],
        description: 'Kinds of log entries to send. All kinds if omitted.',
      }),
    },
    subscribe: (_root, { sessionId, after, kinds }, context) =>
      follow(context, { sessionId, after, messagesOnly: false, kinds: kinds ?? null }),
    resolve: (entry, _args, context) => {
      renewLoaders(context);
      return toEdge(entry as LogEntry, context) as never;
    },
  }),
  sessionUpdated: t.field({
    type: Session,
    extensions: needs(viewsSession),
    description:
      'Sends the current state of a session, then its state after each change. Changes close together may arrive as one.',
    args: { sessionId: t.arg.id({ required: true, description: sessionIdDescription }) },
    subscribe: (_root, { sessionId }, { domain, watches }) =>
      watchSession(ofAnySession(domain, 'view'), watches, sessionId),
    resolve: (session, _args, context) => {
      renewLoaders(context);
      return session as SessionRecord;
    },
  }),
}));
