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

builder.queryField('rateLimit', (t) =>
  t.field({
    type: RateLimitType,
    description: 'Rate limit of the caller’s key, and the cost of this operation.',
    resolve: (_root, _args, { charge }) => charge,
  }),
);
