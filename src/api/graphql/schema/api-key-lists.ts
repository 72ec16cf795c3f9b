import { type KeyListScope, keysOf } from '../../../domain/identity/keys/list-api-keys.ts';
import type { PageRequest } from '../../../domain/pages.ts';
import type { ListOrder } from '../../../domain/sorted-pages.ts';
import { builder } from '../builder.ts';
import { nestedConnection } from '../connections.ts';
import type { GraphqlContext } from '../context.ts';
import { ApiKey } from './api-keys.ts';
import { countedConnectionAndEdge } from './counted-connection.ts';
import { Enterprise } from './enterprise-ref.ts';
import { ApiKeyKindEnum, ApiKeyStatusEnum } from './enums.ts';
import { createdBounds, listArgs, orderInput, parseListFilter, readId } from './list-inputs.ts';
import { boundary } from './needs.ts';
import { Organization } from './organization-ref.ts';
import { ServiceUser } from './people.ts';
import { ViewerType } from './viewer.ts';

/** ApiKeyConnection and ApiKeyEdge. */
export const { connection: ApiKeyConnection, edge: ApiKeyEdge } = countedConnectionAndEdge(ApiKey, 'ApiKey', {
  page: 'A page of a list of API keys.',
  edge: 'An API key in a page, with its cursor.',
});

const ApiKeyFilterInput = builder.inputType('ApiKeyFilter', {
  description:
    'Conditions for a list of API keys. A key must meet every condition that is given, and match one value of each list.',
  fields: (t) => ({
    status: t.field({
      type: ApiKeyStatusEnum,
      description: 'Only keys with this status. Defaults to `ACTIVE`.',
    }),
    kind: t.field({ type: [ApiKeyKindEnum], description: 'Only keys of one of these kinds.' }),
    search: t.string({ description: 'Only keys with a name that contains this text, regardless of case.' }),
    userId: t.id({ description: 'Only keys of this user. Global ID or REST id.' }),
    serviceUserId: t.id({ description: 'Only keys of this service user. Global ID or REST id.' }),
    ...createdBounds(t),
  }),
});

const ApiKeyOrderInput = orderInput('ApiKey', 'Time when the key was created.');

interface KeyListArgs extends PageRequest {
  readonly filter?: typeof ApiKeyFilterInput.$inferInput | null | undefined;
  readonly orderBy?: ListOrder<'createdAt'> | null | undefined;
}

async function keyConnection(context: GraphqlContext, scope: KeyListScope, args: KeyListArgs) {
  const { status, kind, userId, serviceUserId } = args.filter ?? {};
  const filter = {
    ...parseListFilter(args.filter),
    status: status ?? undefined,
    kinds: kind ?? undefined,
    userId: readId('user', userId),
    serviceUserId: readId('serviceUser', serviceUserId),
  };
  return nestedConnection(context, keysOf(context.domain, scope, filter, args.orderBy), args);
}

builder.objectFields(Organization, (t) => ({
  apiKeys: t.connection(
    {
      type: ApiKey,
      ...boundary('manageOrganizationKeys'),
      description:
        'Service keys of the organization and keys of its service users. Newest first unless `orderBy` says otherwise. Viewers who manage users also get the keys of users that are bound to the organization.',
      args: listArgs(t.arg, ApiKeyFilterInput, ApiKeyOrderInput),
      resolve: async ({ id }, args, context) => keyConnection(context, { of: 'organization', id }, args),
    },
    ApiKeyConnection,
  ),
}));

builder.objectFields(Enterprise, (t) => ({
  apiKeys: t.connection(
    {
      type: ApiKey,
      ...boundary(['manageEnterpriseServiceKeys', 'manageUserKeys']),
      description:
        'API keys of the whole enterprise. Newest first unless `orderBy` says otherwise. Includes service keys and keys of service users with `MANAGE_ACCOUNT_SERVICE_USERS`, and keys of users with `MANAGE_ACCOUNT_MEMBERSHIP`.',
      args: listArgs(t.arg, ApiKeyFilterInput, ApiKeyOrderInput),
      resolve: async (_enterprise, args, context) => keyConnection(context, { of: 'enterprise' }, args),
    },
    ApiKeyConnection,
  ),
}));

builder.objectFields(ServiceUser, (t) => ({
  apiKeys: t.connection(
    {
      type: ApiKey,
      description:
        'API keys of the service user. Newest first unless `orderBy` says otherwise. Empty unless the viewer is the service user or manages it.',
      args: listArgs(t.arg, ApiKeyFilterInput, ApiKeyOrderInput),
      resolve: async ({ id }, args, context) => keyConnection(context, { of: 'serviceUser', id }, args),
    },
    ApiKeyConnection,
  ),
}));

builder.objectFields(ViewerType, (t) => ({
  apiKeys: t.connection(
    {
      type: ApiKey,
      description:
        'API keys of the viewer. Newest first unless `orderBy` says otherwise. If the viewer uses a key that acts in one organization, only keys for that organization.',
      args: listArgs(t.arg, ApiKeyFilterInput, ApiKeyOrderInput),
      resolve: async (_viewer, args, context) => keyConnection(context, { of: 'viewer' }, args),
    },
    ApiKeyConnection,
  ),
}));
