import type { InputRef, ObjectRef, OutputRef } from '@pothos/core';
import type { NestedList } from '../../../domain/nested-pages.ts';
import type { PageRequest } from '../../../domain/pages.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import { type CountedConnection, nestedConnection } from '../connections.ts';
import type { GraphqlContext } from '../context.ts';
import { listArgs } from './list-inputs.ts';
import { boundary, type Condition } from './needs.ts';
import { nounOf, upperFirst } from './nouns.ts';

/** The cost of a count, in items: it may read 10,000 rows. */
const itemsOfCount = 10;

/**
 * The types XConnection and XEdge of a list that is counted on request. The fields of the connection resolve to a
 * `CountedConnection`. `described`: descriptions, unless the name says all.
 */
export function listTypes<T extends OutputRef>(type: T, name: string, described?: { page: string; edge: string }) {
  const noun = nounOf(name);
  const edge = builder.edgeObject({
    type,
    name: `${name}Edge`,
    description: described?.edge ?? `Edge of a list of ${noun.plural}: an item with its cursor.`,
  });
  const connection = builder.connectionObject(
    {
      type,
      name: `${name}Connection`,
      description: described?.page ?? `One page of a list of ${noun.plural}.`,
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
  return { type, connection, edge };
}

const countOf = (connection: object) => (connection as CountedConnection).count();

type Item = { readonly id: string; readonly createdAt: Date };

/** The arguments of a list that clients filter and order. */
export interface ListArgs<Filter, Order> extends PageRequest {
  readonly filter?: Filter | null | undefined;
  readonly orderBy?: Order | null | undefined;
}

interface ListField<Owner, Node, Filter, Order> {
  readonly types: { readonly type: ObjectRef<SchemaTypes, Node>; readonly connection: OutputRef };
  readonly description: string;
  /** The permission to read the list, if the viewer may read its owner without it. */
  readonly needs?: Condition;
  readonly filter: InputRef<Filter>;
  readonly order: InputRef<Order>;
  /** The order without `orderBy`, if it is not newest first. */
  readonly defaultOrder?: string;
  readonly read: (owner: Owner, args: ListArgs<Filter, Order>, context: GraphqlContext) => NestedList<Node & Item>;
}

/** Adds the field of a list that clients filter and order. The pages of several owners are read together. */
export function addList<Owner extends object, Node, Filter, Order>(
  owner: ObjectRef<SchemaTypes, Owner>,
  name: string,
  {
    types,
    description,
    needs,
    filter,
    order,
    defaultOrder = 'newest first',
    read,
  }: ListField<Owner, Node, Filter, Order>,
): void {
  builder.objectField(owner, name, (t) =>
    t.connection(
      {
        type: types.type,
        ...(needs && boundary(needs)),
        description: `${description} ${upperFirst(defaultOrder)} unless \`orderBy\` says otherwise.`,
        args: listArgs(t.arg, filter, order, defaultOrder),
        // Returns a promise for errors too: in a list, an exception beside a promise that rejects later ends the process.
        resolve: async (parent, args, context) =>
          nestedConnection(context, read(parent as Owner, args as never, context), args) as never,
      },
      types.connection as never,
    ),
  );
}
