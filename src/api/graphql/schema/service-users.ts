import { serviceUsersOf } from '../../../domain/identity/people/list-service-users.ts';
import {
  createServiceUser,
  deleteServiceUser,
  updateServiceUser,
} from '../../../domain/identity/people/service-users.ts';
import { globalId } from '../../../domain/ids.ts';
import { addList, listTypes } from './add-list.ts';
import { addMutation } from './add-mutation.ts';
import { Enterprise } from './enterprise-ref.ts';
import { createdBounds, filterInput, orderInput, parseListFilter, readIds } from './list-inputs.ts';
import { Organization } from './organization-ref.ts';
import { ServiceUser } from './people.ts';
import { organizationIdOf, ScopeInput, scopeDescription } from './scope-input.ts';

const serviceUserIdDescription = 'Global ID or REST id of the service user (`service-user-…`).';

/** The types of lists of ServiceUser. */
export const ServiceUserList = listTypes(ServiceUser, 'ServiceUser');

const ServiceUserFilterInput = filterInput('ServiceUser', (t) => ({
  search: t.string({ description: 'Only service users whose name contains this text, regardless of case.' }),
  includeInactive: t.boolean({
    description: 'True: also service users that were deleted or have expired. Left out: none of these.',
  }),
  roleIds: t.idList({
    description: 'Only service users with one of these roles, on the enterprise or in any of its organizations.',
  }),
  ...createdBounds(t),
}));

const ServiceUserOrderInput = orderInput('ServiceUser', 'Time when the service user was created.');

const parseServiceUserFilter = (filter: typeof ServiceUserFilterInput.$inferInput | null | undefined) => ({
  ...parseListFilter(filter),
  includeInactive: filter?.includeInactive,
  roleIds: readIds('role', filter?.roleIds),
});

addList(Organization, 'serviceUsers', {
  types: ServiceUserList,
  description: 'Service users of the organization.',
  needs: 'viewServiceUsers',
  filter: ServiceUserFilterInput,
  order: ServiceUserOrderInput,
  read: ({ id }, args, { domain }) => serviceUsersOf(domain, id, parseServiceUserFilter(args.filter), args.orderBy),
});

addList(Enterprise, 'serviceUsers', {
  types: ServiceUserList,
  description: 'Service users of the enterprise and of all its organizations.',
  needs: 'viewEnterpriseServiceUsers',
  filter: ServiceUserFilterInput,
  order: ServiceUserOrderInput,
  read: (_enterprise, args, { domain }) =>
    serviceUsersOf(domain, null, parseServiceUserFilter(args.filter), args.orderBy),
});

/** The payload of createServiceUser. */
export const CreateServiceUserPayload = addMutation('createServiceUser', {
  description: 'Creates a service user with a role. The service user has no token until `createApiKey` creates one.',
  needs: [['createServiceUser', 'createEnterpriseServiceUser']],
  input: (t) => ({
    name: t.string({ required: true, description: 'Name of the service user: 1 to 256 characters.' }),
    scope: t.field({ type: ScopeInput, required: true, description: scopeDescription }),
    roleId: t.id({
      required: true,
      description:
        'Global ID or id of the role of the service user in the scope, for example `org_member`. The caller must hold all permissions of the role.',
    }),
    expiresAt: t.field({
      type: 'DateTime',
      description:
        'Time when the service user and all its keys expire, in the future and not after the expiry of the key of the caller; null for no expiry.',
    }),
  }),
  takes: 'idempotencyKey',
  payload: { serviceUser: ServiceUser },
  act: async (input, context, options) => {
    const { scope, ...rest } = input;
    const serviceUser = { ...rest, organizationId: organizationIdOf(scope) };
    return { serviceUser: await createServiceUser(context.domain, serviceUser, options) };
  },
});

addMutation('updateServiceUser', {
  description: 'Updates the name of a service user.',
  needs: [['deleteServiceUser', 'deleteEnterpriseServiceUser']],
  input: (t) => ({
    serviceUserId: t.id({ required: true, description: serviceUserIdDescription }),
    name: t.string({ required: true, description: 'New name of the service user: 1 to 256 characters.' }),
  }),
  payload: { serviceUser: ServiceUser },
  act: async (input, { domain }) => ({
    serviceUser: await updateServiceUser(domain, input.serviceUserId, input),
  }),
});

addMutation('deleteServiceUser', {
  description:
    'Deletes a service user. Its roles and keys end at once. The resources that it created are kept and still show its name.',
  needs: [['deleteServiceUser', 'deleteEnterpriseServiceUser']],
  input: (t) => ({ serviceUserId: t.id({ required: true, description: serviceUserIdDescription }) }),
  payload: { deletedServiceUserId: 'ID' },
  act: async (input, { domain }) => {
    const { serviceUser } = await deleteServiceUser(domain, input.serviceUserId);
    return { deletedServiceUserId: globalId('serviceUser', serviceUser.id) };
  },
});
