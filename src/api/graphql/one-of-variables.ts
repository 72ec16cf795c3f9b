import { GraphQLError, isInputObjectType, isNonNullType, typeFromAST, type ValidationRule } from 'graphql';

/**
 * Refuses a nullable variable as a member of a `@oneOf` input. GraphQL's own rule does so only where the input itself
 * is nullable: it does not look inside the "!" of `[AutomationActionInput!]!`.
 */
export const OneOfVariablesRule: ValidationRule = (context) => ({
  OperationDefinition: {
    leave(operation) {
      const declared = new Map(operation.variableDefinitions?.map((each) => [each.variable.name.value, each]));
      for (const { node, parentType } of context.getRecursiveVariableUsages(operation)) {
        const input: unknown = isNonNullType(parentType) ? parentType.ofType : null;
        const definition = declared.get(node.name.value);
        if (!isInputObjectType(input) || !input.isOneOf || !definition) continue;
        const type = typeFromAST(context.getSchema(), definition.type);
        if (isNonNullType(type)) continue;
        const message = `Variable "$${node.name.value}" is of type "${type}" but must be non-nullable to be used for OneOf Input Object "${input}".`;
        context.reportError(new GraphQLError(message, { nodes: [definition, node] }));
      }
    },
  },
});
