import {
  DirectiveLocation,
  type DocumentNode,
  type ExecutionResult,
  GraphQLBoolean,
  GraphQLDirective,
  GraphQLError,
  GraphQLNonNull,
  GraphQLString,
  Kind,
  OperationTypeNode,
  type ValidationRule,
  visit,
} from 'graphql';

/** `@defer` of the 2022 working draft, which the executor implements (deferSpec=20220824). */
export const deferDirective = new GraphQLDirective({
  name: 'defer',
  description:
    'Delivers a fragment of a query after the rest of the response, to clients that accept a response in parts (multipart/mixed, text/event-stream, WebSocket). Has no effect otherwise.',
  locations: [DirectiveLocation.FRAGMENT_SPREAD, DirectiveLocation.INLINE_FRAGMENT],
  args: {
    if: {
      type: new GraphQLNonNull(GraphQLBoolean),
      defaultValue: true,
      description: 'Whether to defer the fragment. If false, the fragment is delivered with the rest of the response.',
    },
    label: {
      type: GraphQLString,
      description:
        'Name of the deferred fragment in the response. Must be a literal string that is unique within the document.',
    },
  },
});

/** Labels identify the parts of a response: each must be a literal string and unique. */
export const DeferLabelsRule: ValidationRule = (context) => {
  const labels = new Set<string>();
  return {
    Directive(node) {
      if (node.name.value !== deferDirective.name) return;
      const label = node.arguments?.find((argument) => argument.name.value === 'label')?.value;
      if (!label || label.kind === Kind.NULL) return;
      const message = 'The label of a @defer must be a text in the document itself, unlike the others.';
      if (label.kind !== Kind.STRING || labels.has(label.value)) {
        context.reportError(new GraphQLError(message, { nodes: node }));
      } else labels.add(label.value);
    },
  };
};

const strippedDocuments = new WeakMap<DocumentNode, DocumentNode>();

/**
 * Removes `@defer` from a document, for a client that takes a single response, and for operations other than queries.
 */
export function withoutDefer(document: DocumentNode): DocumentNode {
  const cached = strippedDocuments.get(document);
  if (cached) return cached;
  const made = visit(document, {
    Directive: (node) => (node.name.value === deferDirective.name ? null : undefined),
  });
  strippedDocuments.set(document, made);
  return made;
}

/** Returns true if the response to an operation may be incremental. */
export function isDeferrable(operation: OperationTypeNode | undefined): boolean {
  return operation === OperationTypeNode.QUERY;
}

/** An incremental result, whose parts may have errors of their own. */
export type PartialResult = ExecutionResult & {
  readonly incremental?: readonly { readonly errors?: readonly unknown[] }[];
};

/** Masks the errors of a deferred part: the library masks only the errors of the initial result. */
export function maskParts(result: PartialResult, mask: (error: unknown) => GraphQLError): PartialResult {
  if (!result.incremental?.some(({ errors }) => errors)) return result;
  const incremental = result.incremental.map((part) =>
    part.errors ? { ...part, errors: part.errors.map(mask) } : part,
  );
  return { ...result, incremental };
}
