import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import type { Count } from '../../../domain/nested-pages.ts';
import { type PageRequest, pageOf } from '../../../domain/pages.ts';
import {
  countSessionsAcross,
  listSessionsAcross,
  type SessionScope,
} from '../../../domain/sessions/sessions-across.ts';
import { builder } from '../builder.ts';
import { toConnection } from '../connections.ts';
import type { GraphqlContext } from '../context.ts';
import { pageLimits } from '../loaders.ts';
import { Enterprise } from './enterprise-ref.ts';
import { boundary } from './needs.ts';
import { parseSessionFilter, type SessionListArgs, sessionListArgs } from './session-filter.ts';
import { Session, SessionList } from './sessions.ts';
import { ViewerType } from './viewer.ts';

// An enterprise permission applies to each session of the enterprise.
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
        'Sessions of all organizations where the viewer holds `VIEW_ORG_SESSIONS`, or of all organizations with `VIEW_ACCOUNT_SESSIONS`. Newest first unless `orderBy` says otherwise. Includes archived sessions unless the filter excludes them.',
      args: sessionListArgs(t.arg),
      resolve: (_root, args, context) => acrossConnection(context, 'viewable', args),
    },
    SessionList.connection,
  ),
);

builder.objectField(Enterprise, 'sessions', (t) =>
  t.connection(
    {
      type: Session,
      ...boundary('viewEnterpriseSessions'),
      description:
        'Sessions of all organizations of the enterprise, newest first unless `orderBy` says otherwise. Includes archived sessions unless the filter excludes them.',
      args: sessionListArgs(t.arg),
      resolve: (_enterprise, args, context) => acrossConnection(context, 'enterprise', args),
    },
    SessionList.connection,
  ),
);

builder.objectFields(ViewerType, (t) => ({
  sessions: t.connection(
    {
      type: Session,
      description:
        'Sessions that the viewer started, in all organizations where the viewer may view sessions. Newest first unless `orderBy` says otherwise.',
      args: sessionListArgs(t.arg),
      resolve: (_viewer, args, context) => acrossConnection(context, 'own', args),
    },
    SessionList.connection,
  ),
  waitingForMe: t.connection(
    {
      type: Session,
      description:
        'Sessions that wait for an answer that the viewer may give, in all organizations of the viewer, newest first unless `orderBy` says otherwise. Their `statusDetail` is WAITING_FOR_USER or WAITING_FOR_APPROVAL, and the viewer started them or holds `MANAGE_ORG_SESSIONS` in their organization. Use the filter `createdByIds` to get only those that the viewer started.',
      args: sessionListArgs(t.arg),
      resolve: (_viewer, args, context) => acrossConnection(context, 'waiting', args),
    },
    SessionList.connection,
  ),
}));
