import type { MemberChange } from '../../../domain/identity/provisioning/group-members.ts';
import type { GroupMember, ProvisionedGroup } from '../../../domain/identity/provisioning/list-provisioned-groups.ts';
import type { GroupChange, GroupValues } from '../../../domain/identity/provisioning/provision-groups.ts';
import { prefixedId } from '../../../domain/ids.ts';
import { type Attributes, attributeName, readAttributes, textOf } from './attributes.ts';
import { scimError } from './dialect.ts';
import { type Filter, parseFilter } from './filter.ts';
import type { Operation } from './patch.ts';
import { groupSchema } from './schemas.ts';
import { userLocation } from './user-resource.ts';
import { withVersion } from './versions.ts';

/** Returns the address of a group. */
export const groupLocation = ({ id }: Pick<ProvisionedGroup, 'id'>, baseUrl: string): string =>
  `${baseUrl}/scim/v2/Groups/${prefixedId('idpGroup', id)}`;

interface GroupResource {
  readonly schemas: readonly string[];
  readonly id: string;
  readonly externalId?: string;
  readonly displayName: string;
  readonly members?: readonly object[];
  /** `version`: undefined if the members have not been read. */
  readonly meta: {
    readonly resourceType: string;
    readonly created: string;
    readonly location: string;
    readonly version?: string;
  };
}

/** A group as a resource. `members` null: they have not been read. */
export function presentGroup(
  group: ProvisionedGroup,
  members: readonly GroupMember[] | null,
  baseUrl: string,
): GroupResource {
  const { name, externalId } = group;
  const resource: GroupResource = {
    schemas: [groupSchema],
    id: prefixedId('idpGroup', group.id),
    ...(externalId !== null && { externalId }),
    displayName: name,
    ...(members !== null && { members: members.map((member) => presentMember(member, baseUrl)) }),
    meta: { resourceType: 'Group', created: group.createdAt.toISOString(), location: groupLocation(group, baseUrl) },
  };
  // The members are part of the version.
  return members === null ? resource : withVersion(resource);
}

const presentMember = ({ userId, email }: GroupMember, baseUrl: string) => ({
  value: prefixedId('user', userId),
  display: email,
  type: 'User',
  $ref: userLocation({ id: userId }, baseUrl),
});

/** Reads a resource, and records its members as the only ones of the group. A resource without members leaves them as they are. */
export function readGroup(resource: unknown, members: MemberChange): GroupValues {
  const attributes = readAttributes(resource);
  const { name, externalId = null } = readChange(attributes);
  if (name === undefined) throw scimError('invalidValue', '"displayName" is required.');
  if (attributes.has('members')) members.replace(readMembers(attributes.get('members')));
  return { name, externalId };
}

/** Reads the changes of a PATCH, and records those of the members. Attributes that the service does not keep are ignored. */
export function readGroupPatch(operations: readonly Operation[], members: MemberChange): GroupChange {
  const attributes = new Map<string, unknown>();
  for (const operation of operations) {
    for (const [name, value] of readTargets(operation, members)) attributes.set(name, value);
  }
  return readChange(attributes);
}

function readTargets({ op, path, value }: Operation, members: MemberChange): Iterable<[string, unknown]> {
  if (path === null) {
    const targets = readAttributes(value);
    if (targets.has('members')) changeMembers(op, targets.get('members'), members);
    return targets;
  }
  const name = attributeName(path.trim());
  if (/^members\s*\[/.test(name)) {
    removeSelected(op, path, members);
    return [];
  }
  if (!/^[a-z][\w$:.-]*$/.test(name) || name.startsWith('members.')) {
    throw scimError('invalidPath', `${JSON.stringify(path.slice(0, 60))} is not a path of a group.`);
  }
  if (name === 'members') changeMembers(op, value, members);
  return [[name, op === 'remove' ? null : value]];
}

function changeMembers(op: Operation['op'], value: unknown, members: MemberChange): void {
  // Without a value, all members are removed (RFC 7644, 3.5.2.2).
  if (op === 'remove' && (value === undefined || value === null)) members.replace([]);
  else members[op](readMembers(value));
}

function removeSelected(op: Operation['op'], path: string, members: MemberChange): void {
  const filter = parseFilter(path);
  const ids = filter.kind === 'element' ? selectedIds(filter.part) : null;
  if (op !== 'remove' || ids === null) {
    throw scimError(
      'invalidPath',
      'A path that selects members must be members[value eq "…"] of an operation "remove".',
    );
  }
  members.remove(ids);
}

/** Returns the ids that a filter of members names; null: it is another filter. */
function selectedIds(filter: Filter): string[] | null {
  if (filter.kind === 'or') {
    const all = filter.parts.map(selectedIds);
    return all.every((ids) => ids !== null) ? all.flat() : null;
  }
  if (filter.kind !== 'comparison') return null;
  const { path, operator, value } = filter;
  return path === 'members.value' && operator === 'eq' && typeof value === 'string' ? [value] : null;
}

function readMembers(value: unknown): string[] {
  // Null is the same as no values (RFC 7643, 2.5).
  const list: readonly unknown[] = Array.isArray(value) ? value : value === null ? [] : [value];
  return list.map((each) => {
    const id = typeof each === 'object' && each !== null && 'value' in each ? each.value : undefined;
    if (typeof id !== 'string')
      throw scimError('invalidValue', 'Each of "members" must be an object with the id of a user as its "value".');
    return id;
  });
}

function readChange(attributes: Attributes): GroupChange {
  const name = textOf(attributes, 'displayname');
  if (name === null) throw scimError('invalidValue', '"displayName" cannot be removed.');
  const externalId = textOf(attributes, 'externalid');
  return { ...(name !== undefined && { name }), ...(externalId !== undefined && { externalId }) };
}
