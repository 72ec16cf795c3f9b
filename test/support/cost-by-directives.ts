import {
  type ConstDirectiveNode,
  type FieldDefinitionNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql';

/** The names of the introspection lists, as @cost describes them. */
const introspectionLists = /^(?:types|directives|fields|args|inputFields|interfaces|enumValues|possibleTypes)$/;

/**
 * The points of an operation as a client would count them, only from the directives of the printed schema, without the
 * service's own rules.
 */
export function costByDirectives(
  schema: GraphQLSchema,
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
): number {
  const { definitions } = parse(query);
  const operation = definitions.find(
    (each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION,
  );
  if (!operation) throw new Error('The document has no operation.');
  const variableValues: Record<string, unknown> = { ...variables };
  for (const { variable, defaultValue } of operation.variableDefinitions ?? []) {
    const { value: name } = variable.name;
    if (variableValues[name] === undefined && defaultValue) variableValues[name] = valueFromASTUntyped(defaultValue);
  }
  const fragments = new Map(
    definitions.flatMap((each): [string, FragmentDefinitionNode][] =>
      each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each]] : [],
    ),
  );

  const ofSet = (
    set: SelectionSetNode,
    type: GraphQLNamedType | undefined,
    timesOf: (name: string) => number = () => 1,
  ): number => {
    let points = 0;
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        points += timesOf(selection.name.value) * ofField(selection, type);
        continue;
      }
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
      if (!fragment) continue;
      const condition = fragment.typeCondition ? schema.getType(fragment.typeCondition.name.value) : type;
      points += ofSet(fragment.selectionSet, condition, timesOf);
    }
    return points;
  };

  const ofField = (field: FieldNode, type: GraphQLNamedType | undefined): number => {
    const { value: name } = field.name;
    if (name === '__schema' || name === '__type') return field.selectionSet ? ofIntrospection(field.selectionSet) : 0;
    const definition = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
    if (!definition?.astNode) return 0;
    const own = Number(directiveOf(schema, definition.astNode, 'cost')?.complexity ?? 0);
    const list = directiveOf(schema, definition.astNode, 'listSize');
    const size = list ? sizeOf(field, list) : 1;
    const sized = (list?.sizedFields ?? null) as readonly string[] | null;
    const timesOf = (below: string) => (sized === null || sized.includes(below) ? size : 1);
    const within = field.selectionSet ? ofSet(field.selectionSet, getNamedType(definition.type), timesOf) : 0;
    return own + within + (list ? size * Number(list.itemComplexity) : 0);
  };

  const ofIntrospection = (set: SelectionSetNode): number =>
    set.selections.reduce((points, selection) => {
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
      const inner = fragment?.selectionSet ? ofIntrospection(fragment.selectionSet) : 0;
      const isList = selection.kind === Kind.FIELD && introspectionLists.test(selection.name.value);
      return points + inner + (isList ? 5 : 0);
    }, 0);

  const sizeOf = (field: FieldNode, list: Readonly<Record<string, unknown>>): number => {
    const args = Object.fromEntries(
      (field.arguments ?? []).map((argument) => [
        argument.name.value,
        valueFromASTUntyped(argument.value, variableValues),
      ]),
    );
    const maxSize = (list.maximumSize ?? Number.POSITIVE_INFINITY) as number;
    for (const path of list.slicingArguments as string[]) {
      const value = path.split('.').reduce<unknown>((of, name) => (of as Record<string, unknown> | null)?.[name], args);
      if (value == null || (Array.isArray(value) && value.length === 0)) continue;
      const size = Array.isArray(value) ? value.length : Number(value);
      return size > 0 ? Math.min(size, maxSize) : maxSize;
    }
    return Number(list.assumedSize);
  };

  const root = schema.getRootType(operation.operation);
  return Math.max(1, ofSet(operation.selectionSet, root ?? undefined));
}

/** Returns the arguments of a field's directive, with the defaults of its definition; null if the field does not have it. */
function directiveOf(
  schema: GraphQLSchema,
  { directives }: FieldDefinitionNode,
  name: string,
): Readonly<Record<string, unknown>> | null {
  const applied = directives?.find((each: ConstDirectiveNode) => each.name.value === name);
  if (!applied) return null;
  const defaults = schema.getDirective(name)?.args.map((argument) => [argument.name, argument.defaultValue]);
  const specified = applied.arguments?.map(({ name: { value }, value: node }) => [value, valueFromASTUntyped(node)]);
  return { ...Object.fromEntries(defaults ?? []), ...Object.fromEntries(specified ?? []) };
}
