import {
  type GraphQLAbstractType,
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLSchema,
  isObjectType,
} from 'graphql';

/** The runtime type that a value of an interface or a union reported; an error if it is none of the possible types. */
export function findRuntimeType(
  schema: GraphQLSchema,
  type: GraphQLAbstractType,
  name: unknown,
): GraphQLObjectType | GraphQLError {
  if (typeof name !== 'string') {
    return new GraphQLError(`Abstract type "${type.name}" must resolve to an Object type, but a value said none.`);
  }
  const found = schema.getType(name);
  if (!isObjectType(found)) {
    const what = found ? `a non-object type "${name}"` : `a type "${name}" that does not exist inside the schema`;
    return new GraphQLError(`Abstract type "${type.name}" was resolved to ${what}.`);
  }
  if (!schema.isSubType(type, found)) {
    return new GraphQLError(`Runtime Object type "${name}" is not a possible type for "${type.name}".`);
  }
  return found;
}
