import { ofAnySession } from '../../domain/sessions/enterprise-scope.ts';
import { sessionCursor } from '../../domain/sessions/list-sessions.ts';
import type { SessionRecord } from '../../domain/sessions/session.ts';
import { watchOrganization } from '../../domain/sessions/watch-organization.ts';
import { builder } from '../builder.ts';
import { renewLoaders } from '../context.ts';
import { parseSessionFilter, SessionFilterInput } from './session-filter.ts';
import { SessionEdge } from './sessions.ts';

builder.subscriptionField('organizationSessions', (t) =>
  t.field({
    type: SessionEdge,
    description:
      'The sessions of an organization as they are started and as they change, from now on; changes close together may come as one. With a filter those that it holds for then. The cursors are those of a list of the newest first. Whoever subscribes first and reads the list then misses nothing.',
    args: {
      organizationId: t.arg.id({
        required: true,
        description: 'The organization: its global ID, or any form of its id.',
      }),
      filter: t.arg({ type: SessionFilterInput, description: 'Which ones.' }),
    },
    subscribe: (_root, { organizationId, filter }, { domain, watches }) =>
      watchOrganization(
        ofAnySession(domain, 'view'),
        watches.organizations,
        organizationId,
        parseSessionFilter(filter),
      ),
    resolve: (session, _args, context) => {
      renewLoaders(context);
      const node = session as SessionRecord;
      return { cursor: sessionCursor(node), node } as never;
    },
  }),
);
