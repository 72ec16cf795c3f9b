import SchemaBuilder from '@pothos/core';
import RelayPlugin from '@pothos/plugin-relay';
import { JSONResolver } from 'graphql-scalars';
import type { GraphqlContext } from './context.ts';
import { DateScalar, DateTimeScalar } from './dates.ts';
import { UriScalar } from './uri.ts';

/** The types that the schema is built with: our context, our scalars, and non-null unless said otherwise. */
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
    // Query.node and Query.nodes are our own: an id that is none of ours is null there, not an error.
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    nodeTypeOptions: { description: 'Anything that has a global ID.' },
    idFieldOptions: { description: 'The global ID.' },
    cursorType: 'String',
    clientMutationId: 'omit',
    pageInfoTypeOptions: { description: 'Where a page lies in its list.' },
    hasNextPageFieldOptions: { description: 'Whether there is more after this page.' },
    hasPreviousPageFieldOptions: { description: 'Whether there is more before this page.' },
    startCursorFieldOptions: { description: 'The cursor of the first edge.' },
    endCursorFieldOptions: { description: 'The cursor of the last edge.' },
    edgesFieldOptions: { description: 'The items with their cursors.', nullable: false },
    nodesOnConnection: { description: 'The items alone.' },
    // Said here and not left to the default, which would make the items of "nodes" nullable beside non-null nodes of edges.
    nodeFieldOptions: { description: 'The item.', nullable: false },
    cursorFieldOptions: { description: 'An opaque place in the list, which outlives its item.' },
    pageInfoFieldOptions: { description: 'Where this page lies in the list.' },
    firstArgOptions: { description: 'How many from the start (1 to 100, 20 when neither this nor "last" is given).' },
    lastArgOptions: { description: 'How many from the end (1 to 100).' },
    afterArgOptions: { description: 'Only what comes after this cursor.' },
    beforeArgOptions: { description: 'Only what comes before this cursor.' },
  },
});

/** The schema's types, for helpers that make several types of one shape. */
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

builder.queryType({ description: 'What can be read.' });
builder.mutationType({ description: 'What can be changed. A bad value is a user error in the payload, not an error.' });
builder.subscriptionType({
  description: 'What can be followed: over WebSocket (graphql-transport-ws) or server-sent events.',
});
