import type { Count, CountedList, NestedList } from '../../domain/nested-pages.ts';
import { type Page, type PageRequest, pageOf } from '../../domain/pages.ts';
import type { GraphqlContext } from './context.ts';

/** A connection tells how long its list is, which is counted when that is asked. */
export interface CountedConnection {
  readonly count: () => Promise<Count>;
}

/** A domain page in Relay's shape, with what counts its list. */
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

/** A page of one owner's list in Relay's shape, which can be counted; those of other owners are read with it. */
export async function nestedConnection<T extends Item>(
  context: GraphqlContext,
  list: NestedList<T>,
  page: PageRequest,
) {
  return countable(context, list, await context.loaders.nestedPage(list, pageOf(page)));
}

/** A page that was read, in Relay's shape, with the list that is counted for its `totalCount`. */
export function countable<T>(context: GraphqlContext, list: CountedList, page: Page<T>) {
  return toConnection(page, () => context.loaders.nestedCount(list));
}
