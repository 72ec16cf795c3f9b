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

/** What an operation asks for at most, and what it costs. */
export interface Price {
  readonly items: number;
  readonly cost: number;
}

/** An operation of a valid document, with all that can be known of it before it runs. */
export interface OperationPlan {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** It asks for `changesCursor`, which is read before anything else. Such an operation is not compiled. */
  readonly readsChangesCursor: boolean;
  /** `variables`: coerced. Counted once where no page's size is left to a variable, else once for each of the last sizes. */
  price(variables: Readonly<Record<string, unknown>>): Price;
  /** {@link price} of an operation that has run, by the number of sessions that its bulk mutations acted on. */
  priceOfRun(variables: Readonly<Record<string, unknown>>, ran: ReadonlyMap<string | number, number>): Price;
  /** Null: the plain executor runs it. */
  compiled(variables: Readonly<Record<string, unknown>>): CompiledOperation | null;
}

/** The operations of a valid document. */
export interface DocumentPlan {
  readonly document: DocumentNode;
  /** The operation that a request names; the only one where it names none; else null. */
  find(name: string | null | undefined): OperationPlan | null;
}

/** How many prices of one operation are remembered. */
const maxPrices = 32;
/** Longer values of variables are not remembered with their price. */
const maxPriceKeyLength = 200;

/** Plans the operations of a document that is valid. */
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

/** The field of Query that says where the changes after an operation begin. */
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

// What a price depends on is seen by looking which variables are read while it is counted: it is always the same ones,
// unless counting ends early, at too much.
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
