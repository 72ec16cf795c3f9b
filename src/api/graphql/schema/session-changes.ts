import type { EntityChange } from '../../../domain/changes/watch-entities.ts';
import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import type { SessionRecord } from '../../../domain/sessions/session.ts';
import { watchChanges } from '../../../domain/sessions/watch-changes.ts';
import { watchWaiting } from '../../../domain/sessions/watch-waiting.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import { afterDescription, Change, nowDescription, presentChange, startChanges } from './changes-field.ts';
import { QuestionEvent } from './events.ts';
import { needs, viewsSession } from './needs.ts';
import { restIdField } from './organization-ref.ts';
import { parseSessionFilter, SessionFilterInput } from './session-filter.ts';
import { Session } from './sessions.ts';

type ChangedSession = EntityChange<SessionRecord>;

/** The fields of every change of a session. */
const sessionFields = (t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, ChangedSession>) => ({
  session: t.expose('record', { type: Session, nullable: true, description: nowDescription('Session') }),
  sessionId: restIdField(t, 'session', 'REST id of the session: `devin-` and 32 hexadecimal digits.'),
});

const organizationIdDescription =
  'Global ID or REST id of the organization. If omitted, all organizations where the viewer holds `VIEW_ORG_SESSIONS`, including those added later.';

const SessionChange = builder.objectRef<ChangedSession>('SessionChange').implement({
  description: 'Change of a session, as reported by `sessionChanges`.',
  interfaces: [Change],
  fields: sessionFields,
});

builder.subscriptionField('sessionChanges', (t) =>
  t.field({
    type: SessionChange,
    extensions: needs(viewsSession),
    description: [
      'Reports sessions when they are started, change, start or stop matching the filter, or are no longer visible. Each change is reported at least once; changes close together (0.1 seconds, plus 1 millisecond for each organization) may arrive as one.',
      'To miss nothing, read `changesCursor` together with the list and send it as `after`, or subscribe first and then read the list within 10 seconds. For a session that does not match the filter, LEFT is reported once until the session matches again, even if the client never had it. LEFT is not reported if the session was started after those 10 seconds and this connection has not reported it, or if it fails a condition that cannot change, such as its creator or origin.',
      'When a session is deleted because its retention ended, REMOVED is reported, also to clients that never had it. When an organization is deleted, or the viewer may no longer view its sessions, REMOVED is reported for the last 1,000 sessions that this connection has reported and that match the filter. The subscription ends when no organization is left.',
      'Use the filter `{statusDetail: [WAITING_FOR_USER, WAITING_FOR_APPROVAL]}` to follow the sessions that wait for an answer.',
    ].join('\n\n'),
    args: {
      organizationId: t.arg.id({ description: organizationIdDescription }),
      filter: t.arg({
        type: SessionFilterInput,
        description: 'Filter for the sessions that the client lists. All sessions except unlisted ones if omitted.',
      }),
      after: t.arg.string({ description: afterDescription('sessionChanges') }),
    },
    subscribe: (_root, { organizationId = null, filter, after }, context) =>
      startChanges(context, 'sessionChanges', after, (cursor) =>
        watchChanges(ofAnySession(context.domain, 'view'), context.watches, {
          organizationId,
          filter: parseSessionFilter(filter),
          after: cursor,
        }),
      ),
    resolve: (change, _args, context) => presentChange(change, context),
  }),
);

const QueueChange = builder.objectRef<ChangedSession>('QueueChange').implement({
  description: 'Change of a session that waits in the queue, as reported by `queueChanges`.',
  interfaces: [Change],
  fields: (t) => ({
    ...sessionFields(t),
    waitingCount: t.int({
      nullable: true,
      description:
        'Number of sessions of the same organization that wait in the queue at the time of the report; null if `type` is REMOVED.',
      resolve: ({ record }, _args, { loaders }) =>
        record === null ? null : loaders.waitingCounts.load(record.organizationId),
    }),
  }),
});

builder.subscriptionField('queueChanges', (t) =>
  t.field({
    type: QueueChange,
    extensions: needs(viewsSession),
    description: [
      'Reports the sessions that wait for a worker when they enter the queue, change or leave it: sessions with the status NEW or RESUMING. Select `session { queuePosition queueReason }` for the place of a session and the reason why it waits.',
      'When a session leaves the queue, the sessions behind it move up; this is not reported for each of them. Everything else is as in `sessionChanges`, with the same cursors.',
    ].join('\n\n'),
    args: {
      organizationId: t.arg.id({ description: organizationIdDescription }),
      after: t.arg.string({ description: afterDescription('queueChanges') }),
    },
    subscribe: (_root, { organizationId = null, after }, context) =>
      startChanges(context, 'queueChanges', after, (cursor) =>
        watchChanges(ofAnySession(context.domain, 'view'), context.watches, {
          organizationId,
          filter: { status: ['new', 'resuming'] },
          after: cursor,
        }),
      ),
    resolve: (change, _args, context) => presentChange(change, context),
  }),
);

const AttentionChange = builder.objectRef<ChangedSession>('AttentionChange').implement({
  description: 'Change of a session that waits for the viewer, as reported by `attention`.',
  interfaces: [Change],
  fields: (t) => ({
    ...sessionFields(t),
    question: t.field({
      type: QuestionEvent,
      nullable: true,
      description:
        'Question that the session waits with; answer it with `answerQuestion`. Null if the session asks nothing, such as after its turn, and if it no longer waits.',
      resolve: ({ type, record }, _args, { loaders }) =>
        record === null || record.pendingQuestionId === null || (type !== 'ADDED' && type !== 'UPDATED')
          ? null
          : loaders.logEntries.load(record.pendingQuestionId),
    }),
  }),
});

builder.subscriptionField('attention', (t) =>
  t.field({
    type: AttentionChange,
    extensions: needs(viewsSession),
    description: [
      'Reports the sessions of `Viewer.waitingForMe`: ADDED when a session starts to wait for an answer that the viewer may give, UPDATED when it changes and still waits, LEFT when it no longer waits. Covers all organizations of the viewer, including those added later. After the viewer has lost the permission to answer, LEFT is reported with the next change of the session.',
      'To miss nothing, read `changesCursor` together with `viewer { waitingForMe }` and send it as `after`. Everything else is as in `sessionChanges`, with the same cursors.',
    ].join('\n\n'),
    args: { after: t.arg.string({ description: afterDescription('attention') }) },
    subscribe: (_root, { after }, context) =>
      startChanges(context, 'attention', after, (cursor) =>
        watchWaiting(ofAnySession(ofAnySession(context.domain, 'view'), 'manage'), context.watches, cursor),
      ),
    resolve: (change, _args, context) => presentChange(change, context),
  }),
);
