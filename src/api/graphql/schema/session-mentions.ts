import { permissionFor } from '../../../auth/permissions.ts';
import { requirePermission } from '../../../auth/viewer.ts';
import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { findSessionMentions, type SessionMention } from '../../../domain/mentions/session-mentions.ts';
import { builder } from '../builder.ts';
import { needs, viewsSession } from './needs.ts';
import { Session } from './sessions.ts';

const SessionMentionType = builder.objectRef<SessionMention>('SessionMention').implement({
  description: 'Text at a forge that addressed the service and started a session.',
  fields: (t) => ({
    author: t.exposeString('author', { description: 'Login of the author at the forge.' }),
    repositoryPath: t.exposeString('path', { description: 'Path of the repository at the forge.' }),
    number: t.exposeInt('number', { description: 'Number of the issue or pull request in its repository.' }),
    isPullRequest: t.exposeBoolean('isPullRequest', {
      description: 'Whether the text belongs to a pull request; otherwise to an issue.',
    }),
    url: t.expose('url', {
      type: 'URI',
      nullable: true,
      description: 'Page of the text at the forge; null if the forge did not say.',
    }),
  }),
});

builder.objectField(Session, 'mention', (t) =>
  t.field({
    type: SessionMentionType,
    nullable: true,
    extensions: needs(viewsSession),
    description:
      'Mention at a forge that started the session; null if none did, and when the mention is deleted after 90 days.',
    resolve: ({ id, organizationId }, _args, { domain, loaders }) => {
      requirePermission(ofAnySession(domain, 'view').viewer, permissionFor.viewSession, organizationId);
      return loaders.of(findSessionMentions).load(id);
    },
  }),
);
