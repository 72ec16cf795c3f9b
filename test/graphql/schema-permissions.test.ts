import { type GraphQLField, type GraphQLObjectType, isInterfaceType, isNonNullType, isObjectType } from 'graphql';
import { expect, it } from 'vitest';
import { directivesOf } from '../../src/api/graphql/directives.ts';
import { schema } from '../../src/api/graphql/schema/index.ts';
import { readText } from '../support/tree.ts';

type Field = GraphQLField<unknown, unknown>;

const fieldsOf = (type: GraphQLObjectType): [string, Field][] =>
  Object.values(type.getFields()).map((field) => [`${type.name}.${field.name}`, field]);
const fields = Object.values(schema.getTypeMap())
  .filter((type) => isObjectType(type))
  .flatMap(fieldsOf);
const applied = (field: Field, name: string) => directivesOf(field).filter((directive) => directive.name === name);

it('makes every field nullable that needs a permission which its parent does not imply', () => {
  const guarded = fields.filter(([, field]) => applied(field, 'requiresPermission').length > 0);
  expect(guarded.length).toBeGreaterThan(90);
  // A subscription is refused before it starts: there is no other result to preserve.
  const nonNull = guarded.filter(([name, { type }]) => isNonNullType(type) && !name.startsWith('Subscription.'));
  expect(nonNull.map(([name]) => name)).toEqual([]);
});

it('marks no non-null field, and no field of an interface, as null only on errors', () => {
  const annotated = fields.filter(([, field]) => applied(field, 'semanticNonNull').length > 0);
  expect(annotated.length).toBeGreaterThan(30);
  expect(annotated.filter(([, { type }]) => isNonNullType(type)).map(([name]) => name)).toEqual([]);
  for (const type of Object.values(schema.getTypeMap()).filter(isInterfaceType)) {
    for (const field of Object.values(type.getFields())) expect(directivesOf(field)).toEqual([]);
  }
});

it('ends the description of a field with the permissions that its directives name', () => {
  for (const [name, field] of fields) {
    const requirement = field.description?.match(/ Requires [^.]+\.$/)?.[0] ?? '';
    const named = new Set(requirement.match(/[A-Z]+(?:_[A-Z]+)+/g) ?? []);
    const printed = applied(field, 'requiresPermission').flatMap(({ args }) => [args.permission].flat().map(String));
    expect({ name, named: named.size }).toEqual({ name, named: new Set(printed).size });
  }
});

it('prints the directives', () => {
  const sdl = readText('schema.graphql');
  expect(sdl).toContain('queue: Queue @semanticNonNull @requiresPermission(permission: VIEW_ACCOUNT_METRICS)');
  expect(sdl).toContain(
    '@requiresPermission(permission: [MANAGE_ORG_SESSIONS, MANAGE_ACCOUNT_SESSIONS], exceptOwn: true)',
  );
});
