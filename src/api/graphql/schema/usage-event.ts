import { builder } from '../builder.ts';
import { usageSource } from './event-enums.ts';
import { dataOf, eventType, intOf, numberOf } from './events.ts';

const countOf = (value: unknown) => (Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null);

const TokenCounts = builder.objectRef<Readonly<Record<string, unknown>>>('TokenCounts').implement({
  description:
    'Whole numbers of tokens, which may be larger than an Int can hold. A number that was not reported is null.',
  fields: (t) => ({
    input: t.float({
      nullable: true,
      description: 'Number of input tokens, which the model read.',
      resolve: ({ inputTokens }) => countOf(inputTokens),
    }),
    cached: t.float({
      nullable: true,
      description: 'Number of input tokens that came from the cache of the provider.',
      resolve: ({ cachedTokens }) => countOf(cachedTokens),
    }),
    output: t.float({
      nullable: true,
      description: 'Number of output tokens, which the model wrote.',
      resolve: ({ outputTokens }) => countOf(outputTokens),
    }),
    total: t.float({
      nullable: true,
      description: 'Total number of tokens, as the source reported it.',
      resolve: ({ totalTokens }) => countOf(totalTokens),
    }),
  }),
});

const tokensInstead = 'Use UsageEvent.tokens. Removed after 2027-06-30.';

eventType(
  'UsageEvent',
  'A log entry with the tokens and cost of a part of the work. A value that was not reported is null.',
  (t) => ({
    source: t.field({
      type: usageSource.type,
      nullable: true,
      description:
        'Source of the report. Several sources may report the same work: consumption counts only the first available of GATEWAY, RESPONSE, QUOTA and UPDATE.',
      resolve: (entry) => usageSource.read(dataOf(entry).source),
    }),
    inputTokens: t.int({
      nullable: true,
      description:
        'Number of input tokens; null if it was not reported, or if it is too large for an Int and only in `tokens`.',
      deprecationReason: tokensInstead,
      resolve: (entry) => intOf(dataOf(entry).inputTokens),
    }),
    outputTokens: t.int({
      nullable: true,
      description:
        'Number of output tokens; null if it was not reported, or if it is too large for an Int and only in `tokens`.',
      deprecationReason: tokensInstead,
      resolve: (entry) => intOf(dataOf(entry).outputTokens),
    }),
    totalTokens: t.int({
      nullable: true,
      description:
        'Total number of tokens; null if it was not reported, or if it is too large for an Int and only in `tokens`.',
      deprecationReason: tokensInstead,
      resolve: (entry) => intOf(dataOf(entry).totalTokens),
    }),
    tokens: t.field({
      type: TokenCounts,
      description: 'All reported numbers of tokens, of any size.',
      resolve: (entry) => dataOf(entry),
    }),
    costUsd: t.float({
      nullable: true,
      description:
        'Cost in US dollars; null if it was not reported. A cost that the agent reports is the total since its session began.',
      resolve: (entry) => numberOf(dataOf(entry).costUsd),
    }),
    contextUsed: t.int({
      nullable: true,
      description: 'Number of tokens in the context of the agent; null if it was not reported.',
      resolve: (entry) => intOf(dataOf(entry).contextUsed),
    }),
    contextSize: t.int({
      nullable: true,
      description: 'Number of tokens that fit in the context of the agent; null if it was not reported.',
      resolve: (entry) => intOf(dataOf(entry).contextSize),
    }),
  }),
);
