import { prefixedId } from '../../domain/ids.ts';
import { membersOf } from '../../domain/organizations/members.ts';
import { listEnterpriseOrganizations, listOrganizations } from '../../domain/organizations/organizations.ts';
import { findOrganization } from '../../domain/organizations/use-organization.ts';
import { pageOf } from '../../domain/pages.ts';
import { sessionsOf } from '../../domain/sessions/list-sessions.ts';
import { builder } from '../builder.ts';
import { countable, nestedConnection, nestedPage, toConnection } from '../connections.ts';
import { pageLimits } from '../loaders.ts';
import { toInt } from '../whole-number.ts';
import { Enterprise } from './enterprise-ref.ts';
import { boundary } from './needs.ts';
import { Organization } from './organization-ref.ts';
import { Member, MemberConnection } from './people.ts';
import { parseSessionFilter, sessionListArgs } from './session-filter.ts';
import { Session, SessionConnection } from './sessions.ts';
import { findSessionsAhead, organizationWithSessions } from './sessions-ahead.ts';

builder.node(Organization, {
  description: 'A part of the enterprise with sessions, members and resources of its own.',
  id: { resolve: (organization) => organization.id, description: 'The global ID.' },
  fields: (t) => ({
    organizationId: t.string({
      description: 'The id as REST writes it.',
      resolve: ({ id }) => prefixedId('organization', id),
    }),
    name: t.exposeString('name', { description: 'Its name.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    maxCycleAcuLimit: t.int({
      nullable: true,
      description:
        'The ACUs that it may use in a cycle; null: as many as it likes. A limit above 2,147,483,647, the largest Int, is shown as that.',
      resolve: ({ maxCycleAcuLimit }) => toInt(maxCycleAcuLimit),
    }),
    maxSessionAcuLimit: t.int({
      nullable: true,
      description:
        'The ACUs that one session may use, whatever limit it has of its own; null: no limit. A limit above 2,147,483,647, the largest Int, is shown as that.',
      resolve: ({ maxSessionAcuLimit }) => toInt(maxSessionAcuLimit),
    }),
    maxConcurrentSessions: t.exposeInt('maxConcurrentSessions', {
      nullable: true,
      description:
        'The most of its sessions that run at once; others wait in the queue. Null: the default of the service. 0: no limit.',
    }),
    defaultAgent: t.exposeString('defaultAgent', {
      nullable: true,
      description: 'The agent profile of its sessions that name none; null: the one that `agents` calls the default.',
    }),
    sessions: t.connection(
      {
        type: Session,
        ...boundary('viewSession'),
        description: 'Its sessions, newest first unless ordered otherwise; archived ones too, unless filtered.',
        args: sessionListArgs(t.arg),
        // A promise also of what is refused: beside one that rejects later, what is thrown in a list ends the process.
        resolve: async (organization, args, context) => {
          const { filter, orderBy } = args;
          const page = pageOf(args);
          const list = sessionsOf(context.domain, organization.id, parseSessionFilter(filter), orderBy ?? undefined);
          const ahead = findSessionsAhead(organization, list, page);
          return ahead ? countable(context, list, ahead) : nestedConnection(context, list, page);
        },
      },
      SessionConnection,
    ),
    members: t.connection(
      {
        type: Member,
        ...boundary('viewMembers'),
        description: 'Its members, newest first.',
        resolve: async ({ id }, page, context) => nestedPage(context, membersOf(context.domain, id), page),
      },
      MemberConnection,
    ),
  }),
});

const OrganizationConnection = builder.connectionObject(
  { type: Organization, name: 'OrganizationConnection', description: 'A page of organizations.' },
  { name: 'OrganizationEdge', description: 'An organization in a list.' },
);

builder.node(Enterprise, {
  description: 'The whole installation’s tenant.',
  id: { resolve: (enterprise) => enterprise.id, description: 'The global ID.' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    organizations: t.connection(
      {
        type: Organization,
        description: 'All its organizations, newest first, also those that the viewer may not use.',
        resolve: async (_enterprise, page, { domain }) =>
          toConnection(await listEnterpriseOrganizations(domain, page, pageLimits)),
      },
      OrganizationConnection,
    ),
  }),
});

builder.queryFields((t) => ({
  organizations: t.connection(
    {
      type: Organization,
      description: 'The organizations that the viewer may use, newest first.',
      resolve: async (_root, page, { domain }) => toConnection(await listOrganizations(domain, page, pageLimits)),
    },
    OrganizationConnection,
  ),
  organization: t.field({
    type: Organization,
    nullable: true,
    description: 'An organization by its id; null when there is none that the viewer may use.',
    args: { id: t.arg.id({ required: true, description: 'The global ID, or any form of the organization’s id.' }) },
    extensions: organizationWithSessions,
    resolve: (_root, { id }, { domain }) => findOrganization(domain, id),
  }),
  enterprise: t.field({
    type: Enterprise,
    nullable: true,
    description: 'The viewer’s enterprise; null for a viewer of one organization.',
    resolve: (_root, _args, { domain, loaders }) =>
      domain.viewer.homeOrganizationId === null ? loaders.enterprises.load(domain.viewer.enterpriseId) : null,
  }),
}));
