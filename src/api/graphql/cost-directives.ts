import {
  DirectiveLocation,
  GraphQLDirective,
  type GraphQLField,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
} from 'graphql';
import type { AppliedDirective } from './applied-directive.ts';
import { prices } from './charge.ts';
import { costRuleOf } from './cost-rules.ts';

const names = { cost: 'cost', listSize: 'listSize' } as const;

const int = new GraphQLNonNull(GraphQLInt);
const strings = new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLString)));

/** The definitions of `@cost` and `@listSize`. */
export const costDirectives: readonly GraphQLDirective[] = [
  new GraphQLDirective({
    name: names.cost,
    description: `The points that the field costs by itself, each time it stands in an operation and for each item of the lists around it; 0 without this directive. A field that @skip or @include leaves out costs the same. Each list of introspection (as \`fields\` of \`__type\`) costs ${prices.introspectionList} points, and every operation at least ${prices.min}.`,
    locations: [DirectiveLocation.FIELD_DEFINITION],
    args: { complexity: { type: int, description: 'The points.' } },
  }),
  new GraphQLDirective({
    name: names.listSize,
    description:
      'The field counts for several items: each costs points, and what is selected of the items costs its points for each item.',
    locations: [DirectiveLocation.FIELD_DEFINITION],
    args: {
      assumedSize: { type: int, description: 'The number of items when none of `slicingArguments` is given.' },
      slicingArguments: {
        type: strings,
        description:
          'The arguments that say how many items there are; the first one that is given counts. A number is that many, a list as many as it is long. `input.first` is the member `first` of the argument `input`. Null and an empty list count as not given.',
      },
      maximumSize: {
        type: GraphQLInt,
        description: 'The largest number of items that counts, also for a number that is too large or below 1.',
      },
      sizedFields: {
        type: new GraphQLList(new GraphQLNonNull(GraphQLString)),
        description:
          'The fields below that hold the items. What is selected of other fields costs its points once. Without this argument, everything selected of the field costs its points for each item.',
      },
      itemComplexity: { type: int, defaultValue: 1, description: 'The points that each item costs.' },
    },
  }),
];

/**
 * The directives that declare the cost of a field, from the rules by which the gate charges. `parent`: the type of the
 * field.
 */
export function costDirectivesOf(field: GraphQLField<unknown, unknown>, parent: string): AppliedDirective[] {
  const { items, list } = costRuleOf(field);
  const root = { Mutation: prices.rootField.mutation, Subscription: prices.rootField.subscription }[parent] ?? 0;
  const complexity = items * prices.item + root;
  const applied: AppliedDirective[] = complexity > 0 ? [{ name: names.cost, args: { complexity } }] : [];
  if (!list) return applied;
  const { assumedSize, slicingArguments, maximumSize, sizedFields, itemCost } = list;
  const each = itemCost * prices.item;
  const args = {
    assumedSize,
    slicingArguments,
    maximumSize: maximumSize ?? undefined,
    sizedFields: sizedFields ?? undefined,
    itemComplexity: each === 1 ? undefined : each,
  };
  return [...applied, { name: names.listSize, args }];
}
