import type { OutputRef } from '@pothos/core';
import { builder } from '../builder.ts';
import type { CountedConnection } from '../connections.ts';

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
            'How many there are in the whole list; 10,001 stands for more than 10,000. It is counted only when asked for.',
          resolve: async (connection) => (await countOf(connection)).total,
        }),
        totalCountIsExact: t.boolean({
          description: 'Whether totalCount is exact: false when there are more than 10,000.',
          resolve: async (connection) => (await countOf(connection)).isExact,
        }),
      }),
    },
    edge,
  );
  return { connection, edge };
}

/** A connection type that says how long its list is, for those who ask: what resolves to it is a `CountedConnection`. */
export function countedConnection<T extends OutputRef>(
  type: T,
  name: string,
  described: { page: string; edge: string },
) {
  return countedConnectionAndEdge(type, name, described).connection;
}

const countOf = (connection: object) => (connection as CountedConnection).count();
