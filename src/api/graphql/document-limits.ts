import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  type ParseOptions,
  parse,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { hideKeys } from './quoted-keys.ts';

/** Limits of a document, for every transport. */
export const operationLimits = {
  /** Tokens of a document. They bound the work of parsing and validation. */
  tokens: 5_000,
  /** Operations of a document, one of which runs. */
  operations: 20,
  /** Nesting depth of fields. */
  depth: 15,
  /** Depth inside introspection: GraphQL's standard introspection query is deep. */
  introspectionDepth: 20,
  /** Introspection lists such as `fields` and `args`: the response grows with each. The standard query has 9. */
  introspectionLists: 15,
  /** Aliased fields. */
  aliases: 60,
  /** Directives on fields, fragments, variables and the operation. */
  directives: 50,
  /** Deferred parts (`@defer`). */
  defers: 20,
  /** Root fields of one operation. */
  rootFields: 20,
  /** Fields and fragments in total; the content of a fragment counts for each use. */
  fields: 1_000,
} as const;

/** Parses a document within the token limit. Throws GRAPHQL_PARSE_FAILED, also for a document that nests too deeply. */
export function parseBounded(source: string, options?: ParseOptions): DocumentNode {
  let failure: unknown;
  try {
    return parse(source, { ...options, maxTokens: operationLimits.tokens });
  } catch (error) {
    failure = error;
  }
  const extensions = { code: 'GRAPHQL_PARSE_FAILED' };
  if (failure instanceof GraphQLError) {
    const { message, source = null, positions = null } = failure;
    throw new GraphQLError(hideKeys(message), { source, positions, extensions });
  }
  // The parser recurses into each level of a value.
  if (failure instanceof RangeError)
    throw new GraphQLError('Syntax Error: The document nests too deep.', { extensions });
  throw failure;
}

const refuse = (what: string, max: number, node?: SelectionNode) =>
  new GraphQLError(`The operation has ${what}: at most ${max} are allowed.`, {
    ...(node ? { nodes: node } : {}),
    extensions: { code: 'LIMIT_EXCEEDED' },
  });

/** The first limit that a document exceeds, or null. */
export function findExceededLimit(document: DocumentNode): GraphQLError | null {
  const operations: OperationDefinitionNode[] = [];
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) operations.push(definition);
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  if (operations.length > operationLimits.operations) {
    return refuse(`${operations.length - 1} others beside it`, operationLimits.operations - 1);
  }
  // GraphQL's own rules also check the fragments that no operation uses.
  let ofFragments = 0;
  for (const { directives } of fragments.values()) ofFragments += directives?.length ?? 0;
  for (const operation of operations) {
    const state: VisitState = { fragments, aliases: 0, fields: 0, rootFields: 0, directives: 0, defers: 0, lists: 0 };
    const ofVariables = operation.variableDefinitions?.reduce((sum, each) => sum + (each.directives?.length ?? 0), 0);
    state.directives = ofFragments + (ofVariables ?? 0) + (operation.directives?.length ?? 0);
    if (state.directives > operationLimits.directives) return refuse('too many directives', operationLimits.directives);
    const error = visit(state, operation.selectionSet, { depth: 1, isIntrospection: false, within: [] });
    if (error) return error;
  }
  return null;
}

interface VisitState {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  aliases: number;
  fields: number;
  rootFields: number;
  directives: number;
  defers: number;
  lists: number;
}

interface Nesting {
  readonly depth: number;
  readonly isIntrospection: boolean;
  /** The fragments that enclose the current selection. */
  readonly within: readonly string[];
}

// Visits selections in the order of execution. Every step counts against a limit, even a fragment that holds only
// fragments: twenty of these, each of which uses the next one twice, are a million steps.
function visit(state: VisitState, set: SelectionSetNode, nesting: Nesting): GraphQLError | null {
  for (const selection of set.selections) {
    if (++state.fields > operationLimits.fields) return refuse('too many fields', operationLimits.fields, selection);
    const error =
      countDirectives(state, selection, selection.directives ?? []) ??
      (selection.kind === Kind.FIELD
        ? visitField(state, selection, nesting)
        : visitFragment(state, selection, nesting));
    if (error) return error;
  }
  return null;
}

function countDirectives(
  state: VisitState,
  selection: SelectionNode,
  directives: readonly DirectiveNode[],
): GraphQLError | null {
  if (directives.length === 0) return null;
  state.directives += directives.length;
  if (state.directives > operationLimits.directives) {
    return refuse('too many directives', operationLimits.directives, selection);
  }
  state.defers += directives.filter((directive) => directive.name.value === 'defer').length;
  return state.defers > operationLimits.defers
    ? refuse('too many deferred parts', operationLimits.defers, selection)
    : null;
}

/** The introspection fields that are lists. */
export const introspectionLists: ReadonlySet<string> = new Set([
  'types',
  'directives',
  'fields',
  'args',
  'inputFields',
  'interfaces',
  'enumValues',
  'possibleTypes',
]);

function visitField(state: VisitState, field: FieldNode, nesting: Nesting): GraphQLError | null {
  const { depth, within } = nesting;
  if (field.alias && ++state.aliases > operationLimits.aliases) {
    return refuse('too many aliases', operationLimits.aliases, field);
  }
  if (depth === 1 && ++state.rootFields > operationLimits.rootFields) {
    return refuse('too many fields at the top', operationLimits.rootFields, field);
  }
  const { value: name } = field.name;
  const isIntrospection = nesting.isIntrospection || name === '__schema' || name === '__type';
  const maxDepth = isIntrospection ? operationLimits.introspectionDepth : operationLimits.depth;
  if (depth > maxDepth) return refuse('too many levels of fields inside one another', maxDepth, field);
  if (nesting.isIntrospection && introspectionLists.has(name) && ++state.lists > operationLimits.introspectionLists) {
    return refuse('too many lists of introspection', operationLimits.introspectionLists, field);
  }
  return field.selectionSet ? visit(state, field.selectionSet, { depth: depth + 1, isIntrospection, within }) : null;
}

function visitFragment(
  state: VisitState,
  selection: Exclude<SelectionNode, FieldNode>,
  nesting: Nesting,
): GraphQLError | null {
  if (selection.kind === Kind.INLINE_FRAGMENT) return visit(state, selection.selectionSet, nesting);
  const { value: name } = selection.name;
  const fragment = state.fragments.get(name);
  // GraphQL's own rules refuse a missing fragment, or one that contains itself.
  if (!fragment || nesting.within.includes(name)) return null;
  return visit(state, fragment.selectionSet, { ...nesting, within: [...nesting.within, name] });
}
