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
const mostComplaints = 5;

/** The most letters of a complaint, part of which is what the client sent. */
const longestComplaint = 400;

/** The values of an operation's variables as it will see them, or what is wrong with them. */
export type CoercedVariables =
  | { readonly errors: null; readonly values: Readonly<Record<string, unknown>> }
  | { readonly errors: readonly GraphQLError[] };

/** What was given for an operation's variables. */
export interface GivenVariables {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly given: Readonly<Record<string, unknown>>;
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
export function coerceVariables({ schema, operation, given, hasHints }: GivenVariables): CoercedVariables {
  const errors: GraphQLError[] = [];
  const values: Record<string, unknown> = {};
  for (const definition of operation.variableDefinitions ?? []) {
    if (errors.length >= mostComplaints) break;
    const type = typeFromAST(schema, definition.type);
    // Any other is refused by a rule of GraphQL's own.
    if (!isInputType(type)) continue;
    const { value: name } = definition.variable.name;
    if (!Object.hasOwn(given, name) || given[name] === undefined) {
      if (definition.defaultValue) values[name] = valueFromAST(definition.defaultValue, type);
      else if (isNonNullType(type)) {
        errors.push(complaint(definition, `Variable "$${name}" of required type "${type}" was not provided.`));
      }
      continue;
    }
    if (given[name] === null && isNonNullType(type)) {
      errors.push(complaint(definition, `Variable "$${name}" of non-null type "${type}" must not be null.`));
      continue;
    }
    values[name] = coerceOne(errors, definition, type, given[name], hasHints);
  }
  return errors.length > 0 ? { errors } : { errors: null, values };
}

/** Thrown to end a walk that would only find more complaints. */
const enough = Symbol('enough complaints');

function coerceOne(
  errors: GraphQLError[],
  definition: VariableDefinitionNode,
  type: GraphQLInputType,
  given: unknown,
  hasHints: boolean,
): unknown {
  const { value: name } = definition.variable.name;
  try {
    const note: Parameters<typeof coerceInputValue>[2] = (path, invalid, error) => {
      const place = path.length > 0 ? ` at "${name}${path.map(writeStep).join('')}"` : '';
      const said = `Variable "$${name}" got invalid value ${show(invalid)}${place}; ${error.message}`;
      errors.push(complaint(definition, said));
      if (errors.length >= mostComplaints) throw enough;
    };
    return coerceInputValue(given, type, note, !hasHints);
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

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…` : text);

function complaint(nodes: VariableDefinitionNode, message: string): GraphQLError {
  return new GraphQLError(cut(message, longestComplaint), { nodes, extensions: { code: 'INVALID_INPUT' } });
}
