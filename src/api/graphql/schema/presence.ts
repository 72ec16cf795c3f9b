import { permissionFor } from '../../../auth/permissions.ts';
import { requirePermission } from '../../../auth/viewer.ts';
import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import type { SessionViewer } from '../../../domain/sessions/presence/presence.ts';
import { reportPresence } from '../../../domain/sessions/presence/report-presence.ts';
import { watchPresence } from '../../../domain/sessions/presence/watch-presence.ts';
import { builder } from '../builder.ts';
import { renewLoaders } from '../context.ts';
import { addMutation } from './add-mutation.ts';
import { boundary, needs, viewsSession } from './needs.ts';
import { loadPrincipal, Principal } from './principals.ts';
import { sessionIdDescription } from './session-id.ts';
import { Session } from './sessions.ts';

const SessionViewerType = builder.objectRef<SessionViewer>('SessionViewer').implement({
  description: 'A principal that has a session open in at least one client which reports it with `sendPresence`.',
  fields: (t) => ({
    principal: t.field({
      type: Principal,
      nullable: true,
      description: 'Principal that views the session; null if the viewer may not see the principal.',
      resolve: (viewer, _args, context) => loadPrincipal(context, viewer),
    }),
    isTyping: t.exposeBoolean('isTyping', { description: 'Whether the principal is typing a message.' }),
  }),
});

builder.objectFields(Session, (t) => ({
  viewers: t.field({
    type: [SessionViewerType],
    ...boundary(viewsSession),
    description:
      'Principals that have the session open now, at most 100, each once. Clients report it with `sendPresence`; it is not stored.',
    resolve: ({ id, organizationId }, _args, { domain, watches }) => {
      requirePermission(ofAnySession(domain, 'view').viewer, permissionFor.viewSession, organizationId);
      return [...watches.presence.viewersOf(id)];
    },
  }),
}));

addMutation('sendPresence', {
  description:
    'Reports that a client shows a session, and whether its user is typing a message, to the others who view it. The report is valid for 10 seconds: repeat it every 5 seconds. It is not stored, and does not change the session.',
  needs: [viewsSession],
  input: (t) => ({
    sessionId: t.id({ required: true, description: sessionIdDescription }),
    clientId: t.string({
      required: true,
      description:
        'Id that the client chose at random, for example for a browser tab: 1 to 64 letters, digits, hyphens or underscores.',
    }),
    isTyping: t.boolean({ defaultValue: false, description: 'Whether the user is typing a message.' }),
    hasLeft: t.boolean({ defaultValue: false, description: 'Whether the client no longer shows the session.' }),
  }),
  payload: {
    session: { type: Session, description: 'Session that the client shows. Null if `userErrors` is not empty.' },
  },
  act: async ({ sessionId, clientId, isTyping, hasLeft }, { domain, watches }) => ({
    session: await reportPresence(ofAnySession(domain, 'view'), watches.presence, {
      sessionId,
      clientId,
      isTyping: isTyping ?? false,
      hasLeft: hasLeft ?? false,
    }),
  }),
});

builder.subscriptionFields((t) => ({
  sessionPresence: t.field({
    type: [SessionViewerType],
    extensions: needs(viewsSession),
    description:
      'Sends the principals that have a session open, then all of them again after each change. Changes close together may arrive as one.',
    args: { sessionId: t.arg.id({ required: true, description: sessionIdDescription }) },
    subscribe: (_root, { sessionId }, { domain, watches }) =>
      watchPresence(ofAnySession(domain, 'view'), watches, sessionId),
    resolve: (viewers, _args, context) => {
      renewLoaders(context);
      return [...(viewers as readonly SessionViewer[])];
    },
  }),
}));
