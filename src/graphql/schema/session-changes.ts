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
  ADDED: 'It matches the filter, and this connection has not reported it, or last reported that it left.',
  UPDATED: 'It matches the filter, as it did when this connection reported it last, and something of it has changed.',
  LEFT: 'It does not match the filter (any more). The client may never have had it: then there is nothing to do.',
  REMOVED: 'It is out of sight: its organization was deleted, or the viewer may no longer view its sessions.',
};

const ChangeTypeEnum = builder.enumType('ChangeType', {
  description: 'How something changed, for a list that a client keeps current.',
  values: Object.fromEntries(
    Object.entries(meanings).map(([value, description]) => [value, { value: value as ChangeType, description }]),
  ) as Record<ChangeType, { value: ChangeType; description: string }>,
});

const SessionChangeType = builder.objectRef<SessionChange>('SessionChange').implement({
  description: 'A change of a session, as `sessionChanges` reports it.',
  fields: (t) => ({
    type: t.expose('type', {
      type: ChangeTypeEnum,
      description: 'ADDED and UPDATED: show the session. LEFT and REMOVED: take it out of the list.',
    }),
    cursor: t.exposeString('cursor', {
      description:
        'The place of this change. As `after`, or as `Last-Event-ID` of server-sent events, it continues from here, in any process and after restarts.',
    }),
    session: t.expose('session', {
      type: Session,
      nullable: true,
      description: 'The session as it is now, which may be later than the change; null when it was REMOVED.',
    }),
    sessionId: t.string({
      description: 'The id of the session in the form of REST, such as "devin-" and 32 hexadecimal digits.',
      resolve: ({ sessionId }) => prefixedId('session', sessionId),
    }),
  }),
});

const blameHeader = blameLastEventId('an event of "sessionChanges"');

builder.subscriptionField('sessionChanges', (t) =>
  t.field({
    type: SessionChangeType,
    description: [
      'Reports sessions as they are started, change, enter or leave a filter, or go out of sight. Each change is reported at least once; changes close together (0.1 seconds, and 1 millisecond for each organization) may come as one.',
      'Subscribe, then read the list within 10 seconds: nothing is missed. Of a session that does not match, LEFT is reported once until it matches again, even if the client never had it; never if it was started later than those 10 seconds and this connection has not reported it, or if it fails a condition that cannot change, such as its creator or origin.',
      'When an organization is deleted, or the viewer may no longer view its sessions, REMOVED is reported of the last 1,000 sessions that this connection has reported and that match. The subscription ends when no organization is left.',
      'With the filter `{status: [NEW, RESUMING]}` it follows the queue, with `{statusDetail: [WAITING_FOR_USER, WAITING_FOR_APPROVAL]}` the sessions that wait for an answer.',
    ].join('\n\n'),
    args: {
      organizationId: t.arg.id({
        description:
          'The organization, by its global ID or any form of its id. When left out: all organizations where the viewer holds VIEW_ORG_SESSIONS, those that are added later included.',
      }),
      filter: t.arg({
        type: SessionFilterInput,
        description: 'The sessions that the client lists; all when left out.',
      }),
      after: t.arg.string({
        description:
          'A cursor of `sessionChanges`. Changes since then are reported first. Left out: only changes from now on. Any other text, and a cursor that is newer than the database, gets BAD_CURSOR.',
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
