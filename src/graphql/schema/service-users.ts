import { globalId } from '../../domain/ids.ts';
import type { ServiceUserRecord } from '../../domain/people/find-people.ts';
import { serviceUsersOf } from '../../domain/people/list-service-users.ts';
import { createServiceUser, deleteServiceUser, updateServiceUser } from '../../domain/people/service-users.ts';
import { builder } from '../builder.ts';
import { nestedConnection } from '../connections.ts';
import { addMutation } from './add-mutation.ts';
import { countedConnection } from './counted-connection.ts';
import { Enterprise } from './enterprise-ref.ts';
import { createdBounds, listArgs, orderInput, parseListFilter, readIds } from './list-inputs.ts';
import { boundary } from './needs.ts';
import { Organization } from './organization-ref.ts';
import { clientMutationIdDescription, idempotencyKeyDescription, idempotencyKeyOf, payloadType } from './payloads.ts';
import {
  RoleAssignment,
  RoleAssignmentConnection,
  RoleAssignmentFilterInput,
  RoleAssignmentOrderInput,
  roleConnection,
  ServiceUser,
} from './people.ts';
import { organizationIdOf, ScopeInput, scopeDescription } from './places.ts';

const serviceUserIdDescription = 'The service user: its global ID, or any form of its id.';

const ServiceUserConnection = countedConnection(ServiceUser, 'ServiceUser', {
  page: 'A page of service users.',
  edge: 'A service user in a list.',
});

const ServiceUserFilterInput = builder.inputType('ServiceUserFilter', {
  description: 'Narrows a list of service users: all members that are given must hold, and of a list any one value.',
  fields: (t) => ({
    search: t.string({ description: 'Only service users whose name contains this text, upper and lower case alike.' }),
    includeInactive: t.boolean({
      description: 'True: also service users that were deleted or have expired. Left out: none of these.',
    }),
    roleIds: t.idList({
      description: 'Only service users with one of these roles, on the enterprise or in any of its organizations.',
    }),
    ...createdBounds(t),
  }),
});

const ServiceUserOrderInput = orderInput('ServiceUser', 'When the service user was made.');

const parseServiceUserFilter = (filter: typeof ServiceUserFilterInput.$inferInput | null | undefined) => ({
  ...parseListFilter(filter),
  includeInactive: filter?.includeInactive,
  roleIds: readIds('role', filter?.roleIds),
});

builder.objectFields(Organization, (t) => ({
  serviceUsers: t.connection(
    {
      type: ServiceUser,
      ...boundary('viewServiceUsers'),
      description: 'Its service users, newest first unless ordered otherwise.',
      args: listArgs(t.arg, ServiceUserFilterInput, ServiceUserOrderInput),
      resolve: async ({ id }, args, context) => {
        const list = serviceUsersOf(context.domain, id, parseServiceUserFilter(args.filter), args.orderBy);
        return nestedConnection(context, list, args);
      },
    },
    ServiceUserConnection,
  ),
}));

builder.objectFields(Enterprise, (t) => ({
  serviceUsers: t.connection(
    {
      type: ServiceUser,
      ...boundary('viewEnterpriseServiceUsers'),
      description: 'All service users, its own and its organizations’, newest first unless ordered otherwise.',
      args: listArgs(t.arg, ServiceUserFilterInput, ServiceUserOrderInput),
      resolve: async (_enterprise, args, context) => {
        const list = serviceUsersOf(context.domain, null, parseServiceUserFilter(args.filter), args.orderBy);
        return nestedConnection(context, list, args);
      },
    },
    ServiceUserConnection,
  ),
}));

builder.objectFields(ServiceUser, (t) => ({
  roleAssignments: t.connection(
    {
      type: RoleAssignment,
      description:
        'Its roles, newest first unless ordered otherwise: those in the organizations whose service users the viewer manages, and for who manages the enterprise’s all.',
      args: listArgs(t.arg, RoleAssignmentFilterInput, RoleAssignmentOrderInput),
      resolve: async ({ id }, args, context) => roleConnection(context, 'serviceUser', id, args),
    },
    RoleAssignmentConnection,
  ),
}));

const CreateServiceUserInput = builder.inputType('CreateServiceUserInput', {
  description: 'What a service user is made from.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'What to call it.' }),
    scope: t.field({ type: ScopeInput, required: true, description: scopeDescription }),
    roleId: t.id({
      required: true,
      description:
        'Its role in that scope: a global ID, or an id such as "org_member". It must hold nothing that the caller lacks.',
    }),
    expiresAt: t.field({ type: 'DateTime', description: 'When it ends, with all its keys; never when left out.' }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const CreateServiceUserPayload = payloadType<{ serviceUser: ServiceUserRecord }>(
  'CreateServiceUserPayload',
  'A service user that was made. It has no token until createApiKey makes one.',
  (t) => ({
    serviceUser: t.expose('serviceUser', { type: ServiceUser, nullable: true, description: 'The service user.' }),
  }),
);

addMutation('createServiceUser', {
  input: CreateServiceUserInput,
  payload: CreateServiceUserPayload,
  needs: [['createServiceUser', 'createEnterpriseServiceUser']],
  description: 'Makes a service user with its role.',
  act: async (input, context, info) => {
    const { scope, idempotencyKey: _key, clientMutationId: _mutation, ...rest } = input;
    const serviceUser = { ...rest, organizationId: organizationIdOf(scope) };
    const options = { idempotencyKey: idempotencyKeyOf(context, input, info) };
    return { serviceUser: await createServiceUser(context.domain, serviceUser, options) };
  },
});

const UpdateServiceUserInput = builder.inputType('UpdateServiceUserInput', {
  description: 'How a service user is to change.',
  fields: (t) => ({
    serviceUserId: t.id({ required: true, description: serviceUserIdDescription }),
    name: t.string({ required: true, description: 'What to call it from now on.' }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const UpdateServiceUserPayload = payloadType<{ serviceUser: ServiceUserRecord }>(
  'UpdateServiceUserPayload',
  'A service user that was changed.',
  (t) => ({
    serviceUser: t.expose('serviceUser', { type: ServiceUser, nullable: true, description: 'The service user.' }),
  }),
);

addMutation('updateServiceUser', {
  input: UpdateServiceUserInput,
  payload: UpdateServiceUserPayload,
  needs: [['deleteServiceUser', 'deleteEnterpriseServiceUser']],
  description: 'Changes a service user’s name.',
  act: async (input, { domain }) => ({
    serviceUser: await updateServiceUser(domain, input.serviceUserId, input),
  }),
});

const DeleteServiceUserInput = builder.inputType('DeleteServiceUserInput', {
  description: 'Which service user is to be deleted.',
  fields: (t) => ({
    serviceUserId: t.id({ required: true, description: serviceUserIdDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const DeleteServiceUserPayload = payloadType<{ deletedServiceUserId: string }>(
  'DeleteServiceUserPayload',
  'A service user that was deleted.',
  (t) => ({
    deletedServiceUserId: t.expose('deletedServiceUserId', {
      type: 'ID',
      nullable: true,
      description: 'The global ID of who is gone.',
    }),
  }),
);

addMutation('deleteServiceUser', {
  input: DeleteServiceUserInput,
  payload: DeleteServiceUserPayload,
  needs: [['deleteServiceUser', 'deleteEnterpriseServiceUser']],
  description: 'Deletes a service user: its roles and keys are gone at once, what it made stays and keeps its name.',
  act: async (input, { domain }) => {
    const { serviceUser } = await deleteServiceUser(domain, input.serviceUserId);
    return { deletedServiceUserId: globalId('serviceUser', serviceUser.id) };
  },
});
