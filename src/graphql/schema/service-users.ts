import { globalId } from '../../domain/ids.ts';
import type { ServiceUserRecord } from '../../domain/people/find-people.ts';
import { listServiceUsers, serviceUsersOf } from '../../domain/people/list-service-users.ts';
import { createServiceUser, deleteServiceUser, updateServiceUser } from '../../domain/people/service-users.ts';
import { builder } from '../builder.ts';
import { nestedPage, toConnection } from '../connections.ts';
import { pageLimits } from '../loaders.ts';
import { addMutation } from './add-mutation.ts';
import { Enterprise } from './enterprise-ref.ts';
import { boundary } from './needs.ts';
import { Organization } from './organization-ref.ts';
import { clientMutationIdDescription, idempotencyKeyDescription, idempotencyKeyOf, payloadType } from './payloads.ts';
import { RoleAssignment, RoleAssignmentConnection, ServiceUser } from './people.ts';
import { organizationIdOf, ScopeInput, scopeDescription } from './places.ts';

const serviceUserIdDescription = 'The service user: its global ID, or any form of its id.';
const includeInactiveDescription = 'Also those that were deleted or have expired.';

const ServiceUserConnection = builder.connectionObject(
  { type: ServiceUser, name: 'ServiceUserConnection', description: 'A page of service users.' },
  { name: 'ServiceUserEdge', description: 'A service user in a list.' },
);

builder.objectFields(Organization, (t) => ({
  serviceUsers: t.connection(
    {
      type: ServiceUser,
      ...boundary('viewServiceUsers'),
      description: 'Its service users, newest first.',
      args: { includeInactive: t.arg.boolean({ defaultValue: false, description: includeInactiveDescription }) },
      resolve: async ({ id }, { includeInactive, ...page }, context) =>
        nestedPage(context, serviceUsersOf(context.domain, id, { includeInactive }), page),
    },
    ServiceUserConnection,
  ),
}));

builder.objectFields(Enterprise, (t) => ({
  serviceUsers: t.connection(
    {
      type: ServiceUser,
      ...boundary('viewEnterpriseServiceUsers'),
      description: 'All service users, its own and its organizations’, newest first.',
      args: { includeInactive: t.arg.boolean({ defaultValue: false, description: includeInactiveDescription }) },
      resolve: async (_enterprise, { includeInactive, ...page }, { domain }) =>
        toConnection(await listServiceUsers(domain, { includeInactive }, page, pageLimits)),
    },
    ServiceUserConnection,
  ),
}));

builder.objectFields(ServiceUser, (t) => ({
  roleAssignments: t.connection(
    {
      type: RoleAssignment,
      description: 'Its roles, newest first: those in the places whose service users the viewer manages.',
      resolve: async ({ id }, page, { loaders }) => toConnection(await loaders.rolePage('serviceUser', id, page)),
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
