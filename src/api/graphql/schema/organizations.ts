import { findEnterprises } from '../../../domain/identity/organizations/enterprises.ts';
import { membersOf } from '../../../domain/identity/organizations/members.ts';
import { findStoredBytes } from '../../../domain/identity/organizations/organization-quotas.ts';
import {
  type OrganizationOrder,
  type OrganizationScope,
  organizationsOf,
} from '../../../domain/identity/organizations/organizations.ts';
import { findOrganization } from '../../../domain/identity/organizations/use-organization.ts';
import { pageOf } from '../../../domain/pages.ts';
import { sessionsOf } from '../../../domain/sessions/list-sessions.ts';
import { builder } from '../builder.ts';
import { countable, nestedConnection } from '../connections.ts';
import type { GraphqlContext } from '../context.ts';
import { toInt } from '../whole-number.ts';
import { addList, type ListArgs, listTypes } from './add-list.ts';
import { Enterprise } from './enterprise-ref.ts';
import { createdBounds, filterInput, listArgs, orderInput, parseListFilter, readIds } from './list-inputs.ts';
import { boundary } from './needs.ts';
import { Organization, restIdField } from './organization-ref.ts';
import { MemberList } from './people.ts';
import { parseSessionFilter, sessionListArgs } from './session-filter.ts';
import { Session, SessionList } from './sessions.ts';
import { findSessionsAhead, organizationWithSessions } from './sessions-ahead.ts';
import { ViewerType } from './viewer.ts';

builder.node(Organization, {
  description: 'A part of the enterprise with its own sessions, members and resources.',
  id: {
    resolve: (organization) => organization.id,
    description: 'Global ID of the organization, unique across all types.',
  },
  fields: (t) => ({
    organizationId: restIdField(t, 'organization', 'REST id of the organization (`org-…`).'),
    name: t.exposeString('name', { description: 'Name of the organization.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time when the organization was created.' }),
    maxCycleAcuLimit: t.int({
      nullable: true,
      description:
        'Maximum number of ACUs that the organization may use in a cycle, which is a calendar month in UTC; null if there is no limit. A limit above 2,147,483,647, the largest Int, is returned as 2,147,483,647.',
      resolve: ({ maxCycleAcuLimit }) => toInt(maxCycleAcuLimit),
    }),
    maxSessionAcuLimit: t.int({
      nullable: true,
      description:
        'Maximum number of ACUs that each session may use, even if the session has a higher limit; null if there is no limit. A limit above 2,147,483,647, the largest Int, is returned as 2,147,483,647.',
      resolve: ({ maxSessionAcuLimit }) => toInt(maxSessionAcuLimit),
    }),
    maxConcurrentSessions: t.exposeInt('maxConcurrentSessions', {
      nullable: true,
      description:
        'Maximum number of sessions of the organization that run at the same time. Other sessions wait in the queue. Null for the default of the service, 0 for no limit.',
    }),
    maxQueuedSessions: t.exposeInt('maxQueuedSessions', {
      nullable: true,
      description:
        'Maximum number of sessions of the organization that wait for a worker. Null for the default of the service, 0 for no limit.',
    }),
    maxStorageMb: t.exposeInt('maxStorageMb', {
      nullable: true,
      description:
        'Maximum size of the attachments and checkpoints of the organization together, in MiB. Null for the default of the service, 0 for no limit.',
    }),
    maxTokensPerDay: t.exposeFloat('maxTokensPerDay', {
      nullable: true,
      description:
        'Maximum number of tokens, of inputs and outputs together, that the sessions of the organization may use in a day in UTC. Null for the default of the service, 0 for no limit.',
    }),
    storedBytes: t.float({
      description: 'Size of the attachments and checkpoints of the organization, in bytes.',
      resolve: async ({ id }, _args, { loaders }) => (await loaders.of(findStoredBytes).load(id)) ?? 0,
    }),
    defaultAgent: t.exposeString('defaultAgent', {
      nullable: true,
      description: 'Id of the agent for sessions that are created without an agent; null for the default in `agents`.',
    }),
    sessions: t.connection(
      {
        type: Session,
        ...boundary('viewSession'),
        description:
          'Sessions of the organization, newest first by default. Archived sessions are included unless the filter excludes them.',
        args: sessionListArgs(t.arg),
        // Returns a promise for errors too: in a list, an exception beside a promise that rejects later ends the
        // process.
        resolve: async (organization, args, context) => {
          const { filter, orderBy } = args;
          const page = pageOf(args);
          const list = sessionsOf(context.domain, organization.id, parseSessionFilter(filter), orderBy ?? undefined);
          const ahead = findSessionsAhead(organization, list, page);
          return ahead ? countable(context, list, ahead) : nestedConnection(context, list, page);
        },
      },
      SessionList.connection,
    ),
  }),
});

