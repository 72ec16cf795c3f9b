import { GraphQLError, Kind, type SelectionSetNode } from 'graphql';
import type { Viewer } from '../../auth/viewer.ts';
import type { Spending } from '../../domain/limits/counter.ts';
import type { Charge, GraphqlContext } from './context.ts';
import { introspectionLists } from './document-limits.ts';
import type { Operation } from './page-budget.ts';

/** Prices of the parts of an operation, in points. */
export const prices = {
  /** Each item that a page could hold; nested pages multiply. */
  item: 1,
  /** Each root field. For a subscription this is the price of its start; its events are free. */
  rootField: { query: 0, mutation: 10, subscription: 10 },
  /** Each list of introspection: the schema has thousands of items. */
  introspectionList: 5,
  /** The minimum price, also of a request without an operation to run. */
  min: 1,
} as const;

/** The price, in points, of an operation whose pages could hold `items` items. */
export function costOf({ operation, fragments }: Pick<Operation, 'operation' | 'fragments'>, items: number): number {
  const price = prices.rootField[operation.operation];
  const fields = price === 0 ? 0 : price * countFields(fragments, operation.selectionSet);
  const lists = prices.introspectionList * countLists(fragments, operation.selectionSet, false);
  return Math.max(prices.min, fields + lists + prices.item * items);
}

/** Charges an operation to the key of its viewer. Returns an error if the key has too few points left. */
export async function chargeOperation(context: GraphqlContext, cost: number): Promise<GraphQLError | null> {
  await charge(context, cost);
  const { spending } = context.charge;
  return spending && cost > spending.limit ? tooExpensive(cost, spending) : refusalOf(context.charge);
}

/** Refunds the points beyond `cost`: the bulk mutations of the operation found fewer sessions than their maximum. */
export function settle({ domain, charge }: GraphqlContext, cost: number): void {
  const { viewer, limits } = domain;
  const { spending } = charge;
  const points = charge.cost - cost;
  if (points <= 0) return;
  charge.cost = cost;
  if (spending) charge.spending = limits.graphql.giveBack(keyOf(viewer), points, spending);
}

const keyOf = (viewer: Viewer) => viewer.apiKeyId ?? viewer.principal.id;

/** Charges a request that never ran, such as one whose document does not parse. */
export async function chargeMinimum(context: GraphqlContext): Promise<void> {
  if (context.charge.cost === 0) await charge(context, prices.min);
}

/** The RATE_LIMITED error of a charge that can succeed later; null if the charge succeeded. */
export function refusalOf({ cost, spending }: Charge): GraphQLError | null {
  if (!spending || spending.isAllowed || cost > spending.limit) return null;
  return new GraphQLError(
    `The operation costs ${cost} of the ${spending.limit} points that a key has in a minute, and too few are left. Wait and try again.`,
    { extensions: { code: 'RATE_LIMITED', retryAfter: spending.resetSeconds } },
  );
}

async function charge(context: GraphqlContext, cost: number): Promise<void> {
  const { viewer, limits } = context.domain;
  context.charge.cost = cost;
  context.charge.spending = await limits.graphql.spend(keyOf(viewer), cost);
}

// The error of an operation that exceeds the whole limit, so that a retry cannot succeed.
function tooExpensive(cost: number, { limit }: Spending): GraphQLError {
  return new GraphQLError(
    `The operation costs ${cost} points, more than the ${limit} that a key has in a minute: ask for less, by a smaller "first" where it has lists.`,
    { extensions: { code: 'LIMIT_EXCEEDED' } },
  );
}

function countFields(fragments: Operation['fragments'], set: SelectionSetNode): number {
  let fields = 0;
  for (const selection of set.selections) {
    if (selection.kind === Kind.FIELD) {
      fields += 1;
      continue;
    }
    const inner =
      selection.kind === Kind.FRAGMENT_SPREAD
        ? fragments.get(selection.name.value)?.selectionSet
        : selection.selectionSet;
    if (inner) fields += countFields(fragments, inner);
  }
  return fields;
}

// The limits of a document bound this recursion.
function countLists(fragments: Operation['fragments'], set: SelectionSetNode, isWithin: boolean): number {
  let lists = 0;
  for (const selection of set.selections) {
    if (selection.kind !== Kind.FIELD) {
      const { selectionSet } =
        selection.kind === Kind.FRAGMENT_SPREAD ? (fragments.get(selection.name.value) ?? {}) : selection;
      if (selectionSet) lists += countLists(fragments, selectionSet, isWithin);
      continue;
    }
    const { value: name } = selection.name;
    if (isWithin && introspectionLists.has(name)) lists += 1;
    // Fields of the same names outside introspection cost nothing.
    const isInside = isWithin || name === '__schema' || name === '__type';
    if (isInside && selection.selectionSet) lists += countLists(fragments, selection.selectionSet, true);
  }
  return lists;
}
