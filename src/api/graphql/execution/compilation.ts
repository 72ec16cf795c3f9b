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
  compilation: Compilation,
  field: FieldInfo,
  run: Run,
  position: ResponsePosition,
  key: string | number,
): GraphQLResolveInfo {
  return new ResolveInfo(compilation, field, run, position, key);
}

/** A class, because an object literal with getters defines them again for each object. */
class ResolveInfo implements GraphQLResolveInfo {
  readonly fieldName: string;
  readonly fieldNodes: GraphQLResolveInfo['fieldNodes'];
  readonly returnType: GraphQLResolveInfo['returnType'];
  readonly parentType: GraphQLResolveInfo['parentType'];
  readonly schema: GraphQLSchema;
  readonly rootValue: unknown;
  readonly operation: OperationDefinitionNode;
  readonly variableValues: Record<string, unknown>;
  readonly #fragments: Compilation['fragments'];
  readonly #position: ResponsePosition;
  readonly #key: string | number;

  constructor(
    { schema, operation, fragments }: Compilation,
    { name, nodes, returnType, parentType }: FieldInfo,
    run: Run,
    position: ResponsePosition,
    key: string | number,
  ) {
    this.fieldName = name;
    this.fieldNodes = nodes;
    this.returnType = returnType;
    this.parentType = parentType;
    this.schema = schema;
    this.rootValue = run.rootValue;
    this.operation = operation;
    this.variableValues = run.variables as Record<string, unknown>;
    this.#fragments = fragments;
    this.#position = position;
    this.#key = key;
  }

  get path(): GraphQLResolveInfo['path'] {
    let path: GraphQLResolveInfo['path'] | undefined;
    for (const step of pathOf(this.#position, this.#key)) path = { prev: path, key: step, typename: undefined };
    return path as GraphQLResolveInfo['path'];
  }

  get fragments(): GraphQLResolveInfo['fragments'] {
    return Object.fromEntries(this.#fragments);
  }
}
