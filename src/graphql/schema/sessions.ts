import { prefixedId } from '../../domain/ids.ts';
import { ofAnySession } from '../../domain/sessions/enterprise-scope.ts';
import { findSession } from '../../domain/sessions/find-session.ts';
import { type LogListRequest, logOf, logRequest } from '../../domain/sessions/list-log.ts';
import { type SessionRecord, sessionUrl } from '../../domain/sessions/session.ts';
import { builder } from '../builder.ts';
import { toConnection } from '../connections.ts';
import type { GraphqlContext } from '../context.ts';
import { toInt } from '../whole-number.ts';
import { countedConnectionAndEdge } from './counted-connection.ts';
import {
  SessionEndReasonEnum,
  SessionEventKindEnum,
  SessionOriginEnum,
  SessionQueueReasonEnum,
  SessionStatusDetailEnum,
  SessionStatusEnum,
} from './enums.ts';
import { SessionEvent, SessionEventConnection, SessionMessage, SessionMessageConnection } from './events.ts';
import { boundary, viewsSession } from './needs.ts';
import { Organization } from './organization-ref.ts';
import { loadPrincipal, Principal } from './principals.ts';
import { PullRequestType } from './pull-requests.ts';
import { findLogAhead } from './sessions-ahead.ts';

/** Session of the contract. */
export const Session = builder.objectRef<SessionRecord>('Session');
builder.node(Session, {
  description: 'An agent at work on a prompt, and all that came of it.',
  id: { resolve: (session) => session.id, description: 'The global ID.' },
  fields: (t) => ({
    sessionId: t.string({
      description: 'The id as v1 writes it.',
      resolve: (session) => prefixedId('session', session.id),
    }),
    url: t.field({
      type: 'URI',
      description: 'Its page in the console.',
      resolve: (session, _args, { domain }) => sessionUrl(domain, session.id),
    }),
    organization: t.field({
      type: Organization,
      description: 'Where it belongs.',
      resolve: async (session, _args, { loaders }) =>
        (await loaders.sessionOrganizations.load(session.organizationId)) as never,
    }),
    title: t.exposeString('title', {
      nullable: true,
      description: 'What it is about: given, or the prompt’s first line, or the agent’s own.',
    }),
    status: t.expose('status', { type: SessionStatusEnum, description: 'Where it is.' }),
    statusDetail: t.expose('statusDetail', {
      type: SessionStatusDetailEnum,
      nullable: true,
      description: 'Why it is there.',
    }),
    queueReason: t.field({
      type: SessionQueueReasonEnum,
      nullable: true,
      description: 'Why it waits in the queue; null: it does not wait there.',
      resolve: ({ id, status }, _args, { loaders }) =>
        status === 'new' || status === 'resuming' ? loaders.queueReasons.load(id) : null,
    }),
    endReason: t.expose('endedBy', {
      type: SessionEndReasonEnum,
      nullable: true,
      description: 'The reason for which it ended; null where it has not ended.',
    }),
    isArchived: t.exposeBoolean('isArchived', { description: 'Whether it was put away.' }),
    isUnlisted: t.exposeBoolean('isUnlisted', { description: 'Whether lists leave it out.' }),
    origin: t.expose('origin', { type: SessionOriginEnum, description: 'Where it was started.' }),
    agent: t.exposeString('agent', {
      nullable: true,
      description: 'The agent profile that it runs on: the one asked for, or else the default of when it was made.',
    }),
    snapshotId: t.exposeString('snapshotId', {
      nullable: true,
      description: 'The machine snapshot that was asked for.',
    }),
    tags: t.stringList({ description: 'Its tags.', resolve: (session) => [...session.tags] }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was started.' }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description: 'When its status or its messages last changed.',
    }),
    createdBy: t.field({
      type: Principal,
      nullable: true,
      description: 'The principal that started it; null: the viewer may not see that principal.',
      resolve: (session, _args, context) => loadPrincipal(context, session),
    }),
    parent: t.field({
      type: Session,
      nullable: true,
      description: 'The session that started it.',
      resolve: (session, _args, { loaders }) =>
        session.parentId === null ? null : loaders.sessions.load(session.parentId),
    }),
    acusConsumed: t.exposeFloat('acusConsumed', { description: 'Agent compute units used so far.' }),
    maxAcuLimit: t.int({
      nullable: true,
      description:
        'The most ACUs that it may use; null: no limit of its own, so that only those of its organization hold. A limit above 2,147,483,647, the largest Int, is shown as that.',
      resolve: ({ maxAcuLimit }) => toInt(maxAcuLimit),
    }),
    structuredOutputSchema: t.expose('structuredOutputSchema', {
      type: 'JSON',
      nullable: true,
      description: 'The JSON Schema (Draft 7) of its output.',
    }),
    structuredOutput: t.expose('structuredOutput', {
      type: 'JSON',
      nullable: true,
      description: 'Its last valid output.',
    }),
    pullRequests: t.field({
      type: [PullRequestType],
      description: 'The pull requests that it made.',
      resolve: (session) => [...session.pullRequests],
    }),
    messages: t.connection(
      {
        type: SessionMessage,
        ...boundary(viewsSession),
        description: 'Its messages, oldest first.',
        resolve: (session, args, context) =>
          logConnection(context, session, logRequest(args, { messagesOnly: true })) as never,
      },
      SessionMessageConnection,
    ),
    events: t.connection(
      {
        type: SessionEvent,
        ...boundary(viewsSession),
        description: 'Its whole log, oldest first.',
        args: { kinds: t.arg({ type: [SessionEventKindEnum], description: 'Only entries of these kinds.' }) },
        resolve: (session, args, context) =>
          logConnection(context, session, logRequest(args, { kinds: args.kinds ?? null, messagesOnly: false })),
      },
      SessionEventConnection,
    ),
  }),
});

function logConnection(context: GraphqlContext, session: SessionRecord, request: LogListRequest) {
  const { domain, loaders } = context;
  const ahead = findLogAhead(session, request);
  const count = async () => loaders.nestedCount(logOf(ofAnySession(domain, 'view'), session, request));
  return ahead
    ? toConnection(ahead, count)
    : loaders.logPage(session, request).then((page) => toConnection(page, count));
}

/** SessionConnection and SessionEdge of the contract. */
export const { connection: SessionConnection, edge: SessionEdge } = countedConnectionAndEdge(Session, 'Session', {
  page: 'A page of sessions.',
  edge: 'A session in a list.',
});

builder.queryField('session', (t) =>
  t.field({
    type: Session,
    nullable: true,
    description: 'A session by its id; null when there is none that the viewer may see.',
    args: { id: t.arg.id({ required: true, description: 'The global ID, or any form of the session’s id.' }) },
    resolve: (_root, { id }, { domain }) => findSession(ofAnySession(domain, 'view'), id),
  }),
);
