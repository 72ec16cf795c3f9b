import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import { type CompiledOperation, compileOperation } from './compile.ts';

/** For how many sets of values an operation is compiled. */
const maxCompiled = 8;

/**
 * Names of the variables that `@skip` and `@include` of a document read. Null if nothing of it is compiled: it has
 * introspection, or other directives.
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

/** An operation of a valid document. */
interface OperationParts {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

/**
 * Compiles an operation when it is first needed, once for each set of values of its conditions ({@link findConditions} of its
 * document). The function returns null for what graphql-js has to run, and for more sets of values than are kept.
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
