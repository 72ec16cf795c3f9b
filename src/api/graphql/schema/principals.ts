import type { Owner } from '../../../auth/viewer.ts';
import { type Editor, editorOf } from '../../../domain/authors.ts';
import type { ServiceKeyRecord } from '../../../domain/identity/keys/find-service-keys.ts';
import type { ServiceUserRecord, UserRecord } from '../../../domain/identity/people/find-people.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { organizationField, restIdField } from './organization-ref.ts';
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

/** Fields of the same name have the same type in every type that implements this interface. */
export const Principal = builder.interfaceRef<PrincipalRecord>('Principal').implement({
  description: 'Actor that owns or changes resources: a user, a service user, a service key or the service itself.',
  interfaces: [builder.nodeInterfaceRef()],
  resolveType: typeOf,
  fields: (t) => ({
    displayName: t.string({
      description: 'Name of the principal for display. For a user without a name, the email address.',
      resolve: displayNameOf,
    }),
  }),
});

export const ServiceKey = builder.objectRef<ServiceKeyRecord>('ServiceKey');
builder.node(ServiceKey, {
  description: 'Service key as a principal: an API key of an organization or of the enterprise that acts for itself.',
  interfaces: [Principal],
  id: { resolve: ({ id }) => id, description: 'Global ID of the principal, unique across all types.' },
  fields: (t) => ({
    apiKeyId: restIdField(t, 'apiKey', 'REST id of the key: `key-` and 32 hexadecimal digits.'),
    name: t.exposeString('name', {
      nullable: true,
      description: 'Name of the key. Never null; the field is nullable only to match `User.name`.',
    }),
    organization: organizationField(
      t,
      'Organization that the key acts in; null if the key acts in the whole enterprise or the viewer may not use the organization.',
    ),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time when the key was created.' }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time when the key was revoked; null if it was not revoked.',
    }),
  }),
});

const SystemPrincipal = builder.objectRef<typeof systemPrincipal>('SystemPrincipal');
builder.node(SystemPrincipal, {
  description:
    'The service itself as a principal, for what no caller requested: it starts sessions of automations that run as their organization, and disables failing webhook endpoints.',
  interfaces: [Principal],
  id: { resolve: ({ id }) => id, description: 'Global ID of the principal, unique across all types.' },
});

/** Loads the creator of an object that the viewer may read; null if the viewer may not know who it was. */
export async function loadPrincipal(
  { loaders }: GraphqlContext,
  { userId, serviceUserId, serviceKeyId }: Owner,
): Promise<PrincipalRecord | null> {
  if (userId !== null) return loaders.userAuthors.load(userId);
  if (serviceUserId !== null) return loaders.serviceUserAuthors.load(serviceUserId);
  return serviceKeyId === null ? systemPrincipal : loaders.serviceKeyAuthors.load(serviceKeyId);
}

type Managed = Owner & Editor & { readonly createdAt: Date; readonly updatedAt: Date };

/** The fields for the creator and the last editor of a managed resource, with its timestamps and version. */
export function authorshipFields<T extends Managed>(t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, T>) {
  return {
    createdBy: t.field({
      type: Principal,
      nullable: true,
      description: 'Principal that created the resource; null if the viewer may not see that principal.',
      resolve: (resource, _args, context) => loadPrincipal(context, resource),
    }),
    updatedBy: t.field({
      type: Principal,
      nullable: true,
      description: 'Principal that last changed the resource; null if the viewer may not see that principal.',
      resolve: (resource, _args, context) => loadPrincipal(context, editorOf(resource)),
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'Time when the resource was created.',
      resolve: ({ createdAt }) => createdAt,
    }),
    updatedAt: t.field({
      type: 'DateTime',
      description: 'Time when the resource was last changed. Equal to `createdAt` until the first change.',
      resolve: ({ updatedAt }) => updatedAt,
    }),
    version: t.field({ type: 'Int', description: versionDescription, resolve: ({ version }) => version }),
  };
}
