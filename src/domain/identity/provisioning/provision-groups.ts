import { z } from 'zod';
import { requireConfirmation } from '../../../auth/confirmation.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { refuse } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { newId } from '../../ids.ts';
import { parseInput, text } from '../../input.ts';
import { requireRolesGranted } from '../idp-groups/group-roles.ts';
import { rolesOfGroups } from '../idp-groups/idp-groups.ts';
import { deleteLockedGroup, groupNameSchema, requireRoomForGroups } from '../idp-groups/register-idp-groups.ts';
import { announceKeyChange } from '../keys/key-changes.ts';
import { changeMembers, type MemberChange } from './group-members.ts';
import {
  findGroupMembers,
  type GroupMember,
  groupColumns,
  type ProvisionedGroup,
  readGroup,
} from './list-provisioned-groups.ts';

const valuesSchema = z.object({
  name: groupNameSchema('name'),
  externalId: text('externalId', { max: 500 }).nullable(),
});

const changeSchema = valuesSchema.partial();

/** The values of a group in a directory. */
export type GroupValues = z.input<typeof valuesSchema>;

/** Changes of the values of a group: an omitted member does not change. */
export type GroupChange = z.input<typeof changeSchema>;

/** A group with all members that directories have added. */
export interface CurrentGroup {
  readonly group: ProvisionedGroup;
  readonly members: readonly GroupMember[];
}

/** A condition of a change: throws if the group, which is locked, is not as the caller knows it. */
type GroupCheck = (current: CurrentGroup) => void;

async function readMembers(
  context: Context,
  tx: Transaction,
  { id }: ProvisionedGroup,
): Promise<readonly GroupMember[]> {
  return (await findGroupMembers(context, [id], tx))?.get(id) ?? [];
}

const isTaken = () => refuse(['name'], '"name" is already that of a group of this enterprise.', 'NOT_UNIQUE');

/**
 * Registers a group for a directory, with its members, and without roles. Throws FORBIDDEN, INVALID_INPUT, CONFIRMATION_REQUIRED,
 * NOT_UNIQUE at `name`, UNKNOWN_REFERENCE at `members`, LIMIT_EXCEEDED.
 */
export async function provisionGroup(
  context: Context,
  raw: GroupValues,
  members: MemberChange,
): Promise<ProvisionedGroup> {
  requireEnterprisePermission(context.viewer, permissionFor.assignRole);
  const { name, externalId } = parseInput(valuesSchema, raw);
  requireConfirmation(context);
  const { enterpriseId } = context.viewer;
  return context.store.transact(async (tx) => {
    await tx.query('select 1 from enterprise where id = $1 for no key update', [enterpriseId]);
    const [group] = await tx.query<ProvisionedGroup>(
      `insert into idp_group as g (id, enterprise_id, name, external_id, created_at) values ($1, $2, $3, $4, $5::timestamptz)
       on conflict do nothing returning ${groupColumns}`,
      [newId(), enterpriseId, name, externalId, context.now()],
    );
    if (group === undefined) throw isTaken();
    await requireRoomForGroups(tx, enterpriseId);
    await audit(context, tx, 'create_idp_group', { organizationId: null, data: { name } });
    // A group without roles gives its members nothing, but its name may be that of a group of their last sign-ins.
    await changeMembers(context, tx, group, members);
    return group;
  });
}

/**
 * Changes a group by its directory: its name, its external id or its members, who get or lose its roles at once. The viewer must have
 * every permission of these roles. `check`: throws unless the group may change, which is locked. Throws FORBIDDEN, INVALID_INPUT,
 * CONFIRMATION_REQUIRED, NOT_FOUND, NOT_UNIQUE at `name`, UNKNOWN_REFERENCE at `members`, LIMIT_EXCEEDED.
 */
export async function updateProvisionedGroup(
  context: Context,
  id: string,
  raw: GroupChange,
  members: MemberChange,
  check?: GroupCheck,
): Promise<ProvisionedGroup> {
  requireEnterprisePermission(context.viewer, permissionFor.assignRole);
  const change = parseInput(changeSchema, raw);
  requireConfirmation(context);
  return context.store.transact(async (tx) => {
    const before = await readGroup(context, id, tx);
    const { name = before.name, externalId = before.externalId } = change;
    const isRenamed = name !== before.name;
    const isSame = !isRenamed && externalId === before.externalId;
    // Sign-ins name groups, so another name gives the roles to other users; and directories find them by their external ids.
    if (!isSame || !members.isEmpty) {
      const roles = await rolesOfGroups(context, [before.id], undefined, tx);
      requireRolesGranted(context, roles.get(before.id) ?? []);
    }
    if (check) check({ group: before, members: await readMembers(context, tx, before) });
    const group = isSame ? before : await write(context, tx, before, { ...before, name, externalId });
    const isChanged = await changeMembers(context, tx, group, members);
    if (isRenamed || isChanged) await announceKeyChange(context, tx);
    return group;
  });
}

async function write(
  context: Context,
  tx: Transaction,
  before: ProvisionedGroup,
  { id, name, externalId }: ProvisionedGroup,
): Promise<ProvisionedGroup> {
  const { enterpriseId } = context.viewer;
  // New names are written under the same lock.
  await tx.query('select 1 from enterprise where id = $1 for no key update', [enterpriseId]);
  const taken = await tx.query('select 1 from idp_group g where g.enterprise_id = $1 and g.name = $2 and g.id <> $3', [
    enterpriseId,
    name,
    id,
  ]);
  if (taken.length > 0) throw isTaken();
  const [group] = await tx.query<ProvisionedGroup>(
    `update idp_group g set name = $2, external_id = $3 where g.id = $1 returning ${groupColumns}`,
    [id, name, externalId],
  );
  if (group === undefined) throw new Error(`The group ${id} is gone, although its row is locked.`);
  const data = name === before.name ? { name } : { name, nameBefore: before.name };
  await audit(context, tx, 'update_idp_group', { organizationId: null, data });
  return group;
}

/**
 * Removes a group with its roles, as `deleteIdpGroup` does, by its id in any form. `check`: as for a change. Throws FORBIDDEN,
 * NOT_FOUND.
 */
export async function deleteProvisionedGroup(context: Context, id: string, check?: GroupCheck): Promise<void> {
  requireEnterprisePermission(context.viewer, permissionFor.assignRole);
  await context.store.transact(async (tx) => {
    const group = await readGroup(context, id, tx);
    await deleteLockedGroup(context, tx, group, async () => {
      if (check) check({ group, members: await readMembers(context, tx, group) });
    });
  });
}
