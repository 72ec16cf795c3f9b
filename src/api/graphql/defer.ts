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

/** `@defer`, as of the working draft of 2022 that the executor speaks (deferSpec=20220824). */
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

/** Labels are what a client knows a part by: each must be a text, and unlike the others. */
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

/** The document without its `@defer`s, for a client that takes one answer, and for what is no query. */
export function withoutDefer(document: DocumentNode): DocumentNode {
  const cached = strippedDocuments.get(document);
  if (cached) return cached;
  const made = visit(document, {
    Directive: (node) => (node.name.value === deferDirective.name ? null : undefined),
  });
  strippedDocuments.set(document, made);
  return made;
}

/** Whether an operation's answer may come in parts at all. */
export function isDeferrable(operation: OperationTypeNode | undefined): boolean {
  return operation === OperationTypeNode.QUERY;
}

/** A result that comes in parts, of which each may have errors of its own. */
export type PartialResult = ExecutionResult & {
  readonly incremental?: readonly { readonly errors?: readonly unknown[] }[];
};

/** The part with the errors of what was deferred masked: the library does so for the errors of the whole alone. */
export function maskParts(result: PartialResult, mask: (error: unknown) => GraphQLError): PartialResult {
  if (!result.incremental?.some(({ errors }) => errors)) return result;
  const incremental = result.incremental.map((part) =>
    part.errors ? { ...part, errors: part.errors.map(mask) } : part,
  );
  return { ...result, incremental };
}
