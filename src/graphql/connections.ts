import type { Count, NestedList } from '../domain/nested-pages.ts';
import type { Page, PageRequest } from '../domain/pages.ts';
import type { GraphqlContext } from './context.ts';

/** A domain page in Relay's shape. */
export function toConnection<T>(page: Page<T>) {
  const edges = page.items.map((node) => ({ cursor: page.cursorOf(node), node }));
  return {
    edges,
    pageInfo: {
      hasNextPage: page.hasNextPage,
      hasPreviousPage: page.hasPreviousPage,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}

/** A {@link toConnection} that can say how long its list is; it is counted when that is asked. */
export interface CountedConnection {
  readonly count: () => Promise<Count>;
}

type Item = { readonly id: string; readonly createdAt: Date };

/** A page of one owner's list in Relay's shape; those of other owners are read with it. */
export async function nestedPage<T extends Item>({ loaders }: GraphqlContext, list: NestedList<T>, page: PageRequest) {
  return toConnection(await loaders.nestedPage(list, page));
}

/** A {@link nestedPage} that can be counted. */
export async function nestedConnection<T extends Item>(
  context: GraphqlContext,
  list: NestedList<T>,
  page: PageRequest,
) {
  return countable(context, list, await context.loaders.nestedPage(list, page));
}

/** A page of a list that has been read, in Relay's shape, that can be counted. */
export function countable<T extends Item>(context: GraphqlContext, list: NestedList<T>, page: Page<T>) {
  return { ...toConnection(page), count: () => context.loaders.nestedCount(list) };
}
