import { notFound } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import { parseId } from '../../ids.ts';

/** A principal with roles, by an id in any form. */
export type RoleHolder = { readonly userId: string } | { readonly serviceUserId: string };

/** A live principal of the viewer's enterprise, locked until the transaction ends. */
export interface LockedPrincipal {
  readonly column: 'user_id' | 'service_user_id';
  readonly id: string;
  /** A service user's own organization; null: the enterprise, as for every user. */
  readonly homeOrganizationId: string | null;
}

/**
 * Returns the column of keys and assignments that refers to a principal, and the unprefixed id; null if the id is
 * invalid.
 */
export function columnOf(holder: RoleHolder): { column: LockedPrincipal['column']; id: string | null } {
  return 'userId' in holder
    ? { column: 'user_id', id: parseId('user', holder.userId) }
    : { column: 'service_user_id', id: parseId('serviceUser', holder.serviceUserId) };
}

const users = `
  select id, null as "homeOrganizationId" from user_account
   where id = $1 and enterprise_id = $2 and deleted_at is null for no key update`;

const serviceUsers = `
  select s.id, s.organization_id as "homeOrganizationId" from service_user s
    left join organization o on o.id = s.organization_id
   where s.id = $1 and s.enterprise_id = $2 and s.deleted_at is null and o.deleted_at is null for no key update of s`;

/** Locks a principal, so that changes to it are serialized and checks stay valid. Throws NOT_FOUND. */
export async function lockPrincipal(context: Context, tx: Transaction, holder: RoleHolder): Promise<LockedPrincipal> {
  const { column, id } = columnOf(holder);
  const isUser = column === 'user_id';
  const [row] = await tx.query<{ id: string; homeOrganizationId: string | null }>(isUser ? users : serviceUsers, [
    id,
    context.viewer.enterpriseId,
  ]);
  if (!row) throw notFound(isUser ? 'user' : 'service user');
  return { column, ...row };
}
