import { builder } from '../builder.ts';
import type { Charge } from '../context.ts';

const RateLimitType = builder.objectRef<Charge>('RateLimit').implement({
  description: 'Points that the caller’s key may spend on operations in a minute.',
  fields: (t) => ({
    limit: t.int({
      description: 'Number of points that the key has in each minute; 0 if there is no limit.',
      resolve: ({ spending }) => spending?.limit ?? 0,
    }),
    cost: t.int({ description: 'Number of points that this operation costs.', resolve: ({ cost }) => cost }),
    remaining: t.int({
      nullable: true,
      description: 'Number of points left in this minute after this operation; null if there is no limit.',
      resolve: ({ spending }) => spending?.remaining ?? null,
    }),
    resetAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time when the key has all its points again; null if there is no limit.',
      resolve: ({ spending }) => spending?.resetAt ?? null,
    }),
  }),
});

interface OperationCost {
  readonly cost: number;
  readonly isAffordable: boolean;
}

const OperationCostType = builder.objectRef<OperationCost>('OperationCost').implement({
  description: 'The cost of an operation that was not run.',
  fields: (t) => ({
    cost: t.exposeInt('cost', {
      description:
        'The points that it would cost: what its answer would have as `extensions.cost`. A bulk mutation is charged less when it finds fewer sessions than it may act on.',
    }),
    isAffordable: t.exposeBoolean('isAffordable', {
      description: 'Whether the key of the caller has so many points left in this minute.',
    }),
  }),
});

builder.queryField('operationCost', (t) =>
  t.field({
    type: OperationCostType,
    nullable: true,
    description:
      'Calculates the cost of an operation without running it. Null with the error that the operation would get before it runs: because it does not fit the schema, exceeds a limit, or cannot use the variables. Where only trusted documents are run, the error is PERSISTED_QUERY_ONLY.',
    // Validating a document takes about as long as reading and writing ten items.
    extensions: { items: 10, isNullOnlyOnError: true },
    args: {
      document: t.arg.string({
        required: true,
        description: 'The text of the document: a query, mutation or subscription.',
      }),
      operationName: t.arg.string({
        description: 'The name of its operation; may be left out where the document has one operation alone.',
      }),
      variables: t.arg({
        type: 'JSON',
        description: 'The values of its variables, as an object. Those that say how long a list is decide the cost.',
      }),
    },
    resolve: (_root, { document, operationName, variables }, { charge: { spending }, estimate }) => {
      const cost = estimate({ document, operationName: operationName ?? null, variables });
      return { cost, isAffordable: spending === null || cost <= spending.remaining };
    },
  }),
);

builder.queryField('rateLimit', (t) =>
  t.field({
    type: RateLimitType,
    description: 'Rate limit of the caller’s key, and the cost of this operation.',
    resolve: (_root, _args, { charge }) => charge,
  }),
);
