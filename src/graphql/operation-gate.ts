import {
  type ASTVisitor,
  type FieldNode,
  GraphQLError,
  Kind,
  type ParseOptions,
  parse,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';

/** What an operation may be, over whichever transport it comes. */
export const operationLimits = {
  /** Tokens of a document: bounds the work of parsing and validating. */
  tokens: 2_000,
  /** Fields inside fields; introspection is not counted. */
  depth: 15,
  /** Renamed fields. */
  aliases: 60,
  /** Fields at the top of one operation. */
  rootFields: 20,
  /** Fields in all, with fragments counted each time they are used. */
  fields: 1_000,
} as const;

/**
 * The gate that every operation passes, by POST, GET, server-sent events and WebSocket alike: it hooks into parsing and
 * validating, which all of them share, not into HTTP.
 */
export function operationGate(): Plugin {
  return {
    onParse({ setParseFn }) {
      setParseFn((source: string, options?: ParseOptions) =>
        parse(source, { ...options, maxTokens: operationLimits.tokens }),
      );
    },
    onValidate({ addValidationRule }) {
      addValidationRule(limitsRule);
    },
  };
}

const refuse = (what: string, most: number, nodes: readonly FieldNode[] = []) =>
  new GraphQLError(`The operation has ${what}: at most ${most} are allowed.`, {
    nodes,
    extensions: { code: 'INVALID_INPUT' },
  });

// One walk for all limits, through fragments as execution would go; it stops at the first that is passed.
const limitsRule: ValidationRule = (context: ValidationContext): ASTVisitor => ({
  OperationDefinition(operation) {
    if (operation.selectionSet.selections.length > operationLimits.rootFields) {
      context.reportError(
        refuse(`${operation.selectionSet.selections.length} fields at the top`, operationLimits.rootFields),
      );
      return;
    }
    const counts = { aliases: 0, fields: 0 };
    const error = walk(context, operation.selectionSet, 1, counts, new Set());
    if (error) context.reportError(error);
  },
});

function walk(
  context: ValidationContext,
  set: SelectionSetNode,
  depth: number,
  counts: { aliases: number; fields: number },
  fragments: ReadonlySet<string>,
): GraphQLError | null {
  for (const selection of set.selections) {
    let error: GraphQLError | null = null;
    if (selection.kind === Kind.FIELD) {
      if (selection.name.value === '__schema' || selection.name.value === '__type') continue;
      if (selection.alias && ++counts.aliases > operationLimits.aliases)
        return refuse('more aliases', operationLimits.aliases, [selection]);
      if (++counts.fields > operationLimits.fields) return refuse('more fields', operationLimits.fields, [selection]);
      if (depth > operationLimits.depth)
        return refuse('more fields inside one another', operationLimits.depth, [selection]);
      if (selection.selectionSet) error = walk(context, selection.selectionSet, depth + 1, counts, fragments);
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      error = walk(context, selection.selectionSet, depth, counts, fragments);
    } else {
      const name = selection.name.value;
      // A fragment inside itself is refused by a rule of its own.
      if (fragments.has(name)) continue;
      const fragment = context.getFragment(name);
      if (fragment) error = walk(context, fragment.selectionSet, depth, counts, new Set(fragments).add(name));
    }
    if (error) return error;
  }
  return null;
}
