import { mayWaitForWorker } from '../../../domain/execution/runs/queue-reasons.ts';
import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { findSession } from '../../../domain/sessions/find-session.ts';
import { type LogListRequest, logOf, logRequest } from '../../../domain/sessions/list-log.ts';
import { type SessionRecord, sessionUrl } from '../../../domain/sessions/session.ts';
import { groupOf } from '../../../domain/sessions/session-groups.ts';
import { builder } from '../builder.ts';
import { toConnection } from '../connections.ts';
import type { GraphqlContext } from '../context.ts';
import { toInt } from '../whole-number.ts';
import { listTypes } from './add-list.ts';
import {
  SessionEndReasonEnum,
  SessionEventKindEnum,
  SessionGroupEnum,
  SessionOriginEnum,
  SessionQueueReasonEnum,
  SessionStatusDetailEnum,
  SessionStatusEnum,
} from './enums.ts';
import { SessionEvent, SessionEventList, SessionMessage, SessionMessageList } from './events.ts';
import { boundary, viewsSession } from './needs.ts';
import { Organization, restIdField } from './organization-ref.ts';
import { loadPrincipal, Principal } from './principals.ts';
import { PullRequestType } from './pull-requests.ts';
import { sessionIdDescription } from './session-id.ts';
import { findLogAhead } from './sessions-ahead.ts';

