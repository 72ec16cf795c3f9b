import { graphql, type TestApp } from './app.ts';

/** A Relay connection of `{ id }` nodes, as paging tests read it. */
export interface ReadPage {
  edges: { cursor: string; node: { id: string } }[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null };
}

/** A list of the API. `field` contains PAGE instead of first, after, last and before. */
export interface List {
  readonly token: string;
  readonly field: string;
  /** Returns the connection in the data. */
  readonly at: (data: any) => ReadPage;
  readonly variables?: Record<string, unknown>;
  readonly declared?: string;
}

const selection =
  '{ edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }';

/** Reads one page; returns it or the errors. */
export async function readPage(
  test: Pick<TestApp, 'url'>,
  list: List,
  page: Record<string, unknown>,
): Promise<{ page: ReadPage | null; errors: any[] | undefined }> {
  const query = `query($first: Int, $after: String, $last: Int, $before: String ${list.declared ?? ''}) {
    ${list.field.replace('PAGE', 'first: $first, after: $after, last: $last, before: $before').replace('SELECTION', selection)}
  }`;
  const { data, errors } = await graphql(test, list.token, query, { ...list.variables, ...page });
  return { page: data && !errors ? list.at(data) : null, errors };
}

/** Reads a list completely in pages from either end; returns the ids in the list's order. */
export async function readAll(
  test: Pick<TestApp, 'url'>,
  list: List,
  direction: 'forwards' | 'backwards',
  options: { size: number; afterPage?: () => Promise<unknown> },
): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  for (;;) {
    const request: Record<string, unknown> =
      direction === 'forwards' ? { first: options.size, after: cursor } : { last: options.size, before: cursor };
    const { page, errors } = await readPage(test, list, request);
    if (!page) throw new Error(JSON.stringify(errors));
    const read = page.edges.map(({ node }) => node.id);
    if (direction === 'forwards') ids.push(...read);
    else ids.unshift(...read);
    const { pageInfo } = page;
    if (pageInfo.startCursor !== (page.edges[0]?.cursor ?? null))
      throw new Error('startCursor is not the first edge’s.');
    if (pageInfo.endCursor !== (page.edges.at(-1)?.cursor ?? null))
      throw new Error('endCursor is not the last edge’s.');
    if (!(direction === 'forwards' ? pageInfo.hasNextPage : pageInfo.hasPreviousPage)) return ids;
    if (read.length !== options.size) throw new Error(`A page that is not the last has ${read.length} items.`);
    cursor = direction === 'forwards' ? pageInfo.endCursor : pageInfo.startCursor;
    await options.afterPage?.();
  }
}
