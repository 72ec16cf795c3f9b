import { diff } from '@graphql-inspector/core';
import { buildSchema, type GraphQLSchema, isEnumType, isInputObjectType, isInterfaceType, isObjectType } from 'graphql';

/** The form of a deprecation: what to use instead, and the day after which the member may be removed. */
const deprecationForm = /^Use .+\. Removed after (\d{4}-\d{2}-\d{2})\.$/;

interface Deprecated {
  /** The coordinate in the form that changes use: `Session.title`, `Query.session.id` for an argument, `SessionStatus.NEW` for a value. */
  readonly path: string;
  readonly reason: string;
}

/** Returns all deprecations in a schema. */
function deprecations(schema: GraphQLSchema): Deprecated[] {
  return Object.values(schema.getTypeMap()).flatMap((type): Deprecated[] => {
    if (type.name.startsWith('__')) return [];
    const entries: [string, string | null | undefined][] = [];
    if (isEnumType(type))
      for (const { name, deprecationReason } of type.getValues()) entries.push([name, deprecationReason]);
    if (isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)) {
      for (const field of Object.values(type.getFields())) {
        entries.push([field.name, field.deprecationReason]);
        const args = 'args' in field ? field.args : [];
        for (const { name, deprecationReason } of args) entries.push([`${field.name}.${name}`, deprecationReason]);
      }
    }
    return entries.flatMap(([name, reason]) => (reason == null ? [] : [{ path: `${type.name}.${name}`, reason }]));
  });
}

/** Returns the deprecations that do not state the replacement and the day of removal. */
export function badDeprecations(sdl: string): string[] {
  return deprecations(buildSchema(sdl))
    .filter(({ reason }) => !deprecationForm.test(reason))
    .map(({ path, reason }) => `${path}: "${reason}" must read "Use …. Removed after YYYY-MM-DD."`);
}

/** Returns the deprecations whose reason names no member of the schema as a replacement, or a deprecated one. */
export function danglingDeprecations(sdl: string): string[] {
  const schema = buildSchema(sdl);
  const all = deprecations(schema);
  const isUsable = (name: string) => {
    const [typeName = '', field = ''] = name.split('.');
    const type = schema.getType(typeName);
    const fields = isObjectType(type) || isInterfaceType(type) || isInputObjectType(type) ? type.getFields() : {};
    const values = isEnumType(type) ? type.getValues().map((value) => value.name) : [];
    return (field in fields || values.includes(field)) && !all.some(({ path }) => path === name);
  };
  return all
    .filter(({ reason }) => {
      const named = reason.match(/[A-Z]\w*\.\w+/g) ?? [];
      return named.length === 0 || !named.every(isUsable);
    })
    .map(({ path, reason }) => `${path}: "${reason}"`);
}

/**
 * Returns the changes that break clients of the released schema, except removals that the release announced for
 * `today`, a date as YYYY-MM-DD, or before.
 */
export async function breakingChanges(released: string, current: string, today: string): Promise<string[]> {
  const before = buildSchema(released);
  const isOver = new Set(
    deprecations(before)
      .filter(({ reason }) => (deprecationForm.exec(reason)?.[1] ?? '9999') < today)
      .map(({ path }) => path),
  );
  const changes = await diff(before, buildSchema(current));
  return changes
    .filter(({ criticality, path }) => criticality.level === 'BREAKING' && !isOver.has(path ?? ''))
    .map(({ message }) => message);
}
