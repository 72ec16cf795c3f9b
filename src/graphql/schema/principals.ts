import type { Owner } from '../../auth/viewer.ts';
import { type Editor, editorOf } from '../../domain/authors.ts';
import { prefixedId } from '../../domain/ids.ts';
import type { ServiceKeyRecord } from '../../domain/keys/find-service-keys.ts';
import type { ServiceUserRecord, UserRecord } from '../../domain/people/find-people.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { Organization } from './organization-ref.ts';
import { versionDescription } from './payloads.ts';

/** The service itself as a principal. */
export const systemPrincipal = { id: 'system', isSystem: true } as const;

/** A record of one of the types that implement Principal. */
export type PrincipalRecord = UserRecord | ServiceUserRecord | ServiceKeyRecord | typeof systemPrincipal;

function typeOf(principal: PrincipalRecord): 'User' | 'ServiceUser' | 'ServiceKey' | 'SystemPrincipal' {
  if ('isSystem' in principal) return 'SystemPrincipal';
  if ('email' in principal) return 'User';
  return 'revokedAt' in principal ? 'ServiceKey' : 'ServiceUser';
}

function displayNameOf(principal: PrincipalRecord): string {
  if ('isSystem' in principal) return 'Switchyard';
  return 'email' in principal ? (principal.name ?? principal.email) : principal.name;
}

/** Principal of the contract. Members of the same name have the same type in all that implement it. */
export const Principal = builder.interfaceRef<PrincipalRecord>('Principal').implement({
  description: 'Anything that acts: a user, a service user, a service key or the service itself.',
  interfaces: [builder.nodeInterfaceRef()],
  resolveType: typeOf,
  fields: (t) => ({
    displayName: t.string({
      description: 'The name to show: the name, or for a user without a name the email address.',
      resolve: displayNameOf,
    }),
  }),
});

/** ServiceKey of the contract. */
export const ServiceKey = builder.objectRef<ServiceKeyRecord>('ServiceKey');
builder.node(ServiceKey, {
  description: 'A service key as a principal: a key of an organization, or of the enterprise, that acts for itself.',
  interfaces: [Principal],
  id: { resolve: ({ id }) => id, description: 'The global ID.' },
  fields: (t) => ({
    apiKeyId: t.string({
      description: 'The id of the key as REST writes it.',
      resolve: ({ id }) => prefixedId('apiKey', id),
    }),
    name: t.exposeString('name', {
      nullable: true,
      description:
        'The name of the key. A key always has one; the type is that of User.name, beside which it can be selected.',
    }),
    organization: t.field({
      type: Organization,
      nullable: true,
      description:
        'The organization that the key acts in; null: the key acts in the whole enterprise, or the viewer may not use the organization.',
      resolve: ({ organizationId }, _args, { loaders }) =>
        organizationId === null ? null : loaders.organizations.load(organizationId),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'The time at which the key was created.' }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time at which the key was revoked; null: it is not revoked.',
    }),
  }),
});

const SystemPrincipal = builder.objectRef<typeof systemPrincipal>('SystemPrincipal');
builder.node(SystemPrincipal, {
  description:
    'The service itself, as the author of what no caller asked for: sessions of automations that run as their organization, webhook endpoints that it disabled.',
  interfaces: [Principal],
  id: { resolve: ({ id }) => id, description: 'The global ID.' },
});

/** Loads who made a thing that the viewer can read; null: the viewer may not know who it was. */
export async function loadPrincipal(
  { loaders }: GraphqlContext,
  { userId, serviceUserId, serviceKeyId }: Owner,
): Promise<PrincipalRecord | null> {
  if (userId !== null) return loaders.userAuthors.load(userId);
  if (serviceUserId !== null) return loaders.serviceUserAuthors.load(serviceUserId);
  return serviceKeyId === null ? systemPrincipal : loaders.serviceKeyAuthors.load(serviceKeyId);
}

type Managed = Owner & Editor & { readonly createdAt: Date; readonly updatedAt: Date };

/** The fields that say who created a managed resource, who changed it last, when, and how often. */
export function authorshipFields<T extends Managed>(t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, T>) {
  return {
    createdBy: t.field({
      type: Principal,
      nullable: true,
      description: 'The principal that created it; null: the viewer may not see that principal.',
      resolve: (thing, _args, context) => loadPrincipal(context, thing),
    }),
    updatedBy: t.field({
      type: Principal,
      nullable: true,
      description: 'The principal that changed it last; null: the viewer may not see that principal.',
      resolve: (thing, _args, context) => loadPrincipal(context, editorOf(thing)),
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'The time at which it was created.',
      resolve: ({ createdAt }) => createdAt,
    }),
    updatedAt: t.field({
      type: 'DateTime',
      description: 'The time at which it was last changed; at first the time at which it was created.',
      resolve: ({ updatedAt }) => updatedAt,
    }),
    version: t.field({ type: 'Int', description: versionDescription, resolve: ({ version }) => version }),
  };
}
