import { permissionFor } from '../../../auth/permissions.ts';
import { requirePermission } from '../../../auth/viewer.ts';
import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { findPlaybooks } from '../../../domain/library/playbooks/playbooks.ts';
import { pageOf } from '../../../domain/pages.ts';
import type { SessionInsights } from '../../../domain/sessions/insights.ts';
import { childrenOf } from '../../../domain/sessions/list-sessions.ts';
import { builder } from '../builder.ts';
import { nestedConnection } from '../connections.ts';
import { SessionSizeEnum } from './enums.ts';
import { boundary, viewsSession } from './needs.ts';
import { Playbook } from './playbooks.ts';
import { parseSessionFilter, sessionListArgs } from './session-filter.ts';
import { Session, SessionList } from './sessions.ts';

const SessionInsightsType = builder.objectRef<SessionInsights>('SessionInsights').implement({
  description: 'Message counts and size of a session. The messages are counted when the field is requested.',
  fields: (t) => ({
    userMessageCount: t.exposeInt('userMessageCount', {
      description: 'Number of messages from users, including the prompt.',
    }),
    agentMessageCount: t.exposeInt('agentMessageCount', { description: 'Number of messages from the agent.' }),
    size: t.expose('size', {
      type: SessionSizeEnum,
      description: 'Size of the session by the ACUs that it has used so far.',
    }),
  }),
});

builder.objectFields(Session, (t) => ({
  children: t.connection(
    {
      type: Session,
      ...boundary(viewsSession),
      description: 'Sessions that this session started, and its forks. Newest first unless `orderBy` says otherwise.',
      args: sessionListArgs(t.arg),
      resolve: async (session, args, context) => {
        const { filter, orderBy } = args;
        const domain = ofAnySession(context.domain, 'view');
        const list = childrenOf(domain, session, parseSessionFilter(filter), orderBy ?? undefined);
        return nestedConnection(context, list, pageOf(args));
      },
    },
    SessionList.connection,
  ),
  playbook: t.field({
    type: Playbook,
    nullable: true,
    description:
      'Playbook that the session follows, even if it has been deleted; null if there is none or the viewer may not read it.',
    resolve: ({ playbookId }, _args, { loaders }) =>
      playbookId === null ? null : loaders.of(findPlaybooks).load(playbookId),
  }),
  insights: t.field({
    type: SessionInsightsType,
    ...boundary(viewsSession),
    description: 'Message counts and size of the session.',
    resolve: async (session, _args, { domain, loaders }) => {
      const { viewer } = ofAnySession(domain, 'view');
      requirePermission(viewer, permissionFor.viewSession, session.organizationId);
      return loaders.insights.load(session);
    },
  }),
}));
