import { prefixedId } from '../../domain/ids.ts';
import { ofAnySession } from '../../domain/sessions/enterprise-scope.ts';
import type { ChangeType } from '../../domain/sessions/known-sessions.ts';
import { type SessionChange, watchChanges } from '../../domain/sessions/watch-changes.ts';
import { builder } from '../builder.ts';
import { renewLoaders } from '../context.ts';
import { blameLastEventId } from '../last-event-id.ts';
import { parseSessionFilter, SessionFilterInput } from './session-filter.ts';
import { Session } from './sessions.ts';

const meanings: Record<ChangeType, string> = {
  ADDED:
    'The session matches the filter, and this connection has not reported it before or last reported that it left.',
  UPDATED: 'The session still matches the filter and has changed since this connection last reported it.',
  LEFT: 'The session does not match the filter, or no longer does. A client that never had the session can ignore the change.',
  REMOVED:
    'The session is no longer visible: its organization was deleted, or the viewer may no longer view sessions there.',
};

const ChangeTypeEnum = builder.enumType('ChangeType', {
  description: 'Type of a change to an item of a list that a client keeps current.',
  values: Object.fromEntries(
    Object.entries(meanings).map(([value, description]) => [value, { value: value as ChangeType, description }]),
  ) as Record<ChangeType, { value: ChangeType; description: string }>,
});

const SessionChangeType = builder.objectRef<SessionChange>('SessionChange').implement({
  description: 'Change of a session, as reported by `sessionChanges`.',
  fields: (t) => ({
    type: t.expose('type', {
      type: ChangeTypeEnum,
      description:
        'Type of the change. Show the session for ADDED and UPDATED; remove it from the list for LEFT and REMOVED.',
    }),
    cursor: t.exposeString('cursor', {
      description:
        'Cursor of the change. Send it as `after`, or as `Last-Event-ID` of server-sent events, to continue after this change, in any process and after restarts.',
    }),
    session: t.expose('session', {
      type: Session,
      nullable: true,
      description: 'Session in its current state, which may be newer than the change; null if `type` is REMOVED.',
    }),
    sessionId: t.string({
      description: 'REST id of the session: `devin-` and 32 hexadecimal digits.',
      resolve: ({ sessionId }) => prefixedId('session', sessionId),
    }),
  }),
});

const blameHeader = blameLastEventId('an event of "sessionChanges"');

builder.subscriptionField('sessionChanges', (t) =>
  t.field({
    type: SessionChangeType,
    description: [
      'Reports sessions when they are started, change, start or stop matching the filter, or are no longer visible. Each change is reported at least once; changes close together (0.1 seconds, plus 1 millisecond for each organization) may arrive as one.',
      'To miss nothing, subscribe first and then read the list within 10 seconds. For a session that does not match the filter, LEFT is reported once until the session matches again, even if the client never had it. LEFT is not reported if the session was started after those 10 seconds and this connection has not reported it, or if it fails a condition that cannot change, such as its creator or origin.',
      'When an organization is deleted, or the viewer may no longer view its sessions, REMOVED is reported for the last 1,000 sessions that this connection has reported and that match the filter. The subscription ends when no organization is left.',
      'Use the filter `{status: [NEW, RESUMING]}` to follow the queue, and `{statusDetail: [WAITING_FOR_USER, WAITING_FOR_APPROVAL]}` to follow the sessions that wait for an answer.',
    ].join('\n\n'),
    args: {
      organizationId: t.arg.id({
        description:
          'Global ID or REST id of the organization. If omitted, all organizations where the viewer holds `VIEW_ORG_SESSIONS`, including those added later.',
      }),
      filter: t.arg({
        type: SessionFilterInput,
        description: 'Filter for the sessions that the client lists. All sessions except unlisted ones if omitted.',
      }),
      after: t.arg.string({
        description:
          'Cursor of `sessionChanges`; changes after it are reported first. If omitted, only changes from now on are reported. BAD_CURSOR for any other text and for a cursor that is newer than the database.',
      }),
    },
    subscribe: (_root, { organizationId = null, filter, after = null }, { domain, watches, place }) => {
      const { lastEventId } = place;
      const request = { organizationId, filter: parseSessionFilter(filter), after: lastEventId ?? after };
      const changes = watchChanges(ofAnySession(domain, 'view'), watches.changes, request);
      return lastEventId === null ? changes : changes.catch(blameHeader);
    },
    resolve: (given, _args, context) => {
      renewLoaders(context);
      const change = given as SessionChange;
      context.place.eventId = change.cursor;
      return change as never;
    },
  }),
);
