import { z } from 'zod';
import { requireConfirmation } from '../../../auth/confirmation.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { notFound } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { type CreateOptions, findReplay } from '../../idempotency.ts';
import { newId } from '../../ids.ts';
import { parseInput, text } from '../../input.ts';
import { checkExpiry } from '../keys/expiry.ts';
import { announceKeyChange } from '../keys/key-changes.ts';
import { useOrganization } from '../organizations/use-organization.ts';
import type { ServiceUserRecord } from './find-people.ts';
import { managesServiceUsersOf, requireManagingSome } from './list-service-users.ts';
import { lockPrincipal } from './lock-principal.ts';
import { findRoleAssignments, type RoleAssignmentRecord, requireNotAbove } from './role-assignments.ts';
import { requireAssignableRole } from './roles.ts';

const nameSchema = text('name', { min: 1, max: 256 });

/** The values of a new service user in inputs. */
export const serviceUserSchema = z.object({
  name: nameSchema,
  organizationId: z.string().nullable(),
  roleId: z.string(),
  expiresAt: z.date().nullish(),
});

/** The input of a new service user. `organizationId`: the one that it belongs to, in any form; null: the enterprise. */
export type CreateServiceUserInput = z.input<typeof serviceUserSchema>;

/**
 * Options of the creation: an idempotency key, or a function that creates more in the same transaction. Never both:
 * that function creates a token, which is shown once, and a repeated call returns the first result.
 */
export type CreateServiceUserOptions =
  | CreateOptions
  | { readonly within: (tx: Transaction, created: ServiceUserRecord) => Promise<void> };

/**
 * Creates a service user with its role, but without a key. Throws FORBIDDEN, INVALID_INPUT, UNKNOWN_REFERENCE;
 * IDEMPOTENCY_CONFLICT, and NOT_FOUND if the service user that the idempotency key created is gone. The idempotency key
 * belongs to its organization, or to the enterprise.
 */
export async function createServiceUser(
  context: Context,
  raw: CreateServiceUserInput,
  options: CreateServiceUserOptions = {},
): Promise<ServiceUserRecord> {
  const input = parseInput(serviceUserSchema, raw);
  checkExpiry(context, input.expiresAt ?? null);
  const organization =
    input.organizationId === null
      ? null
      : await useOrganization(context, input.organizationId, permissionFor.createServiceUser);
  if (!organization) requireEnterprisePermission(context.viewer, permissionFor.createEnterpriseServiceUser);
  requireConfirmation(context);
  const organizationId = organization?.id ?? null;
  const scope = organization ? 'organization' : 'enterprise';
  const now = context.now();
  const id = newId();
  const { roleId } = input;
  const claim = {
    scope: organizationId ?? context.viewer.enterpriseId,
    operation: 'createServiceUser',
    // Without the organization, which is the scope, in whatever form it was named.
    input: { name: input.name, roleId, expiresAt: input.expiresAt ?? null },
    resultId: id,
  };
  return context.store.transact(async (tx) => {
    const replay = 'within' in options ? null : await findReplay(context, tx, options, claim);
    if (replay !== null) return readCreated(tx, replay);
    const role = await requireAssignableRole(context, roleId, scope, organizationId, { tx });
    const serviceUser: ServiceUserRecord = {
      id,
      enterpriseId: context.viewer.enterpriseId,
      organizationId,
      name: input.name,
      createdAt: now,
      expiresAt: input.expiresAt ?? null,
      deletedAt: null,
    };
    await tx.prisma.serviceUser.create({ data: serviceUser });
    const { id: serviceUserId, enterpriseId } = serviceUser;
    await tx.prisma.roleAssignment.create({
      data: { id: newId(), enterpriseId, organizationId, serviceUserId, roleId: role.id, createdAt: now },
    });
    const data = { name: serviceUser.name, role: role.id };
    await audit(context, tx, 'create_service_user', { organizationId, targetId: serviceUserId, data });
    if ('within' in options) await options.within(tx, serviceUser);
    return serviceUser;
  });
}

async function readCreated(tx: Transaction, id: string): Promise<ServiceUserRecord> {
  const serviceUser = await tx.prisma.serviceUser.findFirst({ where: { id, deletedAt: null } });
  if (!serviceUser) throw notFound('service user');
  return serviceUser;
}

/**
 * Changes a service user's name. Throws FORBIDDEN, also if it has permissions that the caller lacks; NOT_FOUND;
 * INVALID_INPUT.
 */
export async function updateServiceUser(
  context: Context,
  id: string,
  raw: { readonly name: string },
): Promise<ServiceUserRecord> {
  const { name } = parseInput(z.object({ name: nameSchema }), raw);
  return changing(context, id, async (tx, serviceUserId) => {
    const serviceUser = await tx.prisma.serviceUser.update({ where: { id: serviceUserId }, data: { name } });
    const { organizationId } = serviceUser;
    await audit(context, tx, 'update_service_user', { organizationId, targetId: serviceUserId, data: { name } });
    await announceKeyChange(context, tx);
    return serviceUser;
  });
}

/**
 * Deletes a service user: its roles and keys are deleted at once, and its streams end. The objects that it created
 * stay, with its name. Returns the deleted service user and its roles. Throws FORBIDDEN, also if it has permissions
 * that the caller lacks; NOT_FOUND.
 */
export async function deleteServiceUser(
  context: Context,
  id: string,
): Promise<{ readonly serviceUser: ServiceUserRecord; readonly roleAssignments: readonly RoleAssignmentRecord[] }> {
  return changing(context, id, async (tx, serviceUserId) => {
    const assignments = await findRoleAssignments(context, { serviceUserIds: [serviceUserId] }, undefined, tx);
    const now = context.now();
    await tx.prisma.roleAssignment.deleteMany({ where: { serviceUserId } });
    await tx.prisma.apiKey.updateMany({ where: { serviceUserId, revokedAt: null }, data: { revokedAt: now } });
    const serviceUser = await tx.prisma.serviceUser.update({ where: { id: serviceUserId }, data: { deletedAt: now } });
    const { organizationId, name } = serviceUser;
    await audit(context, tx, 'delete_service_user', { organizationId, targetId: serviceUserId, data: { name } });
    await announceKeyChange(context, tx);
    return { serviceUser, roleAssignments: assignments.get(serviceUserId) ?? [] };
  });
}

async function changing<T>(
  context: Context,
  id: string,
  change: (tx: Transaction, serviceUserId: string) => Promise<T>,
): Promise<T> {
  requireManagingSome(context);
  return context.store.transact(async (tx) => {
    const locked = await lockPrincipal(context, tx, { serviceUserId: id });
    if (!managesServiceUsersOf(context, locked.homeOrganizationId)) throw notFound('service user');
    await requireNotAbove(context, { serviceUserId: id }, tx);
    return change(tx, locked.id);
  });
}
