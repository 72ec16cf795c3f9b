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

/** The maximum number of errors about variables. */
const maxErrors = 5;

/** The maximum length of an error message, which may quote the client's input. */
const maxMessageLength = 400;

/** The coerced values of an operation's variables, or the errors in them. */
export type CoercedVariables =
  | { readonly errors: null; readonly values: Readonly<Record<string, unknown>> }
  | { readonly errors: readonly GraphQLError[] };

/** The input of an operation's variables. */
export interface VariablesInput {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly rawVariables: Readonly<Record<string, unknown>>;
  /** True if messages may contain "Did you mean …", which reveals names of the schema. */
  readonly hasHints: boolean;
}

/**
 * Coerces an operation's variables. A missing variable gets its default; null is a value of its own.
 *
 * GraphQL.js has such a function, but it prints the whole object in each of 50 messages about it: one request with
 * 20,000 unknown names took seconds and produced megabytes. The work done here grows linearly with the input, and
 * messages stay short.
 */
export function coerceVariables({ schema, operation, rawVariables, hasHints }: VariablesInput): CoercedVariables {
  const errors: GraphQLError[] = [];
  const values: Record<string, unknown> = {};
  for (const definition of operation.variableDefinitions ?? []) {
    if (errors.length >= maxErrors) break;
    const type = typeFromAST(schema, definition.type);
    // A validation rule of GraphQL.js refuses other types.
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

/** Members of inputs that may contain a secret: their values are not repeated. */
const secretMembers: ReadonlySet<unknown> = new Set(['key', 'value', 'secret', 'token']);

/** Thrown to stop the coercion when the maximum number of errors is reached. */
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
      const message = secretMembers.has(path.at(-1))
        ? `Variable "$${name}" got an invalid value${pathText}: it does not have the member's type.`
        : `Variable "$${name}" got invalid value ${show(invalid)}${pathText}; ${error.message}`;
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

// Names the type of a value without quoting all of it.
function show(value: unknown): string {
  if (Array.isArray(value)) return '[…]';
  if (typeof value === 'object' && value !== null) return '{…}';
  return typeof value === 'string' ? JSON.stringify(cut(value, 60)) : String(value);
}

const cut = (text: string, maxLength: number) => (text.length > maxLength ? `${text.slice(0, maxLength)}…` : text);

function variableError(nodes: VariableDefinitionNode, message: string): GraphQLError {
  return new GraphQLError(cut(message, maxMessageLength), { nodes, extensions: { code: 'INVALID_INPUT' } });
}
