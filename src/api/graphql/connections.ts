import type { Count, CountedList, NestedList } from '../../domain/nested-pages.ts';
import { type Page, type PageRequest, pageOf } from '../../domain/pages.ts';
import type { GraphqlContext } from './context.ts';

/** A connection whose list is counted only if `totalCount` is requested. */
export interface CountedConnection {
  readonly count: () => Promise<Count>;
}

/** Converts a page of the domain to a Relay connection with a function that counts its list. */
export function toConnection<T>(page: Page<T>, count: CountedConnection['count']) {
  const edges = page.items.map((node) => ({ cursor: page.cursorOf(node), node }));
  return {
    edges,
    pageInfo: {
      hasNextPage: page.hasNextPage,
      hasPreviousPage: page.hasPreviousPage,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    count,
  };
}

type Item = { readonly id: string; readonly createdAt: Date };

/**
 * A page of one owner's list as a Relay connection that can be counted. The pages of several owners are read together.
 */
export async function nestedConnection<T extends Item>(
  context: GraphqlContext,
  list: NestedList<T>,
  page: PageRequest,
) {
  return countable(context, list, await context.loaders.nestedPage(list, pageOf(page)));
}

/** Converts a page to a Relay connection. `list` is counted for its `totalCount`. */
export function countable<T>(context: GraphqlContext, list: CountedList, page: Page<T>) {
  return toConnection(page, () => context.loaders.nestedCount(list));
}
