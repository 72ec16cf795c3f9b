import type { OutputRef } from '@pothos/core';
import { builder } from '../builder.ts';
import type { CountedConnection } from '../connections.ts';

/** The cost of a count, in items: it may read 10,000 rows. */
const itemsOfCount = 10;

/** A {@link countedConnection} with the type of its edges. */
export function countedConnectionAndEdge<T extends OutputRef>(
  type: T,
  name: string,
  described: { page: string; edge: string },
) {
  const edge = builder.edgeObject({ type, name: `${name}Edge`, description: described.edge });
  const connection = builder.connectionObject(
    {
      type,
      name: `${name}Connection`,
      description: described.page,
      fields: (t) => ({
        totalCount: t.int({
          description:
            'Number of items in the whole list, counted only if the document selects it. 10,001 stands for more than 10,000.',
          extensions: { items: itemsOfCount },
          resolve: async (connection) => (await countOf(connection)).total,
        }),
        totalCountIsExact: t.boolean({
          description: 'Whether `totalCount` is exact. False if the list has more than 10,000 items.',
          extensions: { items: itemsOfCount },
          resolve: async (connection) => (await countOf(connection)).isExact,
        }),
      }),
    },
    edge,
  );
  return { connection, edge };
}

/** The connection type of a list that is counted on request. Its fields resolve to a `CountedConnection`. */
export function countedConnection<T extends OutputRef>(
  type: T,
  name: string,
  described: { page: string; edge: string },
) {
  return countedConnectionAndEdge(type, name, described).connection;
}

const countOf = (connection: object) => (connection as CountedConnection).count();
