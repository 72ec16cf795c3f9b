import type { Count } from '../../domain/nested-pages.ts';
import { type PageRequest, pageOf } from '../../domain/pages.ts';
import { ofAnySession } from '../../domain/sessions/enterprise-scope.ts';
import { countSessionsAcross, listSessionsAcross, type SessionScope } from '../../domain/sessions/sessions-across.ts';
import { builder } from '../builder.ts';
import { toConnection } from '../connections.ts';
import type { GraphqlContext } from '../context.ts';
import { pageLimits } from '../loaders.ts';
import { Enterprise } from './enterprise-ref.ts';
import { boundary } from './needs.ts';
import { parseSessionFilter, type SessionListArgs, sessionListArgs } from './session-filter.ts';
import { Session, SessionConnection } from './sessions.ts';
import { ViewerType } from './viewer.ts';

// A permission on the enterprise is worth here what it is worth for each of its sessions.
async function acrossConnection({ domain }: GraphqlContext, scope: SessionScope, args: PageRequest & SessionListArgs) {
  const context = ofAnySession(ofAnySession(domain, 'view'), 'manage');
  const list = { filter: parseSessionFilter(args.filter), order: args.orderBy ?? undefined };
  let count: Promise<Count> | null = null;
  return toConnection(await listSessionsAcross(context, scope, { ...pageOf(args), ...list }, pageLimits), () => {
    count ??= countSessionsAcross(context, scope, list);
    return count;
  });
}

builder.queryField('sessions', (t) =>
  t.connection(
    {
      type: Session,
      description:
        'The sessions of all organizations where the viewer holds VIEW_ORG_SESSIONS, or with VIEW_ACCOUNT_SESSIONS of all organizations, newest first unless ordered otherwise. Archived ones are among them unless the filter leaves them out.',
      args: sessionListArgs(t.arg),
      resolve: (_root, args, context) => acrossConnection(context, 'viewable', args),
    },
    SessionConnection,
  ),
);

builder.objectField(Enterprise, 'sessions', (t) =>
  t.connection(
    {
      type: Session,
      ...boundary('viewEnterpriseSessions'),
      description:
        'The sessions of all organizations of the enterprise, newest first unless ordered otherwise. Archived ones are among them unless the filter leaves them out.',
      args: sessionListArgs(t.arg),
      resolve: (_enterprise, args, context) => acrossConnection(context, 'enterprise', args),
    },
    SessionConnection,
  ),
);

builder.objectFields(ViewerType, (t) => ({
  sessions: t.connection(
    {
      type: Session,
      description:
        'The sessions that the viewer started, in all organizations where it may view sessions, newest first unless ordered otherwise.',
      args: sessionListArgs(t.arg),
      resolve: (_viewer, args, context) => acrossConnection(context, 'own', args),
    },
    SessionConnection,
  ),
  waitingForMe: t.connection(
    {
      type: Session,
      description:
        'The sessions that wait for an answer that the viewer may give, in all its organizations, newest first unless ordered otherwise: their statusDetail is WAITING_FOR_USER or WAITING_FOR_APPROVAL, and the viewer started them or holds MANAGE_ORG_SESSIONS where they are. The filter createdByIds leaves only those that the viewer started.',
      args: sessionListArgs(t.arg),
      resolve: (_viewer, args, context) => acrossConnection(context, 'waiting', args),
    },
    SessionConnection,
  ),
}));
