import { permissionFor } from '../../auth/permissions.ts';
import { requirePermission } from '../../auth/viewer.ts';
import { pageOf } from '../../domain/pages.ts';
import { ofAnySession } from '../../domain/sessions/enterprise-scope.ts';
import type { SessionInsights } from '../../domain/sessions/insights.ts';
import { childrenOf } from '../../domain/sessions/list-sessions.ts';
import { builder } from '../builder.ts';
import { nestedConnection } from '../connections.ts';
import { SessionSizeEnum } from './enums.ts';
import { boundary, viewsSession } from './needs.ts';
import { Playbook } from './playbooks.ts';
import { parseSessionFilter, sessionListArgs } from './session-filter.ts';
import { Session, SessionConnection } from './sessions.ts';

const SessionInsightsType = builder.objectRef<SessionInsights>('SessionInsights').implement({
  description: 'What can be said of a session from its log. It is counted when it is asked for.',
  fields: (t) => ({
    userMessageCount: t.exposeInt('userMessageCount', { description: 'The messages of users, the prompt among them.' }),
    agentMessageCount: t.exposeInt('agentMessageCount', { description: 'The messages of the agent.' }),
    size: t.expose('size', { type: SessionSizeEnum, description: 'How much it used so far.' }),
  }),
});

builder.objectFields(Session, (t) => ({
  children: t.connection(
    {
      type: Session,
      ...boundary(viewsSession),
      description: 'The sessions that it started, newest first unless ordered otherwise.',
      args: sessionListArgs(t.arg),
      resolve: async (session, args, context) => {
        const { filter, orderBy } = args;
        const domain = ofAnySession(context.domain, 'view');
        const list = childrenOf(domain, session, parseSessionFilter(filter), orderBy ?? undefined);
        return nestedConnection(context, list, pageOf(args));
      },
    },
    SessionConnection,
  ),
  playbook: t.field({
    type: Playbook,
    nullable: true,
    description: 'The playbook that it follows, also one deleted since; null: none, or none that the viewer may read.',
    resolve: ({ playbookId }, _args, { loaders }) => (playbookId === null ? null : loaders.playbooks.load(playbookId)),
  }),
  insights: t.field({
    type: SessionInsightsType,
    ...boundary(viewsSession),
    description: 'What can be said of it from its log.',
    resolve: async (session, _args, { domain, loaders }) => {
      const { viewer } = ofAnySession(domain, 'view');
      requirePermission(viewer, permissionFor.viewSession, session.organizationId);
      return loaders.insights.load(session);
    },
  }),
}));
