import { z } from '@hono/zod-openapi';
import type { OffsetPage, OffsetRequest } from '../../../domain/offset-pages.ts';
import { integerParam, textParam } from '../query.ts';
import { attributeName } from './attributes.ts';
import { messages } from './dialect.ts';

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
  filter: textParam('filter', { description: 'Equations that are joined by "and".' }),
  startIndex: integerParam('startIndex', { description: 'The first resource of the page; the first of all is 1.' }),
  count: integerParam('count', { description: 'Resources in this page.' }),
});

/** Parameters of a projection. */
export interface Projection {
  readonly attributes?: string | undefined;
  readonly excludedAttributes?: string | undefined;
}

/** Reads the page of a list. Numbers that are too small or too large mean the nearest possible one (RFC 7644, 3.4.2.4). */
export function readPage({ startIndex = 1, count = page.default }: z.output<typeof listQuery>): OffsetRequest {
  return { first: Math.min(Math.max(count, 0), page.max), offset: Math.max(startIndex, 1) - 1 };
}

/** A page of resources. */
export function presentList<T>({ items, total, offset }: OffsetPage<T>, resources: readonly object[]) {
  return {
    schemas: [`${messages}ListResponse`],
    totalResults: total,
    startIndex: offset + 1,
    itemsPerPage: items.length,
    Resources: resources,
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
