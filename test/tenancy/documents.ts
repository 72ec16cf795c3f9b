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

/** The committed, printed schema. */
export const schema: GraphQLSchema = buildSchema(readText('schema.graphql'));

/** A step on the path to an object type: a field and the object type that it belongs to. */
export interface Step {
  readonly parent: GraphQLObjectType;
  readonly field: GraphQLField<unknown, unknown>;
}

type Field = GraphQLField<unknown, unknown>;

/** The object types of a type: itself, or the possible types of an interface or a union. */
export function objectsOf(type: GraphQLNamedType): readonly GraphQLObjectType[] {
  if (isAbstractType(type)) return schema.getPossibleTypes(type);
  return isObjectType(type) ? [type] : [];
}

/** The fields of an object type. */
export const fieldsOf = (type: GraphQLObjectType): Field[] => Object.values(type.getFields());

const isLookup = ({ name, args }: Field) =>
  args.length === 1 && /^(?:id|by)$/.test(args[0]?.name ?? '') && !/^(?:session|organization|automation)$/.test(name);

/**
 * The shortest path from Query to every object type. Reads through lists and fields matter most. These are used only if
 * there is no other path, in this order: a field of several types, the viewer's own objects, and `node` and the
 * lookups, which lead everywhere.
 */
export function pathsFromQuery(): Map<GraphQLObjectType, readonly Step[]> {
  const query = schema.getQueryType() as GraphQLObjectType;
  const paths = new Map<GraphQLObjectType, readonly Step[]>([[query, []]]);
  const rankOf = (parent: GraphQLObjectType, field: Field) => {
    if (parent === query && (/^nodes?$/.test(field.name) || isLookup(field))) return 3;
    if (parent === query && field.name === 'viewer') return 2;
    // An automation that acts for its organization, like those of the test world, has no such user.
    if (parent.name === 'AutomationRunAs') return 1;
    // The name of a repository is no id: the list leads to those of the test world.
    if (parent.name === 'Organization' && field.name === 'repository') return 1;
    // No message of the test world is queued, and a queued one has no answer.
    if (field.name === 'queuedMessages') return 1;
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

/** The leaf fields of an object type without required arguments. */
function leavesOf(type: GraphQLObjectType): Field[] {
  return fieldsOf(type).filter((field) => isLeafType(getNamedType(field.type)) && !field.args.some(isRequiredArgument));
}

/** The selection for a type: its name and all its leaf fields, for each possible type. */
export function leafSelection(type: GraphQLNamedType): string {
  if (!isCompositeType(type)) return '';
  const objects = objectsOf(type);
  if (objects.length === 1 && objects[0] === type) return `{ __typename ${names(leavesOf(objects[0]))} }`;
  const counts = new Map<string, Map<string, number>>();
  for (const { name, type: shape } of objects.flatMap(leavesOf)) {
    const ofName = counts.get(name) ?? new Map<string, number>();
    counts.set(name, ofName.set(String(shape), (ofName.get(String(shape)) ?? 0) + 1));
  }
  const commonest = (name: string) => [...(counts.get(name) ?? [])].sort(([, a], [, b]) => b - a)[0]?.[0];
  const parts = objects.map((object) => {
    const fields = leavesOf(object).map(({ name, type: shape }) =>
      // One selection cannot have the same response name with two types, nor more than 60 aliases.
      String(shape) !== commonest(name) ? `${object.name}_${name}: ${name}` : name,
    );
    return `... on ${object.name} { ${fields.join(' ')} }`;
  });
  return `{ __typename ${parts.join(' ')} }`;
}

/** Like {@link leafSelection}, and for a page also the leaf fields of its items. */
export function selectionOf(type: GraphQLNamedType): string {
  const fields = isObjectType(type) ? type.getFields() : {};
  // The result of one item of a bulk mutation.
  if (fields.userErrors) return payloadSelection(type);
  if (!fields.nodes || !fields.edges) return leafSelection(type);
  const inner = ['nodes', 'edges', 'pageInfo'].flatMap((name) => (fields[name] ? [fields[name]] : []));
  const leaves = names(leavesOf(type as GraphQLObjectType));
  const parts = inner.map((field) => `${field.name} ${leafSelection(getNamedType(field.type))}`);
  return `{ __typename ${leaves} ${parts.join(' ')} }`;
}

const names = (fields: readonly Field[]) => fields.map(({ name }) => name).join(' ');

/** The selection for a payload: its leaf fields, and those of its objects. */
export function payloadSelection(type: GraphQLNamedType): string {
  if (!isObjectType(type)) return leafSelection(type);
  const inner = fieldsOf(type)
    .filter((field) => !field.args.some(isRequiredArgument) && isCompositeType(getNamedType(field.type)))
    .map((field) => `${field.name} ${selectionOf(getNamedType(field.type))}`);
  return `{ __typename ${names(leavesOf(type))} ${inner.join(' ')} }`;
}

/**
 * The fields that a response contains, as `Type.field`. It uses `__typename`, so every selection must include that. A
 * field whose value is an error does not count.
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
