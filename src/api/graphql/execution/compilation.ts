import type {
  FragmentDefinitionNode,
  GraphQLObjectType,
  GraphQLResolveInfo,
  GraphQLSchema,
  GraphQLTypeResolver,
  OperationDefinitionNode,
} from 'graphql';
import { type Container, type FieldInfo, pathOf, type ResponsePosition, type Run } from './run.ts';

/** State that all selections of a compiled operation share. */
export interface Compilation {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** The values of the variables in `@skip` and `@include`: an operation is compiled for each combination. */
  readonly conditions: Readonly<Record<string, boolean>>;
  readonly resolveType: GraphQLTypeResolver<unknown, unknown>;
  /** Counts fields whose arguments depend on variables. */
  readonly numbers: { next: number };
}

/** Writes the fields of an object into the response. */
export type WriteFields = (run: Run, source: unknown, out: Container, position: ResponsePosition) => void;

/** The selections below one value, for every runtime type. */
export interface Selections extends Compilation {
  of(type: GraphQLObjectType): WriteFields;
}

/** The `info` argument of a resolver. */
export function infoOf(
  { schema, operation, fragments }: Compilation,
  { name, nodes, returnType, parentType }: FieldInfo,
  run: Run,
  position: ResponsePosition,
  key: string | number,
): GraphQLResolveInfo {
  return {
    fieldName: name,
    fieldNodes: nodes,
    returnType,
    parentType,
    get path() {
      let path: GraphQLResolveInfo['path'] | undefined;
      for (const step of pathOf(position, key)) path = { prev: path, key: step, typename: undefined };
      return path as GraphQLResolveInfo['path'];
    },
    schema,
    get fragments() {
      return Object.fromEntries(fragments);
    },
    rootValue: run.rootValue,
    operation,
    variableValues: run.variables as Record<string, unknown>,
  };
}
