import type { ArgBuilder, InputFieldMap, InputRef } from '@pothos/core';
import { refuse } from '../../../common/errors.ts';
import { type IdKind, parseId } from '../../../domain/ids.ts';
import type { Creators, ListFilter } from '../../../domain/list-filter.ts';
import type { ListOrder } from '../../../domain/sorted-pages.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import { defineEnum } from './define-enum.ts';
import { OrderDirectionEnum } from './enums.ts';
import { nounOf } from './nouns.ts';

type Maybe<T> = T | null | undefined;
type Fields = PothosSchemaTypes.InputFieldBuilder<SchemaTypes, 'InputObject'>;

/** The sort fields of a list besides the creation time: descriptions by domain name. */
type OrderFields<F extends string> = Readonly<Record<F, string>>;

/**
 * The input XOrder of the lists of X, and its enum XOrderField: the creation time and the fields passed. `createdAt`:
 * the description of the creation time.
 */
export function orderInput<F extends string = never>(
  name: string,
  createdAt: string,
  more: OrderFields<F> = {} as OrderFields<F>,
): InputRef<ListOrder<F | 'createdAt'>> {
  const field = defineEnum(`${name}OrderField`, `Field that ${name}Order orders a list by.`, { createdAt, ...more });
  const order = builder.inputType(`${name}Order`, {
    description: 'Order of a list: the field and the direction.',
    fields: (t) => ({
      field: t.field({ type: field, required: true, description: 'Field that the list is ordered by.' }),
      direction: t.field({
        type: OrderDirectionEnum,
        required: true,
        description: 'Direction of the order, ascending or descending.',
      }),
    }),
  });
  // Its values are those of the enum; the library cannot infer them from a type parameter.
  return order as unknown as InputRef<ListOrder<F | 'createdAt'>>;
}

/** The input XFilter of the lists of X. */
export function filterInput<F extends InputFieldMap>(name: string, fields: (t: Fields) => F) {
  const matching = 'An item must meet every condition; of a list of values, one is enough.';
  return builder.inputType(`${name}Filter`, {
    description: `Conditions for a list of ${nounOf(name).plural}. ${matching}`,
    fields,
  });
}

/** The arguments of every list besides those of its page. `default`: the default order. */
export function listArgs<Filter extends InputRef<unknown>, Order extends InputRef<unknown>>(
  arg: ArgBuilder<SchemaTypes>,
  filter: Filter,
  order: Order,
  unordered = 'newest first',
) {
  return {
    filter: arg({ type: filter, description: 'Conditions for the list. Defaults to no condition.' }),
    orderBy: arg({ type: order, description: `Order of the list. Defaults to ${unordered}.` }),
  };
}

/** Filter members for the creation time. */
export const createdBounds = (t: Fields) => ({
  createdAfter: t.field({ type: 'DateTime', description: 'Only items created at this time or later.' }),
  createdBefore: t.field({ type: 'DateTime', description: 'Only items created before this time.' }),
});

/** Filter members for the creation time and the creator. */
export const createdMembers = (t: Fields) => ({
  createdByIds: t.idList({
    description: 'Only items created by one of these users, service users or service keys. Global IDs or REST ids.',
  }),
  ...createdBounds(t),
});

/** The maximum number of values of one filter member. */
export const maxFilterValues = 100;

/** Throws INVALID_INPUT, with the path below `at`, for a filter member with too many values. */
export function requireShortLists(filter: object, at: readonly string[] = ['filter']): void {
  for (const [name, value] of Object.entries(filter)) {
    if (!Array.isArray(value) || value.length <= maxFilterValues) continue;
    throw refuse([...at, name], `"${name}" must have at most ${maxFilterValues} items, but has ${value.length}.`);
  }
}

/** The values of {@link createdMembers} and `search`. */
interface ListFilterValue {
  readonly search?: Maybe<string>;
  readonly createdByIds?: Maybe<readonly string[]>;
  readonly createdAfter?: Maybe<Date>;
  readonly createdBefore?: Maybe<Date>;
}

type Present<F> = {
  readonly [K in keyof F as K extends keyof ListFilterValue ? never : K]?: NonNullable<F[K]> | undefined;
};

/** Converts the common filter members to the domain's form. Null counts as missing. INVALID_INPUT for long lists. */
export function parseListFilter<F extends ListFilterValue>(filter: Maybe<F>): ListFilter & Present<F> {
  const { createdByIds, ...members } = filter ?? {};
  requireShortLists({ createdByIds, ...members });
  const present = Object.entries(members).filter(([, value]) => value !== null);
  return { ...(Object.fromEntries(present) as Present<F>), createdBy: readCreators(createdByIds) };
}

/** The unprefixed id of a filter; undefined if missing. An invalid id matches nothing. */
export const readId = (kind: IdKind, id: Maybe<string>): string | undefined =>
  id == null ? undefined : (parseId(kind, id) ?? '');

/** The unprefixed ids of a filter; undefined if missing. Invalid ids match nothing. */
export const readIds = (kind: IdKind, ids: Maybe<readonly string[]>): string[] | undefined =>
  ids?.flatMap((id) => parseId(kind, id) ?? []);

/** The principals of these ids; undefined if missing. An unprefixed id may be of any kind. */
export function readCreators(ids: Maybe<readonly string[]>): Creators | undefined {
  if (ids == null) return undefined;
  return {
    userIds: readIds('user', ids) ?? [],
    serviceUserIds: readIds('serviceUser', ids) ?? [],
    serviceKeyIds: readIds('serviceKey', ids) ?? [],
  };
}
