import {
  buildSchema,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import { readText } from '../support/tree.ts';

/** The schema as it is printed and committed. */
export const schema: GraphQLSchema = buildSchema(readText('schema.graphql'));

/** How an object type is reached: the fields from the top, each with the object type that it is a field of. */
export interface Step {
  readonly parent: GraphQLObjectType;
  readonly field: GraphQLField<unknown, unknown>;
}

type Field = GraphQLField<unknown, unknown>;

/** The object types behind a type: itself, or what an interface or a union can be. */
export function objectsOf(type: GraphQLNamedType): readonly GraphQLObjectType[] {
  if (isAbstractType(type)) return schema.getPossibleTypes(type);
  return isObjectType(type) ? [type] : [];
}

/** The fields of an object type. */
export const fieldsOf = (type: GraphQLObjectType): Field[] => Object.values(type.getFields());

const isLookup = ({ name, args }: Field) =>
  args.length === 1 && /^(?:id|by)$/.test(args[0]?.name ?? '') && !/^(?:session|organization|automation)$/.test(name);

/**
 * The shortest way from Query to every object type. What has to be right is what is read through lists and fields: a field
 * that may be of several types, the viewer's own things, and `node` and the lookups of what lists have too, which lead
 * everywhere, are ways only where nothing else is, in this order.
 */
export function pathsFromQuery(): Map<GraphQLObjectType, readonly Step[]> {
  const query = schema.getQueryType() as GraphQLObjectType;
  const paths = new Map<GraphQLObjectType, readonly Step[]>([[query, []]]);
  const rankOf = (parent: GraphQLObjectType, field: Field) => {
    if (parent === query && (/^nodes?$/.test(field.name) || isLookup(field))) return 3;
    if (parent === query && field.name === 'viewer') return 2;
    // Nobody is there where an automation acts for its organization, as those of the world do.
    if (parent.name === 'AutomationRunAs') return 1;
    return isAbstractType(getNamedType(field.type)) ? 1 : 0;
  };
  for (const allowed of [0, 1, 2, 3]) {
    const queue = [...paths.keys()];
    for (let parent = queue.shift(); parent; parent = queue.shift()) {
      const path = paths.get(parent) as readonly Step[];
      for (const field of fieldsOf(parent)) {
        if (rankOf(parent, field) > allowed) continue;
        for (const type of objectsOf(getNamedType(field.type))) {
          if (paths.has(type)) continue;
          paths.set(type, [...path, { parent, field }]);
          queue.push(type);
        }
      }
    }
  }
  return paths;
}

/** The leaves of an object type that can be had without arguments. */
function leavesOf(type: GraphQLObjectType): Field[] {
  return fieldsOf(type).filter((field) => isLeafType(getNamedType(field.type)) && !field.args.some(isRequiredArgument));
}

/** What is asked of a type: its name and all its leaves, of each type that it can be. */
export function leafSelection(type: GraphQLNamedType): string {
  if (!isCompositeType(type)) return '';
  const objects = objectsOf(type);
  if (objects.length === 1 && objects[0] === type) return `{ __typename ${names(leavesOf(objects[0]))} }`;
  const shapes = new Map<string, Set<string>>();
  for (const field of objects.flatMap(leavesOf)) {
    shapes.set(field.name, (shapes.get(field.name) ?? new Set()).add(String(field.type)));
  }
  const parts = objects.map((object) => {
    const fields = leavesOf(object).map(({ name }) =>
      // One selection cannot have the same name with two types.
      (shapes.get(name)?.size ?? 0) > 1 ? `${object.name}_${name}: ${name}` : name,
    );
    return `... on ${object.name} { ${fields.join(' ')} }`;
  });
  return `{ __typename ${parts.join(' ')} }`;
}

/** Like {@link leafSelection}, and for a page the leaves of what is on it. */
export function selectionOf(type: GraphQLNamedType): string {
  const fields = isObjectType(type) ? type.getFields() : {};
  // One of several that an act was for.
  if (fields.userErrors) return payloadSelection(type);
  if (!fields.nodes || !fields.edges) return leafSelection(type);
  const inner = ['nodes', 'edges', 'pageInfo'].flatMap((name) => (fields[name] ? [fields[name]] : []));
  const leaves = names(leavesOf(type as GraphQLObjectType));
  const parts = inner.map((field) => `${field.name} ${leafSelection(getNamedType(field.type))}`);
  return `{ __typename ${leaves} ${parts.join(' ')} }`;
}

const names = (fields: readonly Field[]) => fields.map(({ name }) => name).join(' ');

/** What is asked of a payload: its leaves, and the leaves of what is in it. */
export function payloadSelection(type: GraphQLNamedType): string {
  if (!isObjectType(type)) return leafSelection(type);
  const inner = fieldsOf(type)
    .filter((field) => !field.args.some(isRequiredArgument) && isCompositeType(getNamedType(field.type)))
    .map((field) => `${field.name} ${selectionOf(getNamedType(field.type))}`);
  return `{ __typename ${names(leavesOf(type))} ${inner.join(' ')} }`;
}

/**
 * Which fields of which types an answer really has, as `Type.field`. It goes by `__typename`, so every selection must ask
 * for that; a field whose value is an error is not counted.
 */
export function fieldsIn(data: unknown, errors: readonly { path?: readonly (string | number)[] }[] = []): Set<string> {
  const failed = new Set(errors.map(({ path = [] }) => path.join('.')));
  const found = new Set<string>();
  const visit = (value: unknown, path: string) => {
    if (Array.isArray(value)) for (const [n, item] of value.entries()) visit(item, `${path}.${n}`);
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return;
    const { __typename: type } = value as { __typename?: string };
    for (const [key, inner] of Object.entries(value)) {
      const here = path === '' ? key : `${path}.${key}`;
      if (type !== undefined && key !== '__typename' && !failed.has(here)) {
        found.add(`${type}.${key.startsWith(`${type}_`) ? key.slice(type.length + 1) : key}`);
      }
      visit(inner, here);
    }
  };
  visit(data, '');
  return found;
}

/** Every field of every object type that can be reached, as `Type.field`. */
export function allFields(types: Iterable<GraphQLObjectType>): string[] {
  return [...types].flatMap((type) => fieldsOf(type).map((field) => `${type.name}.${field.name}`));
}
