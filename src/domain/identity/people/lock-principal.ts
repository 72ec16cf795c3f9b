import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { parseId } from '../../ids.ts';

/** Who holds roles, by an id in any form. */
export type RoleHolder = { readonly userId: string } | { readonly serviceUserId: string };

/** A live principal of the viewer's enterprise, to which nobody else can do anything until the transaction ends. */
export interface LockedPrincipal {
  readonly column: 'user_id' | 'service_user_id';
  readonly id: string;
  /** A service user's own organization; null: of the enterprise, as every user. */
  readonly homeOrganizationId: string | null;
}

/** The column of keys and assignments that names a principal, and the bare id; null where the id is none. */
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

/** Changes to one principal wait for each other, so that what was checked about it stays so. NOT_FOUND. */
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
