import { z } from 'zod';
import { requireConfirmation } from '../../../auth/confirmation.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { DomainError, notFound } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { newId } from '../../ids.ts';
import { parseInput, text } from '../../input.ts';
import { announceKeyChange } from '../keys/key-changes.ts';
import { requireRolesGranted } from './group-roles.ts';
import { findIdpGroup, type IdpGroupRecord, rolesOfGroups } from './idp-groups.ts';

/** The maximum number of registered groups of an enterprise. */
const maxGroups = 10_000;

/** The name of a group in inputs. `name`: what messages call it. */
export const groupNameSchema = (name: string) => text(name, { min: 1, max: 316 });

/** The names of groups in inputs. */
export const registerGroupsSchema = z.object({
  groupNames: z
    .array(groupNameSchema('groupNames'))
    .min(1, '"groupNames" must name at least one group.')
    .max(100, '"groupNames" must have at most 100 members.'),
});

/** See {@link registerGroupsSchema}. */
export type RegisterGroupsInput = z.input<typeof registerGroupsSchema>;

/**
 * Registers groups of identity providers, so that they can have roles; registered ones stay as they are. Returns the groups without
 * duplicates, in the order of the names. Throws FORBIDDEN, INVALID_INPUT, LIMIT_EXCEEDED, CONFIRMATION_REQUIRED.
 */
export async function registerIdpGroups(
  context: Context,
  raw: RegisterGroupsInput,
): Promise<readonly IdpGroupRecord[]> {
  requireEnterprisePermission(context.viewer, permissionFor.assignRole);
  const names = [...new Set(parseInput(registerGroupsSchema, raw).groupNames)];
  requireConfirmation(context);
  const { enterpriseId } = context.viewer;
  return context.store.transact(async (tx) => {
    await tx.query('select 1 from enterprise where id = $1 for no key update', [enterpriseId]);
    const created = await tx.query<{ name: string }>(
      `insert into idp_group (id, enterprise_id, name, created_at)
       select id, $1, name, $4::timestamptz from unnest($2::text[], $3::text[]) input(id, name) on conflict do nothing
       returning name`,
      [enterpriseId, names.map(() => newId()), names, context.now()],
    );
    await requireRoomForGroups(tx, enterpriseId);
    for (const { name } of created) {
      await audit(context, tx, 'create_idp_group', { organizationId: null, data: { name } });
    }
    return tx.query<IdpGroupRecord>(
      `select g.id, g.name, g.created_at as "createdAt" from unnest($2::text[]) with ordinality wanted(name, position)
         join idp_group g on g.enterprise_id = $1 and g.name = wanted.name order by wanted.position`,
      [enterpriseId, names],
    );
  });
}

/** Throws LIMIT_EXCEEDED if an enterprise, which is locked, has too many groups after some were written. */
export async function requireRoomForGroups(tx: Transaction, enterpriseId: string): Promise<void> {
  const [counted] = await tx.query<{ n: number }>('select count(*)::int as n from idp_group where enterprise_id = $1', [
    enterpriseId,
  ]);
  if ((counted?.n ?? 0) <= maxGroups) return;
  throw new DomainError('LIMIT_EXCEEDED', `An enterprise can register ${maxGroups} groups.`);
}

/**
 * Removes a group, with its roles, which its members lose at once. The viewer must have every permission of the roles. Throws FORBIDDEN,
 * NOT_FOUND.
 */
export async function deleteIdpGroup(context: Context, name: string): Promise<IdpGroupRecord> {
  requireEnterprisePermission(context.viewer, permissionFor.assignRole);
  return context.store.transact(async (tx) => {
    const group = await findIdpGroup(context, name, tx);
    if (group === null) throw notFound('IdP group');
    await deleteLockedGroup(context, tx, group);
    return group;
  });
}

/**
 * Removes a group that is locked, as a part of a larger act, which has checked the permission. `check`: throws unless it may be removed.
 * Throws FORBIDDEN without every permission of its roles.
 */
export async function deleteLockedGroup(
  context: Context,
  tx: Transaction,
  group: Pick<IdpGroupRecord, 'id' | 'name'>,
  check?: () => Promise<void>,
): Promise<void> {
  const roles = await rolesOfGroups(context, [group.id], undefined, tx);
  requireRolesGranted(context, roles.get(group.id) ?? []);
  await check?.();
  await tx.query('delete from idp_group_role where group_id = $1', [group.id]);
  await tx.query('delete from idp_group_member where group_id = $1', [group.id]);
  await tx.query('delete from idp_group where id = $1', [group.id]);
  await audit(context, tx, 'delete_idp_group', { organizationId: null, data: { name: group.name } });
  await announceKeyChange(context, tx);
}
