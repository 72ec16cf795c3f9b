import { builder } from '../builder.ts';
import type { Charge } from '../context.ts';

const RateLimitType = builder.objectRef<Charge>('RateLimit').implement({
  description: 'What the key of the caller may spend on operations in a minute, in points.',
  fields: (t) => ({
    limit: t.int({
      description: 'The points that it has in each minute; 0: as many as it likes.',
      resolve: ({ spending }) => spending?.limit ?? 0,
    }),
    cost: t.int({ description: 'The points of this operation.', resolve: ({ cost }) => cost }),
    remaining: t.int({
      nullable: true,
      description: 'The points that are left in this minute, without those of this operation. Null without a limit.',
      resolve: ({ spending }) => spending?.remaining ?? null,
    }),
    resetAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it has all of them again. Null without a limit.',
      resolve: ({ spending }) => spending?.resetAt ?? null,
    }),
  }),
});

builder.queryField('rateLimit', (t) =>
  t.field({
    type: RateLimitType,
    description: 'What the caller may spend, and what this operation costs.',
    resolve: (_root, _args, { charge }) => charge,
  }),
);
