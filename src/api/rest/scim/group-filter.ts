import type { GroupFilter, GroupOrder } from '../../../domain/identity/provisioning/list-provisioned-groups.ts';
import { commonAttributes, type FilterAttribute, type FilterAttributes } from './filter-attributes.ts';
import { groupSchema } from './schemas.ts';

type Field = Extract<GroupFilter, { readonly kind: 'present' }>['field'];

/** The attributes by which groups can be filtered. */
export const groupAttributes: FilterAttributes<Field> = {
  noun: 'Groups',
  attributes: new Map<string, FilterAttribute<Field>>([
    ...commonAttributes(groupSchema, 'Group'),
    ['id', { type: 'id', field: 'id', kind: 'idpGroup' }],
    ['displayname', { type: 'text', field: 'name' }],
    ['externalid', { type: 'text', field: 'externalId' }],
    ['members', { type: 'members' }],
    ['members.value', { type: 'members' }],
  ]),
};

/** The attributes by which groups can be ordered. */
export const groupSorting: ReadonlyMap<string, GroupOrder['by']> = new Map([
  ['id', 'id'],
  ['displayname', 'name'],
  ['meta.created', 'createdAt'],
]);
