import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { logCursor } from '../../../domain/sessions/list-log.ts';
import { DraftChunk } from '../../../domain/sessions/live/live-draft.ts';
import { watchLiveFrom } from '../../../domain/sessions/live/watch-live.ts';
import type { LogEntry, MessageEntry } from '../../../domain/sessions/log.ts';
import type { SessionRecord } from '../../../domain/sessions/session.ts';
import { startWatch, type WatchRequest } from '../../../domain/sessions/start-watch.ts';
import { watchLogFrom, watchSession } from '../../../domain/sessions/watch.ts';
import { builder } from '../builder.ts';
import { type GraphqlContext, renewLoaders } from '../context.ts';
import { refuseLastEventId } from '../last-event-id.ts';
import { SessionLiveItem } from './drafts.ts';
import { SessionEventKindEnum } from './enums.ts';
import { SessionEventList, SessionMessageList } from './events.ts';
import { needs, viewsSession } from './needs.ts';
import { sessionIdDescription } from './session-id.ts';
import { Session } from './sessions.ts';

const afterDescription =
  'Cursor of the session’s messages or events, from a list or a subscription. Only later entries are sent. Starts at the first entry if omitted.';

// The cursor is also the event id, where the transport has ids.
function toEdge<T extends LogEntry>(node: T, { eventPosition }: GraphqlContext) {
  const cursor = logCursor(node);
  eventPosition.eventId = cursor;
  return { cursor, node };
}

/**
 * Starts at the client's position: a client that reconnects automatically repeats its request unchanged, together with the id of
 * the last event.
 */
function startAt({ domain, eventPosition }: GraphqlContext, request: WatchRequest) {
  const { lastEventId } = eventPosition;
  const starting = startWatch(ofAnySession(domain, 'view'), { ...request, after: lastEventId ?? request.after });
  return lastEventId === null ? starting : starting.catch(refuseHeader);
}

async function follow(context: GraphqlContext, request: WatchRequest) {
  const start = await startAt(context, request);
  const { delivery, domain, watches } = context;
  return delivery?.accept(start) ?? watchLogFrom(ofAnySession(domain, 'view'), watches, start);
}

/** {@link follow} with the open drafts. */
async function followLive(context: GraphqlContext, request: WatchRequest) {
  const start = { ...(await startAt(context, request)), isLive: true };
  const { delivery, domain, watches } = context;
  return delivery?.accept(start) ?? watchLiveFrom(ofAnySession(domain, 'view'), watches, start);
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
  sessionLive: t.field({
    type: SessionLiveItem,
    extensions: needs(viewsSession),
    description: [
      'Sends what `sessionEvents` sends and, in between, the text that the agent is writing: a draft for each message, thought and output of a running tool, in parts. A part arrives within about 0.1 seconds. The log entry that replaces a draft has its id as `draftId`, and follows the last part of it.',
      'Drafts start when all entries after the cursor have been sent. A client that joins or reconnects gets each open draft from its beginning, or the last 64 KB of it. A slow client gets fewer and larger parts. If the worker of the session fails, its drafts end without an entry.',
    ].join('\n\n'),
    args: {
      sessionId: t.arg.id({ required: true, description: sessionIdDescription }),
      after: t.arg.string({ description: afterDescription }),
    },
    subscribe: (_root, { sessionId, after }, context) => followLive(context, { sessionId, after, messagesOnly: false }),
    resolve: (item, _args, context) => {
      if (item instanceof DraftChunk) return item;
      renewLoaders(context);
      return toEdge(item as LogEntry, context) as never;
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
