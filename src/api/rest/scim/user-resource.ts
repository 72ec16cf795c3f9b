import type { UserRecord } from '../../../domain/identity/people/find-people.ts';
import type { ProvisionedChange, ProvisionedValues } from '../../../domain/identity/provisioning/provision-users.ts';
import { prefixedId } from '../../../domain/ids.ts';
import { type Attributes, attributeName, booleanOf, readAttribute, readAttributes, textOf } from './attributes.ts';
import { scimError } from './dialect.ts';
import type { Operation } from './patch.ts';
import { userSchema } from './schemas.ts';
import { withVersion } from './versions.ts';

/** Returns the address of a user. */
export const userLocation = ({ id }: Pick<UserRecord, 'id'>, baseUrl: string): string =>
  `${baseUrl}/scim/v2/Users/${prefixedId('user', id)}`;

/** A user as a resource. The address is also the only email of the user. */
export function presentUser(user: UserRecord, baseUrl: string) {
  const { email, name, externalId, givenName, familyName } = user;
  return withVersion({
    schemas: [userSchema],
    id: prefixedId('user', user.id),
    ...(externalId !== null && { externalId }),
    userName: email,
    ...(name !== null && {
      name: {
        formatted: name,
        ...(givenName !== null && { givenName }),
        ...(familyName !== null && { familyName }),
      },
      displayName: name,
    }),
    active: user.deactivatedAt === null,
    emails: [{ value: email, type: 'work', primary: true }],
    meta: { resourceType: 'User', created: user.createdAt.toISOString(), location: userLocation(user, baseUrl) },
  });
}

/** The values of a resource. `isActive`: undefined if the resource does not say it. */
type ReadUser = Omit<ProvisionedValues, 'isActive'> & { readonly isActive: boolean | undefined };

/** Reads a resource, with null for all names that it lacks. */
export function readUser(resource: unknown): ReadUser {
  const { email, name = null, ...values } = readChange(readAttributes(resource));
  const { externalId = null, givenName = null, familyName = null, isActive } = values;
  if (email === undefined) {
    throw scimError('invalidValue', '"userName" is required. It is the email address of the user.');
  }
  return { email, name, externalId, givenName, familyName, isActive };
}

/** Reads the changes of a PATCH. Attributes that the service does not keep are ignored. */
export function readPatch(operations: readonly Operation[]): ProvisionedChange {
  const attributes = new Map<string, unknown>();
  for (const { op, path, value } of operations) {
    for (const [name, each] of readTargets(path, op === 'remove' ? null : value)) attributes.set(name, each);
  }
  return readChange(attributes);
}

function readTargets(path: string | null, value: unknown): Iterable<[string, unknown]> {
  if (path === null) return readAttributes(value);
  // A condition selects one of several values, as in `emails[type eq "work"].value`, and users have no such attribute.
  if (!/^[A-Za-z][\w$:.-]*(?:\[[^[\]]{1,500}\](?:\.[\w$-]+)?)?$/.test(path)) {
    throw scimError('invalidPath', `${JSON.stringify(path.slice(0, 60))} is not a path of an attribute.`);
  }
  const name = attributeName(path);
  if (name === 'name' && value === null) return ['givenname', 'familyname'].map((part) => [`name.${part}`, null]);
  return readAttribute(name, value);
}

function readChange(attributes: Attributes): ProvisionedChange {
  const email = textOf(attributes, 'username');
  if (email === null || attributes.get('active') === null) {
    throw scimError('invalidValue', '"userName" and "active" cannot be removed.');
  }
  const name = textOf(attributes, 'displayname') ?? textOf(attributes, 'name.formatted');
  const change = {
    email,
    name: name === undefined && attributes.has('displayname') ? null : name,
    externalId: textOf(attributes, 'externalid'),
    givenName: textOf(attributes, 'name.givenname'),
    familyName: textOf(attributes, 'name.familyname'),
    isActive: booleanOf(attributes, 'active'),
  };
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}
