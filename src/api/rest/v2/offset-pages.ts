import { z } from '@hono/zod-openapi';
import type { OffsetPage, OffsetRequest } from '../../../domain/offset-pages.ts';
import { integerParam } from '../query.ts';
import { invalidRequest } from '../refusal.ts';

/** The maximum and the default of `limit` (docs/wire/v2.md#pages). */
export const page = { max: 200, default: 100 } as const;

/** The query parameters of a list. */
export const pageQuery = {
  limit: integerParam('limit', {
    description: 'Items in this page.',
    minimum: 1,
    maximum: page.max,
    default: page.default,
  }),
  offset: integerParam('offset', { description: 'Items to skip.', minimum: 0, default: 0 }),
  skip: integerParam('skip', { description: 'The same as `offset`, which wins.', minimum: 0 }),
};

/** The envelope of a list. It contains both names of the offset, because clients read the one that they sent. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({
    items: z.array(item),
    total: z.int().openapi({ description: 'Of the whole list.' }),
    offset: z.int(),
    skip: z.int(),
    limit: z.int(),
    has_more: z.boolean(),
    next_cursor: z.int().nullable().openapi({ description: 'The `offset` of the next page; null when there is none.' }),
  });
}

/** Reads the page parameters of a query. A negative number is refused under the name that the client sent. */
export function readPage(query: {
  limit?: number | undefined;
  offset?: number | undefined;
  skip?: number | undefined;
}): OffsetRequest {
  const name = query.offset === undefined && query.skip !== undefined ? 'skip' : 'offset';
  const offset = query[name] ?? 0;
  if (offset < 0) {
    const msg = `"${name}" must not be negative, but was ${offset}.`;
    throw invalidRequest([{ loc: ['query', name], msg, type: 'value_error' }]);
  }
  return { first: query.limit, offset };
}

/** A page in its envelope. */
export function presentPage<T, W>(
  { items, total, offset, limit }: OffsetPage<T>,
  present: (item: T) => W,
): {
  items: W[];
  total: number;
  offset: number;
  skip: number;
  limit: number;
  has_more: boolean;
  next_cursor: number | null;
} {
  const next = offset + items.length;
  const hasMore = items.length > 0 && next < total;
  return {
    items: items.map(present),
    total,
    offset,
    skip: offset,
    limit,
    has_more: hasMore,
    next_cursor: hasMore ? next : null,
  };
}
