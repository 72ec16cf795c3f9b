import type { UserFilter, UserOrder } from '../../../domain/identity/provisioning/list-provisioned-users.ts';
import { commonAttributes, type FilterAttribute, type FilterAttributes } from './filter-attributes.ts';
import { userSchema } from './schemas.ts';

type Field = Extract<UserFilter, { readonly kind: 'present' }>['field'];

const text = (field: Field): FilterAttribute<Field> => ({ type: 'text', field });

/** The attributes by which users can be filtered. Each user has one email, of the type "work", which is primary. */
export const userAttributes: FilterAttributes<Field> = {
  noun: 'Users',
  attributes: new Map<string, FilterAttribute<Field>>([
    ...commonAttributes(userSchema, 'User'),
    ['id', { type: 'id', field: 'id', kind: 'user' }],
    ['username', text('email')],
    ['emails', text('email')],
    ['emails.value', text('email')],
    ['emails.type', { type: 'constant', value: 'work' }],
    ['emails.primary', { type: 'constant', value: true }],
    ['externalid', text('externalId')],
    ['displayname', text('name')],
    ['name.formatted', text('name')],
    ['name.givenname', text('givenName')],
    ['name.familyname', text('familyName')],
    ['active', { type: 'inactive', field: 'deactivatedAt' }],
  ]),
};

/** The attributes by which users can be ordered. */
export const userSorting: ReadonlyMap<string, UserOrder['by']> = new Map([
  ['id', 'id'],
  ['username', 'email'],
  ['emails', 'email'],
  ['emails.value', 'email'],
  ['externalid', 'externalId'],
  ['meta.created', 'createdAt'],
]);
