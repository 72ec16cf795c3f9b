import type { Context } from '../../context.ts';
import { parseId } from '../../ids.ts';
import type { OffsetPage, OffsetRequest } from '../../offset-pages.ts';
import type { PageLimits } from '../../pages.ts';
import { type UserRecord, userColumns } from '../people/find-people.ts';
import { listResources } from './list-resources.ts';

/** A condition of a directory on users; all of a list have to hold. Texts are compared without regard to case, except external ids. */
export type UserCondition =
  | { readonly name: 'id' | 'email' | 'externalId' | 'displayName'; readonly value: string }
  | { readonly name: 'isActive'; readonly value: boolean };

/** Lists the users of the enterprise for a directory, as {@link listResources} does. */
export function listProvisionedUsers(
  context: Context,
  conditions: readonly UserCondition[],
  request: OffsetRequest,
  limits: PageLimits,
): Promise<OffsetPage<UserRecord>> {
  const where = (bind: (value: unknown) => string) => [
    'u.deleted_at is null',
    ...conditions.map((each) => conditionOf(each, bind)),
  ];
  return listResources(context, { table: 'user_account', row: 'u', columns: userColumns, where }, request, limits);
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
