import { z } from '@hono/zod-openapi';
import type { DirectoryRequest, ResourceOrder } from '../../../domain/identity/provisioning/list-resources.ts';
import type { ResourceFilter } from '../../../domain/identity/provisioning/resource-filter.ts';
import type { OffsetPage } from '../../../domain/offset-pages.ts';
import { integerParam, textParam } from '../query.ts';
import { attributeName } from './attributes.ts';
import { messages, scimError } from './dialect.ts';
import { parseFilter } from './filter.ts';
import { type FilterAttributes, toCondition } from './filter-attributes.ts';

/** The maximum and the default of `count`. */
export const page = { max: 200, default: 100 } as const;

/** The query parameters that select the attributes of a response. */
export const projectionQuery = {
  attributes: textParam('attributes', { description: 'Names of the attributes to return, separated by commas.' }),
  excludedAttributes: textParam('excludedAttributes', { description: 'Names of attributes to leave out.' }),
};

/** The query parameters of a list. */
export const listQuery = z.object({
  ...projectionQuery,
  filter: textParam('filter', { description: 'A filter of RFC 7644, 3.4.2.2.' }),
  sortBy: textParam('sortBy', { description: 'The attribute that orders the list.' }),
  sortOrder: textParam('sortOrder', { description: '"ascending", which is the default, or "descending".' }),
  startIndex: integerParam('startIndex', { description: 'The first resource of the page; the first of all is 1.' }),
  count: integerParam('count', { description: 'Resources in this page.' }),
});

const names = z.array(z.string()).nullish();

/** The body of a search (RFC 7644, 3.4.3). */
export const searchBody = z.object({
  attributes: names,
  excludedAttributes: names,
  filter: z.string().nullish(),
  sortBy: z.string().nullish(),
  sortOrder: z.string().nullish(),
  startIndex: z.int().nullish(),
  count: z.int().nullish(),
});

/** Parameters of a projection: names that are separated by commas. */
export interface Projection {
  readonly attributes?: string | undefined;
  readonly excludedAttributes?: string | undefined;
}

/** The parameters of a list or a search. */
export interface ListParameters extends Projection {
  readonly filter?: string | undefined;
  readonly sortBy?: string | undefined;
  readonly sortOrder?: string | undefined;
  readonly startIndex?: number | undefined;
  readonly count?: number | undefined;
}

/** Returns the parameters that the body of a search has. */
export function readSearch(body: z.output<typeof searchBody>): ListParameters {
  const { attributes, excludedAttributes, ...others } = body;
  return {
    ...Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null && value !== '')),
    ...(attributes?.length && { attributes: attributes.join(',') }),
    ...(excludedAttributes?.length && { excludedAttributes: excludedAttributes.join(',') }),
  };
}

/** Attributes of resources in lists. `sorting`: the members by which the domain orders, by the names of attributes. */
export interface ListedAttributes<Field extends string, Member extends string> {
  readonly attributes: FilterAttributes<Field>;
  readonly sorting: ReadonlyMap<string, Member | 'createdAt'>;
}

/**
 * Reads the request of a list. Numbers that are too small or too large mean the nearest possible one (RFC 7644, 3.4.2.4). Throws
 * invalidFilter and invalidValue.
 */
export function readRequest<Field extends string, Member extends string>(
  { filter, sortBy, sortOrder, startIndex = 1, count = page.default }: ListParameters,
  { attributes, sorting }: ListedAttributes<Field, Member>,
): DirectoryRequest<ResourceFilter<Field>, ResourceOrder<Member | 'createdAt'>> {
  const by = sortBy === undefined ? 'createdAt' : sorting.get(attributeName(sortBy));
  if (by === undefined) {
    throw scimError('invalidValue', `"sortBy" must be one of ${[...sorting.keys()].join(', ')}, in either case.`);
  }
  return {
    filter: filter === undefined ? null : toCondition(parseFilter(filter), attributes),
    order: { by, isDescending: sortBy !== undefined && isDescending(sortOrder) },
    first: Math.min(Math.max(count, 0), page.max),
    offset: Math.max(startIndex, 1) - 1,
  };
}

function isDescending(sortOrder = 'ascending'): boolean {
  const order = sortOrder.toLowerCase();
  if (order === 'ascending' || order === 'descending') return order === 'descending';
  throw scimError('invalidValue', '"sortOrder" must be "ascending" or "descending".');
}

/** A page of resources. */
export function presentList({ items, total, offset }: Omit<OffsetPage<object>, 'limit'>) {
  return {
    schemas: [`${messages}ListResponse`],
    totalResults: total,
    startIndex: offset + 1,
    itemsPerPage: items.length,
    Resources: items,
  };
}

const alwaysReturned = new Set(['schemas', 'id']);

const namesOf = (list: string): ReadonlySet<string> =>
  new Set(list.split(',').map((name) => attributeName(name.trim()).replace(/\..*$/, '')));

/** Tells if an attribute is part of a response. */
export function isReturned(name: string, { attributes, excludedAttributes }: Projection): boolean {
  if (alwaysReturned.has(name)) return true;
  const key = attributeName(name);
  if (attributes !== undefined) return namesOf(attributes).has(key);
  return excludedAttributes === undefined || !namesOf(excludedAttributes).has(key);
}

/** Returns the part of a resource that a request selects. */
export const project = (resource: object, projection: Projection): object =>
  Object.fromEntries(Object.entries(resource).filter(([name]) => isReturned(name, projection)));
