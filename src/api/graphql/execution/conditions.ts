import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import { type CompiledOperation, compileOperation } from './compile.ts';

/** The maximum number of condition combinations for which an operation is compiled. */
const maxCompiled = 8;

/**
 * The names of the variables that `@skip` and `@include` in a document read. Null if the document cannot be compiled:
 * it has introspection or other directives.
 */
export function findConditions(document: DocumentNode): ReadonlySet<string> | null {
  const names = new Set<string>();
  let isCompilable = true;
  visit(document, {
    Field({ name: { value: name } }) {
      if (name.startsWith('__') && name !== '__typename') isCompilable = false;
    },
    Directive({ name, arguments: args }) {
      if (name.value !== 'skip' && name.value !== 'include') isCompilable = false;
      for (const { value } of args ?? []) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    },
  });
  return isCompilable ? names : null;
}

/** An operation of a valid document, with its fragments. */
interface OperationParts {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

/**
 * Compiles an operation on first use, once per combination of its conditions ({@link findConditions} of its document).
 * The function returns null for operations that graphql-js must run, and for combinations beyond the maximum.
 */
export function createCompiler(
  parts: OperationParts,
  conditions: ReadonlySet<string> | null,
): (variables: Readonly<Record<string, unknown>>) => CompiledOperation | null {
  if (conditions === null) return () => null;
  const declared = new Set(parts.operation.variableDefinitions?.map(({ variable }) => variable.name.value));
  const own = [...conditions].filter((name) => declared.has(name));
  const compiled = new Map<string, CompiledOperation | null>();
  return (variables) => {
    const values = own.map((name) => variables[name]);
    const key = values.join();
    const cached = compiled.get(key);
    if (cached !== undefined) return cached;
    if (compiled.size >= maxCompiled || !values.every((value) => typeof value === 'boolean')) return null;
    const conditionValues = Object.fromEntries(own.map((name, n) => [name, values[n] as boolean]));
    const made = compileOperation({ ...parts, conditions: conditionValues });
    compiled.set(key, made);
    return made;
  };
}
