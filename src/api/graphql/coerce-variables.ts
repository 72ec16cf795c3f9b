import {
  coerceInputValue,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  isInputType,
  isNonNullType,
  type OperationDefinitionNode,
  typeFromAST,
  type VariableDefinitionNode,
  valueFromAST,
} from 'graphql';

/** The most complaints about variables that are made and told. */
const maxErrors = 5;

/** The most letters of a complaint, part of which is what the client sent. */
const maxMessageLength = 400;

/** The values of an operation's variables as it will see them, or what is wrong with them. */
export type CoercedVariables =
  | { readonly errors: null; readonly values: Readonly<Record<string, unknown>> }
  | { readonly errors: readonly GraphQLError[] };

/** What was given for an operation's variables. */
export interface VariablesInput {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly rawVariables: Readonly<Record<string, unknown>>;
  /** Whether complaints may say "Did you mean …": that tells names of the schema. */
  readonly hasHints: boolean;
}

/**
 * The values of an operation's variables: a default stands where nothing was given; null is a value of its own.
 *
 * GraphQL's own function would do, but it prints the whole of an object in each of 50 complaints about it: 20,000 unknown
 * names in one message took seconds and gave megabytes. Here the work grows with the length of what was given and no
 * faster, and what is told stays short.
 */
export function coerceVariables({ schema, operation, rawVariables, hasHints }: VariablesInput): CoercedVariables {
  const errors: GraphQLError[] = [];
  const values: Record<string, unknown> = {};
  for (const definition of operation.variableDefinitions ?? []) {
    if (errors.length >= maxErrors) break;
    const type = typeFromAST(schema, definition.type);
    // Any other is refused by a rule of GraphQL's own.
    if (!isInputType(type)) continue;
    const { value: name } = definition.variable.name;
    if (!Object.hasOwn(rawVariables, name) || rawVariables[name] === undefined) {
      if (definition.defaultValue) values[name] = valueFromAST(definition.defaultValue, type);
      else if (isNonNullType(type)) {
        errors.push(variableError(definition, `Variable "$${name}" of required type "${type}" was not provided.`));
      }
      continue;
    }
    if (rawVariables[name] === null && isNonNullType(type)) {
      errors.push(variableError(definition, `Variable "$${name}" of non-null type "${type}" must not be null.`));
      continue;
    }
    values[name] = coerceOne(errors, definition, type, rawVariables[name], hasHints);
  }
  return errors.length > 0 ? { errors } : { errors: null, values };
}

/** Thrown to end a walk that would only find more complaints. */
const enough = Symbol('enough complaints');

function coerceOne(
  errors: GraphQLError[],
  definition: VariableDefinitionNode,
  type: GraphQLInputType,
  rawValue: unknown,
  hasHints: boolean,
): unknown {
  const { value: name } = definition.variable.name;
  try {
    const onError: Parameters<typeof coerceInputValue>[2] = (path, invalid, error) => {
      const pathText = path.length > 0 ? ` at "${name}${path.map(writeStep).join('')}"` : '';
      const message = `Variable "$${name}" got invalid value ${show(invalid)}${pathText}; ${error.message}`;
      errors.push(variableError(definition, message));
      if (errors.length >= maxErrors) throw enough;
    };
    return coerceInputValue(rawValue, type, onError, !hasHints);
  } catch (error) {
    if (error !== enough) throw error;
    return undefined;
  }
}

const writeStep = (step: string | number) => (typeof step === 'number' ? `[${step}]` : `.${step.slice(0, 60)}`);

// Never the whole of it: only what it is.
function show(value: unknown): string {
  if (Array.isArray(value)) return '[…]';
  if (typeof value === 'object' && value !== null) return '{…}';
  return typeof value === 'string' ? JSON.stringify(cut(value, 60)) : String(value);
}

const cut = (text: string, maxLength: number) => (text.length > maxLength ? `${text.slice(0, maxLength)}…` : text);

function variableError(nodes: VariableDefinitionNode, message: string): GraphQLError {
  return new GraphQLError(cut(message, maxMessageLength), { nodes, extensions: { code: 'INVALID_INPUT' } });
}