export const Session = builder.objectRef<SessionRecord>('Session');
builder.node(Session, {
  description: 'Work of an agent on a prompt, with its messages, log and results.',
  id: { resolve: (session) => session.id, description: 'Global ID of the session, unique across all types.' },
  fields: (t) => ({
    sessionId: restIdField(t, 'session', 'REST id of the session: `devin-` and 32 hexadecimal digits.'),
    url: t.field({
      type: 'URI',
      description: 'URL of the session’s page in the console.',
      resolve: (session, _args, { domain }) => sessionUrl(domain, session.id),
    }),
    organization: t.field({
      type: Organization,
      description: 'Organization that the session belongs to.',
      resolve: async (session, _args, { loaders }) =>
        (await loaders.sessionOrganizations.load(session.organizationId)) as never,
    }),
    title: t.exposeString('title', {
      nullable: true,
      description:
        'Title of the session: the one that a caller set, else one that the agent chose, else the first line of the prompt.',
    }),
    status: t.expose('status', { type: SessionStatusEnum, description: 'Current status of the session.' }),
    statusDetail: t.expose('statusDetail', {
      type: SessionStatusDetailEnum,
      nullable: true,
      description: 'Reason for the current status, or what the agent does in it; null if the status has no detail.',
    }),
    group: t.field({
      type: SessionGroupEnum,
      description: 'Group of the session in an inbox. NEEDS_YOU says that a person has to act, but not which person.',
      resolve: (session) => groupOf(session),
    }),
    waitsUntil: t.expose('waitsUntil', {
      type: 'DateTime',
      nullable: true,
      description:
        'Time when the session continues by itself, because the provider of its model has reached a limit; null unless `statusDetail` is WAITING_FOR_QUOTA. A message, `retryTurn` or `interruptSession` ends the wait earlier.',
    }),
    queueReason: t.field({
      type: SessionQueueReasonEnum,
      nullable: true,
      description: 'Reason why the session waits in the queue; null if the session is not in the queue.',
      resolve: (session, _args, { loaders }) =>
        mayWaitForWorker(session) ? loaders.queueReasons.load(session.id) : null,
    }),
    queuePosition: t.int({
      nullable: true,
      description:
        'Place of the session among the sessions of its organization that wait in the queue, starting at 1 for the one that waits longest. The sessions of one user start in this order; workers take turns between users. Null if the session does not wait in the queue.',
      resolve: (session, _args, { loaders }) =>
        mayWaitForWorker(session) ? loaders.queuePositions.load(session.id) : null,
    }),
    endReason: t.expose('endedBy', {
      type: SessionEndReasonEnum,
      nullable: true,
      description: 'Reason why the session ended; null if the session has not ended.',
    }),
    isArchived: t.exposeBoolean('isArchived', {
      description: 'Whether the session is archived. An archived session accepts no messages.',
    }),
    isUnlisted: t.exposeBoolean('isUnlisted', {
      description: 'Whether lists leave the session out. The session can still be read by its id.',
    }),
    origin: t.expose('origin', {
      type: SessionOriginEnum,
      description: 'Origin of the session, for example the API or an automation.',
    }),
    agent: t.exposeString('agent', {
      nullable: true,
      description:
        'Id of the agent profile that runs the session: the requested one, or the default at the time when the session was started.',
    }),
    snapshotId: t.exposeString('snapshotId', {
      nullable: true,
      description: 'Id or name of the snapshot that was given at the start, as it was given; null if none was given.',
    }),
    tags: t.stringList({ description: 'Tags of the session, at most 50.', resolve: (session) => [...session.tags] }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time when the session was started.' }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description:
        'Time of the last activity: when the status or the messages of the session last changed. It does not change when the session is archived or unarchived.',
    }),
    createdBy: t.field({
      type: Principal,
      nullable: true,
      description: 'Principal that started the session; null if the viewer may not see that principal.',
      resolve: (session, _args, context) => loadPrincipal(context, session),
    }),
    parent: t.field({
      type: Session,
      nullable: true,
      description:
        'Session that started this session, or that it is a fork of; null if there is none or the viewer may not see it.',
      resolve: (session, _args, { loaders }) =>
        session.parentId === null ? null : loaders.sessions.load(session.parentId),
    }),
    acusConsumed: t.exposeFloat('acusConsumed', {
      description: 'Number of ACUs (agent compute units) that the session has used so far.',
    }),
    maxAcuLimit: t.int({
      nullable: true,
      description:
        'Maximum number of ACUs that the session may use; null if the session has no limit of its own, so that only those of its organization apply. A limit above 2,147,483,647, the largest Int, is returned as that number.',
      resolve: ({ maxAcuLimit }) => toInt(maxAcuLimit),
    }),
    structuredOutputSchema: t.expose('structuredOutputSchema', {
      type: 'JSON',
      nullable: true,
      description: 'JSON Schema (Draft 7) for the structured output of the session; null if there is none.',
    }),
    structuredOutput: t.expose('structuredOutput', {
      type: 'JSON',
      nullable: true,
      description: 'Last valid structured output of the session; null if there is none.',
    }),
    pullRequests: t.field({
      type: [PullRequestType],
      description: 'Pull requests that the session created, and the one that it reviews.',
      resolve: ({ id, pullRequests }) => pullRequests.map((each) => ({ ...each, sessionId: id })),
    }),
    messages: t.connection(
      {
        type: SessionMessage,
        ...boundary(viewsSession),
        description: 'Messages of the session, oldest first.',
        resolve: (session, args, context) =>
          logConnection(context, session, logRequest(args, { messagesOnly: true })) as never,
      },
      SessionMessageList.connection,
    ),
    events: t.connection(
      {
        type: SessionEvent,
        ...boundary(viewsSession),
        description: 'All entries of the session’s log, including messages, oldest first.',
        args: {
          kinds: t.arg({
            type: [SessionEventKindEnum],
            description: 'Kinds of log entries to return. All kinds if omitted.',
          }),
        },
        resolve: (session, args, context) =>
          logConnection(context, session, logRequest(args, { kinds: args.kinds ?? null, messagesOnly: false })),
      },
      SessionEventList.connection,
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

/** The types of lists of Session. */
export const SessionList = listTypes(Session, 'Session');

builder.queryField('session', (t) =>
  t.field({
    type: Session,
    nullable: true,
    description: 'Looks up a session by its id. Null if no such session exists or the viewer may not see it.',
    args: { id: t.arg.id({ required: true, description: sessionIdDescription }) },
    resolve: (_root, { id }, { domain }) => findSession(ofAnySession(domain, 'view'), id),
  }),
);
