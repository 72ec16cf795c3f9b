import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  type ParseOptions,
  parse,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { chargeLeast, chargeOperation } from './charge.ts';
import type { GraphqlContext } from './context.ts';
import { countPageItems, findExcessItems } from './page-budget.ts';

/** What an operation may be, over whichever transport it comes. */
export const operationLimits = {
  /** Tokens of a document: bounds the work of parsing and validating. */
  tokens: 5_000,
  /** Operations of a document, of which one is run. */
  operations: 20,
  /** Fields inside fields; introspection is not counted. */
  depth: 15,
  /** Renamed fields. */
  aliases: 60,
  /** Fields at the top of one operation. */
  rootFields: 20,
  /** Fields and fragments in all, with what fragments hold counted each time they are used. */
  fields: 1_000,
} as const;

/**
 * The gate that every operation passes, by POST, GET, server-sent events and WebSocket alike: it hooks into parsing and
 * validating, which all of them share, not into HTTP.
 */
export function operationGate(): Plugin {
  return {
    onParse({ setParseFn }) {
      setParseFn((source: string, options?: ParseOptions) => parseBounded(source, options));
    },
    // Before GraphQL's own rules, not as one of them: the time of some grows with the square of a document's fields.
    onValidate({ params, setResult }) {
      const error = findExcess(params.documentAST as DocumentNode);
      if (error) setResult([error]);
    },
    async onExecute({ args, setResultAndStopExecution }) {
      const error = await admit(args);
      if (error) setResultAndStopExecution({ errors: [error] });
    },
    async onSubscribe({ args, setResultAndStopExecution }) {
      const error = await admit(args);
      if (error) setResultAndStopExecution({ errors: [error] });
    },
  };
}

function parseBounded(source: string, options?: ParseOptions): DocumentNode {
  try {
    return parse(source, { ...options, maxTokens: operationLimits.tokens });
  } catch (error) {
    // The parser calls itself for each level of a value; anything else is its complaint.
    if (!(error instanceof RangeError)) throw error;
  }
  throw new GraphQLError('Syntax Error: The document nests too deep.', {
    extensions: { code: 'GRAPHQL_PARSE_FAILED' },
  });
}

interface ExecutedArgs {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variableValues?: Record<string, unknown> | null | undefined;
  readonly contextValue?: unknown;
}

// The last gate: how much it asks for, and whether its key has as many points left.
async function admit(args: ExecutedArgs): Promise<GraphQLError | null> {
  const { schema, document, operationName, variableValues } = args;
  const context = args.contextValue as GraphqlContext;
  const operation = getOperationAST(document, operationName);
  if (!operation) {
    await chargeLeast(context);
    return null;
  }
  const fragments = new Map(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition] as const] : [],
    ),
  );
  const asked = { schema, operation, fragments, variables: variableValues ?? {} };
  const items = countPageItems(asked);
  const excess = findExcessItems(items);
  if (!excess) return chargeOperation(context, asked, items);
  await chargeLeast(context);
  return excess;
}

const refuse = (what: string, most: number, node?: SelectionNode) =>
  new GraphQLError(`The operation has ${what}: at most ${most} are allowed.`, {
    ...(node ? { nodes: node } : {}),
    extensions: { code: 'INVALID_INPUT' },
  });

/** The first limit that a document passes; null when it keeps them all. */
export function findExcess(document: DocumentNode): GraphQLError | null {
  const operations: OperationDefinitionNode[] = [];
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) operations.push(definition);
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  if (operations.length > operationLimits.operations) {
    return refuse(`${operations.length - 1} others beside it`, operationLimits.operations - 1);
  }
  for (const operation of operations) {
    const walk: Walk = { fragments, aliases: 0, fields: 0, rootFields: 0 };
    const error = visit(walk, operation.selectionSet, 1, []);
    if (error) return error;
  }
  return null;
}

interface Walk {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  aliases: number;
  fields: number;
  rootFields: number;
}

// As execution would go. Every step counts against a limit, also a fragment that holds only fragments: twenty of those,
// each with the next one twice, are a million steps.
function visit(walk: Walk, set: SelectionSetNode, depth: number, within: readonly string[]): GraphQLError | null {
  for (const selection of set.selections) {
    if (++walk.fields > operationLimits.fields) return refuse('more fields', operationLimits.fields, selection);
    const error =
      selection.kind === Kind.FIELD
        ? visitField(walk, selection, depth, within)
        : visitFragment(walk, selection, depth, within);
    if (error) return error;
  }
  return null;
}

function visitField(walk: Walk, field: FieldNode, depth: number, within: readonly string[]): GraphQLError | null {
  if (field.alias && ++walk.aliases > operationLimits.aliases) {
    return refuse('more aliases', operationLimits.aliases, field);
  }
  if (depth === 1 && ++walk.rootFields > operationLimits.rootFields) {
    return refuse('more fields at the top', operationLimits.rootFields, field);
  }
  if (depth > operationLimits.depth) return refuse('more fields inside one another', operationLimits.depth, field);
  const { value: name } = field.name;
  // What introspection answers is bounded by the schema; GraphQL's standard query of it is deep.
  if (name === '__schema' || name === '__type' || !field.selectionSet) return null;
  return visit(walk, field.selectionSet, depth + 1, within);
}

function visitFragment(
  walk: Walk,
  selection: Exclude<SelectionNode, FieldNode>,
  depth: number,
  within: readonly string[],
): GraphQLError | null {
  if (selection.kind === Kind.INLINE_FRAGMENT) return visit(walk, selection.selectionSet, depth, within);
  const { value: name } = selection.name;
  const fragment = walk.fragments.get(name);
  // One that is missing, or inside itself, is refused by a rule of GraphQL's own.
  return !fragment || within.includes(name) ? null : visit(walk, fragment.selectionSet, depth, [...within, name]);
}
