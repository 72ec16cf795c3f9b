import { prefixedId } from '../../domain/ids.ts';
import { membersOf } from '../../domain/organizations/members.ts';
import {
  type OrganizationOrder,
  type OrganizationScope,
  organizationsOf,
} from '../../domain/organizations/organizations.ts';
import { findOrganization } from '../../domain/organizations/use-organization.ts';
import { type PageRequest, pageOf } from '../../domain/pages.ts';
import { sessionsOf } from '../../domain/sessions/list-sessions.ts';
import { builder } from '../builder.ts';
import { countable, nestedConnection } from '../connections.ts';
import type { GraphqlContext } from '../context.ts';
import { toInt } from '../whole-number.ts';
import { countedConnection } from './counted-connection.ts';
import { Enterprise } from './enterprise-ref.ts';
import { createdBounds, listArgs, orderInput, parseListFilter, readIds } from './list-inputs.ts';
import { boundary } from './needs.ts';
import { Organization } from './organization-ref.ts';
import { Member, MemberConnection } from './people.ts';
import { parseSessionFilter, sessionListArgs } from './session-filter.ts';
import { Session, SessionConnection } from './sessions.ts';
import { findSessionsAhead, organizationWithSessions } from './sessions-ahead.ts';
import { ViewerType } from './viewer.ts';

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
        description: 'Its members, the newest membership first unless ordered otherwise.',
        args: listArgs(t.arg, MemberFilterInput, MemberOrderInput),
        resolve: async ({ id }, args, context) => {
          const filter = {
            ...parseListFilter(args.filter),
            email: args.filter?.email ?? undefined,
            roleIds: readIds('role', args.filter?.roleIds),
          };
          return nestedConnection(context, membersOf(context.domain, id, filter, args.orderBy), args);
        },
      },
      MemberConnection,
    ),
  }),
});

const MemberFilterInput = builder.inputType('MemberFilter', {
  description:
    'Narrows a list of members: all members of the filter that are given must hold, and of a list any one value.',
  fields: (t) => ({
    search: t.string({
      description: 'Only members whose name or email address contains this text, upper and lower case alike.',
    }),
    email: t.string({ description: 'Only the member with exactly this email address, upper and lower case alike.' }),
    roleIds: t.idList({ description: 'Only members with one of these roles in the organization.' }),
    ...createdBounds(t),
  }),
});

const MemberOrderInput = orderInput('Member', 'When the membership began.');

const OrganizationFilterInput = builder.inputType('OrganizationFilter', {
  description: 'Narrows a list of organizations: all members that are given must hold.',
  fields: (t) => ({
    search: t.string({ description: 'Only organizations whose name contains this text, upper and lower case alike.' }),
    ...createdBounds(t),
  }),
});

const OrganizationOrderInput = orderInput('Organization', 'When the organization was made.', {
  name: 'The first 64 characters of the name, upper and lower case alike.',
});

interface OrganizationListArgs extends PageRequest {
  readonly filter?: typeof OrganizationFilterInput.$inferInput | null | undefined;
  readonly orderBy?: OrganizationOrder | null | undefined;
}

async function organizationConnection(context: GraphqlContext, scope: OrganizationScope, args: OrganizationListArgs) {
  const list = organizationsOf(context.domain, scope, parseListFilter(args.filter), args.orderBy);
  return nestedConnection(context, list, args);
}

const OrganizationConnection = countedConnection(Organization, 'Organization', {
  page: 'A page of organizations.',
  edge: 'An organization in a list.',
});

builder.node(Enterprise, {
  description: 'The whole installation’s tenant.',
  id: { resolve: (enterprise) => enterprise.id, description: 'The global ID.' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    organizations: t.connection(
      {
        type: Organization,
        description:
          'All its organizations, newest first unless ordered otherwise, also those that the viewer may not use.',
        args: listArgs(t.arg, OrganizationFilterInput, OrganizationOrderInput),
        resolve: async (_enterprise, args, context) => organizationConnection(context, 'all', args),
      },
      OrganizationConnection,
    ),
  }),
});

builder.queryFields((t) => ({
  organizations: t.connection(
    {
      type: Organization,
      description: 'The organizations that the viewer may use, newest first unless ordered otherwise.',
      args: listArgs(t.arg, OrganizationFilterInput, OrganizationOrderInput),
      resolve: async (_root, args, context) => organizationConnection(context, 'usable', args),
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

builder.objectField(ViewerType, 'organizations', (t) =>
  t.connection(
    {
      type: Organization,
      description: 'The organizations that the viewer may use, newest first unless ordered otherwise.',
      args: listArgs(t.arg, OrganizationFilterInput, OrganizationOrderInput),
      resolve: async (_viewer, args, context) => organizationConnection(context, 'usable', args),
    },
    OrganizationConnection,
  ),
);
