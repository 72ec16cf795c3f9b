import SchemaBuilder from '@pothos/core';
import RelayPlugin from '@pothos/plugin-relay';
import { JSONResolver } from 'graphql-scalars';
import type { GraphqlContext } from './context.ts';
import { DateScalar, DateTimeScalar } from './dates.ts';
import { UriScalar } from './uri.ts';

/** The types of the schema builder: the context, the scalars, and fields that are non-null by default. */
export const builder = new SchemaBuilder<{
  Context: GraphqlContext;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: false;
  DefaultNodeNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    Date: { Input: Date; Output: Date };
    DateTime: { Input: Date; Output: Date };
    JSON: { Input: unknown; Output: unknown };
    URI: { Input: string; Output: string };
  };
}>({
  plugins: [RelayPlugin],
  defaultFieldNullability: false,
  relay: {
    // Query.node and Query.nodes are defined in node.ts: an unknown id gives null there, not an error.
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    nodeTypeOptions: { description: 'Object that is identified by a global ID.' },
    idFieldOptions: { description: 'Global ID of the object, unique across all types.' },
    cursorType: 'String',
    clientMutationId: 'omit',
    pageInfoTypeOptions: {
      description: 'Position of a page within its list, for requesting the pages before and after it.',
    },
    hasNextPageFieldOptions: { description: 'Whether the list has more items after this page.' },
    hasPreviousPageFieldOptions: { description: 'Whether the list has more items before this page.' },
    startCursorFieldOptions: { description: 'Cursor of the first item of the page; null if the page is empty.' },
    endCursorFieldOptions: { description: 'Cursor of the last item of the page; null if the page is empty.' },
    edgesFieldOptions: { description: 'Items of the page, each with its cursor.', nullable: false },
    nodesOnConnection: { description: 'Items of the page, without their cursors.' },
    // Set explicitly: the default would make the items of "nodes" nullable beside the non-null nodes of edges.
    nodeFieldOptions: { description: 'Item of the list that this edge holds.', nullable: false },
    cursorFieldOptions: {
      description: 'Opaque cursor of the item, for `after` and `before`. It stays valid if the item is deleted.',
    },
    pageInfoFieldOptions: { description: 'Cursors of the page, and whether the list has items before and after it.' },
    firstArgOptions: {
      description:
        'Number of items to return from the start of the list, 1 to 100. Defaults to 20 if `last` is omitted too. Cannot be combined with `last`.',
    },
    lastArgOptions: {
      description: 'Number of items to return from the end of the list, 1 to 100. Cannot be combined with `first`.',
    },
    afterArgOptions: { description: 'Cursor of this list. Only items after it are returned.' },
    beforeArgOptions: { description: 'Cursor of this list. Only items before it are returned.' },
  },
});

/** The builder's schema types, for helpers that create several types of one shape. */
export type SchemaTypes = typeof builder extends PothosSchemaTypes.SchemaBuilder<infer T> ? T : never;

builder.addScalarType('DateTime', DateTimeScalar, {
  description:
    'A moment as RFC 3339 text. Answers have it in UTC with milliseconds, such as "2026-11-21T09:00:00.000Z"; inputs may have any offset, and digits beyond milliseconds are ignored.',
});
builder.addScalarType('Date', DateScalar, { description: 'A day of UTC as YYYY-MM-DD, such as "2026-11-21".' });
builder.addScalarType('JSON', JSONResolver, {
  description: 'Any JSON value: an object, a list, a text, a number, a boolean or null.',
});
builder.addScalarType('URI', UriScalar, {
  description:
    'An address after RFC 3986, such as "https://example.com/hooks". Each field says which addresses it has or takes.',
});

builder.queryType({ description: 'Entry points for reading data.' });
builder.mutationType({
  description:
    'Entry points for changing data. An invalid value is reported in `userErrors` of the payload, not in `errors` of the response.',
});
builder.subscriptionType({
  description: 'Entry points for following changes, over WebSocket (graphql-transport-ws) or server-sent events.',
});