const MemberFilterInput = filterInput('Member', (t) => ({
  search: t.string({
    description: 'Only members whose name or email address contains this text, regardless of case.',
  }),
  email: t.string({ description: 'Only the member with exactly this email address, regardless of case.' }),
  roleIds: t.idList({ description: 'Only members with one of these roles in the organization.' }),
  ...createdBounds(t),
}));

const MemberOrderInput = orderInput('Member', 'Time when the membership began.');

addList(Organization, 'members', {
  types: MemberList,
  description: 'Members of the organization.',
  needs: 'viewMembers',
  filter: MemberFilterInput,
  order: MemberOrderInput,
  read: ({ id }, args, { domain }) => {
    const filter = {
      ...parseListFilter(args.filter),
      roleIds: readIds('role', args.filter?.roleIds),
    };
    return membersOf(domain, id, filter, args.orderBy);
  },
});

const OrganizationFilterInput = filterInput('Organization', (t) => ({
  search: t.string({ description: 'Only organizations whose name contains this text, regardless of case.' }),
  ...createdBounds(t),
}));

const OrganizationOrderInput = orderInput('Organization', 'Time when the organization was created.', {
  name: 'The first 64 characters of the name, regardless of case.',
});

type OrganizationListArgs = ListArgs<typeof OrganizationFilterInput.$inferInput, OrganizationOrder>;

const listOrganizations = ({ domain }: GraphqlContext, scope: OrganizationScope, args: OrganizationListArgs) =>
  organizationsOf(domain, scope, parseListFilter(args.filter), args.orderBy);

/** The types of lists of Organization. */
export const OrganizationList = listTypes(Organization, 'Organization');

builder.node(Enterprise, {
  description: 'The tenant of the installation, to which all organizations, users and service users belong.',
  id: { resolve: (enterprise) => enterprise.id, description: 'Global ID of the enterprise, unique across all types.' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Display name of the enterprise.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time when the enterprise was created.' }),
  }),
});

addList(Enterprise, 'organizations', {
  types: OrganizationList,
  description: 'All organizations of the enterprise, including those that the viewer may not use.',
  filter: OrganizationFilterInput,
  order: OrganizationOrderInput,
  read: (_enterprise, args, context) => listOrganizations(context, 'all', args),
});

builder.queryFields((t) => ({
  organizations: t.connection(
    {
      type: Organization,
      description: 'Organizations that the viewer may use. Newest first unless `orderBy` says otherwise.',
      args: listArgs(t.arg, OrganizationFilterInput, OrganizationOrderInput),
      resolve: async (_root, args, context) =>
        nestedConnection(context, listOrganizations(context, 'usable', args), args),
    },
    OrganizationList.connection,
  ),
  organization: t.field({
    type: Organization,
    nullable: true,
    description: 'The organization with an id; null if there is none with the id that the viewer may use.',
    args: { id: t.arg.id({ required: true, description: 'Global ID or REST id of the organization (`org-…`).' }) },
    extensions: organizationWithSessions,
    resolve: (_root, { id }, { domain }) => findOrganization(domain, id),
  }),
  enterprise: t.field({
    type: Enterprise,
    nullable: true,
    description:
      'The enterprise of the viewer; null if the viewer is bound to a single organization, or may not read the enterprise.',
    resolve: (_root, _args, { domain, loaders }) =>
      domain.viewer.homeOrganizationId === null ? loaders.of(findEnterprises).load(domain.viewer.enterpriseId) : null,
  }),
}));

addList(ViewerType, 'organizations', {
  types: OrganizationList,
  description: 'Organizations that the viewer may use.',
  filter: OrganizationFilterInput,
  order: OrganizationOrderInput,
  read: (_viewer, args, context) => listOrganizations(context, 'usable', args),
});
