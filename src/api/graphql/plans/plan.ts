import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import { costOf } from '../charge.ts';
import { type CompiledOperation, createCompiler, findConditions } from '../execution/index.ts';
import { countPageItems } from '../page-budget.ts';

/** The maximum size of an operation's response, and its cost. */
export interface Price {
  readonly items: number;
  readonly cost: number;
}

/** An operation of a valid document, with everything that is known before it runs. */
export interface OperationPlan {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** True if it requests `changesCursor`, which is read before anything else. Such an operation is not compiled. */
  readonly readsChangesCursor: boolean;
  /**
   * `variables`: coerced. Computed once if no page's size depends on a variable, otherwise once for each of the last
   * sizes.
   */
  price(variables: Readonly<Record<string, unknown>>): Price;
  /** The {@link price} of an operation that has run, with the number of sessions that its bulk mutations changed. */
  priceOfRun(variables: Readonly<Record<string, unknown>>, ran: ReadonlyMap<string | number, number>): Price;
  /** Null: the plain executor runs it. */
  compiled(variables: Readonly<Record<string, unknown>>): CompiledOperation | null;
}

/** The operations of a valid document. */
export interface DocumentPlan {
  readonly document: DocumentNode;
  /** The operation that a request names, or the only one if it names none; otherwise null. */
  find(name: string | null | undefined): OperationPlan | null;
}

/** The maximum number of cached prices per operation. */
const maxPrices = 32;
/** Prices for longer variable values are not cached. */
const maxPriceKeyLength = 200;

/** Plans the operations of a valid document. */
export function planDocument(schema: GraphQLSchema, document: DocumentNode): DocumentPlan {
  const fragments = new Map<string, FragmentDefinitionNode>();
  const operations: OperationDefinitionNode[] = [];
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
    if (definition.kind === Kind.OPERATION_DEFINITION) operations.push(definition);
  }
  const readsChangesCursor = hasField(document, changesCursorField);
  const conditions = readsChangesCursor ? null : findConditions(document);
  const plans = operations.map((operation) =>
    planOperation({ schema, operation, fragments, readsChangesCursor }, conditions),
  );
  return {
    document,
    find(name) {
      if (name == null) return plans.length === 1 ? (plans[0] ?? null) : null;
      return plans.find(({ operation }) => operation.name?.value === name) ?? null;
    },
  };
}

/** The field of Query that returns the cursor from which changes after an operation start. */
export const changesCursorField = 'changesCursor';

function hasField(document: DocumentNode, wanted: string): boolean {
  let isThere = false;
  visit(document, {
    Field({ name }) {
      if (name.value === wanted) isThere = true;
    },
  });
  return isThere;
}

function planOperation(
  parts: Pick<OperationPlan, 'schema' | 'operation' | 'fragments' | 'readsChangesCursor'>,
  conditions: ReadonlySet<string> | null,
): OperationPlan {
  return {
    ...parts,
    price: pricer(parts),
    priceOfRun(variables, ran) {
      const items = countPageItems({ ...parts, variables, ran });
      return { items, cost: costOf(parts, items) };
    },
    compiled: createCompiler(parts, conditions),
  };
}

// The variables on which a price depends are recorded while it is computed. They are always the same ones, unless the
// computation stops early at the limit.
function pricer(parts: Pick<OperationPlan, 'schema' | 'operation' | 'fragments'>): OperationPlan['price'] {
  const read = new Set<string>();
  const cachedPrices = new Map<string, Price>();
  const count = (variables: Readonly<Record<string, unknown>>): Price => {
    const noting = new Proxy(variables, {
      get(target, name, receiver) {
        read.add(name as string);
        return Reflect.get(target, name, receiver);
      },
    });
    const items = countPageItems({ ...parts, variables: noting });
    return { items, cost: costOf(parts, items) };
  };
  let isCounted = false;
  return (variables) => {
    if (!isCounted) {
      isCounted = true;
      return count(variables);
    }
    const key = read.size === 0 ? '' : JSON.stringify([...read].map((name) => variables[name] ?? null));
    const found = cachedPrices.get(key);
    if (found) return found;
    const before = read.size;
    const price = count(variables);
    if (read.size > before || key.length > maxPriceKeyLength) return price;
    if (cachedPrices.size >= maxPrices) cachedPrices.clear();
    cachedPrices.set(key, price);
    return price;
  };
}
