import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import { parseId } from '../../ids.ts';
import { type OffsetPage, type OffsetRequest, offsetWindow } from '../../offset-pages.ts';
import type { PageLimits } from '../../pages.ts';
import { type UserRecord, userColumns } from '../people/find-people.ts';

/** A condition of a directory on users; all of a list have to hold. Texts are compared without regard to case, except external ids. */
export type UserCondition =
  | { readonly name: 'id' | 'email' | 'externalId' | 'displayName'; readonly value: string }
  | { readonly name: 'isActive'; readonly value: boolean };

/**
 * Lists the users of the enterprise for a directory, the oldest first. `first` 0: only their number. Throws FORBIDDEN, INVALID_INPUT.
 */
export async function listProvisionedUsers(
  { viewer, store }: Context,
  conditions: readonly UserCondition[],
  request: OffsetRequest,
  limits: PageLimits,
): Promise<OffsetPage<UserRecord>> {
  requireEnterprisePermission(viewer, permissionFor.viewEnterpriseMembers);
  const isCount = request.first === 0;
  const { limit, offset } = offsetWindow(isCount ? { offset: request.offset } : request, limits);
  const values: unknown[] = [viewer.enterpriseId];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const where = ['u.enterprise_id = $1', 'u.deleted_at is null', ...conditions.map((each) => conditionOf(each, bind))];
  const from = `user_account u where ${where.join(' and ')}`;
  const [counted] = await store.query<{ total: number }>(`select count(*)::int as total from ${from}`, values);
  const items = isCount
    ? []
    : await store.query<UserRecord>(
        `select ${userColumns} from ${from} order by u.created_at, u.id limit ${bind(limit)} offset ${bind(offset)}`,
        values,
      );
  return { items, total: counted?.total ?? 0, offset, limit };
}

function conditionOf(condition: UserCondition, bind: (value: unknown) => string): string {
  const { name, value } = condition;
  switch (name) {
    case 'id':
      return `u.id = ${bind(parseId('user', value))}`;
    case 'email':
      return `lower(u.email) = lower(${bind(value)}::text)`;
    case 'externalId':
      return `u.external_id = ${bind(value)}`;
    case 'displayName':
      return `lower(u.name) = lower(${bind(value)}::text)`;
    case 'isActive':
      return `u.deactivated_at is ${value ? '' : 'not '}null`;
  }
}
