import { type KeyListScope, keysOf } from '../../../domain/identity/keys/list-api-keys.ts';
import type { ListOrder } from '../../../domain/sorted-pages.ts';
import type { GraphqlContext } from '../context.ts';
import { addList, type ListArgs, listTypes } from './add-list.ts';
import { ApiKey } from './api-keys.ts';
import { Enterprise } from './enterprise-ref.ts';
import { ApiKeyKindEnum, ApiKeyStatusEnum } from './enums.ts';
import { createdBounds, filterInput, orderInput, parseListFilter, readId } from './list-inputs.ts';
import { Organization } from './organization-ref.ts';
import { ServiceUser } from './people.ts';
import { ViewerType } from './viewer.ts';

/** The types of lists of ApiKey. */
export const ApiKeyList = listTypes(ApiKey, 'ApiKey');

const ApiKeyFilterInput = filterInput('ApiKey', (t) => ({
  status: t.field({
    type: ApiKeyStatusEnum,
    description: 'Only keys with this status. Defaults to `ACTIVE`.',
  }),
  kind: t.field({ type: [ApiKeyKindEnum], description: 'Only keys of one of these kinds.' }),
  search: t.string({ description: 'Only keys with a name that contains this text, regardless of case.' }),
  userId: t.id({ description: 'Only keys of this user. Global ID or REST id.' }),
  serviceUserId: t.id({ description: 'Only keys of this service user. Global ID or REST id.' }),
  ...createdBounds(t),
}));

const ApiKeyOrderInput = orderInput('ApiKey', 'Time when the key was created.');

type KeyListArgs = ListArgs<typeof ApiKeyFilterInput.$inferInput, ListOrder<'createdAt'>>;

function listKeys({ domain }: GraphqlContext, scope: KeyListScope, args: KeyListArgs) {
  const filter = {
    ...parseListFilter(args.filter),
    kinds: args.filter?.kind ?? undefined,
    userId: readId('user', args.filter?.userId),
    serviceUserId: readId('serviceUser', args.filter?.serviceUserId),
  };
  return keysOf(domain, scope, filter, args.orderBy);
}

const keys = { types: ApiKeyList, filter: ApiKeyFilterInput, order: ApiKeyOrderInput };

addList(Organization, 'apiKeys', {
  ...keys,
  description:
    'Service keys of the organization and keys of its service users. Viewers who manage users also get the keys of users that are bound to the organization.',
  needs: 'manageOrganizationKeys',
  read: ({ id }, args, context) => listKeys(context, { of: 'organization', id }, args),
});

addList(Enterprise, 'apiKeys', {
  ...keys,
  description:
    'API keys of the whole enterprise. Includes service keys and keys of service users with `MANAGE_ACCOUNT_SERVICE_USERS`, and keys of users with `MANAGE_ACCOUNT_MEMBERSHIP`.',
  needs: ['manageEnterpriseServiceKeys', 'manageUserKeys'],
  read: (_enterprise, args, context) => listKeys(context, { of: 'enterprise' }, args),
});

addList(ServiceUser, 'apiKeys', {
  ...keys,
  description: 'API keys of the service user. Empty unless the viewer is the service user or manages it.',
  read: ({ id }, args, context) => listKeys(context, { of: 'serviceUser', id }, args),
});

addList(ViewerType, 'apiKeys', {
  ...keys,
  description:
    'API keys of the viewer. If the viewer uses a key that acts in one organization, only keys for that organization.',
  read: (_viewer, args, context) => listKeys(context, { of: 'viewer' }, args),
});
