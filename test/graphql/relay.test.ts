import { type GraphQLObjectType, getNamedType, isInterfaceType, isObjectType } from 'graphql';
import { expect, it } from 'vitest';
import { schema } from '../../src/api/graphql/schema/index.ts';

// The rules of Relay's connection specification for a schema (relay-arguments, relay-connection-types, relay-edge-types
// and relay-page-info of @graphql-eslint), without the 250 packages of its linter. test/clients has Relay itself.

const objects = Object.values(schema.getTypeMap()).filter(isObjectType);
const ending = (suffix: string) => objects.filter(({ name }) => name.endsWith(suffix));
// By its shape, since a resource may be a connection too: GitConnection.
const isRelayConnection = (type: unknown): type is GraphQLObjectType =>
  isObjectType(type) && 'edges' in type.getFields() && 'pageInfo' in type.getFields();
/** Resources whose name is that of a connection, but which are no lists. */
const resources = ['GitConnection'];
const typesOf = (type: GraphQLObjectType) =>
  Object.fromEntries(Object.values(type.getFields()).map(({ name, type: its }) => [name, String(its)]));

it('gives every connection the arguments of a page', () => {
  const fields = objects.flatMap((type) =>
    Object.values(type.getFields())
      .filter((field) => isRelayConnection(getNamedType(field.type)))
      .map((field) => [`${type.name}.${field.name}`, field] as const),
  );
  expect(fields.length).toBeGreaterThan(40);
  for (const [name, { args }] of fields) {
    const types = Object.fromEntries(args.map(({ name: argument, type }) => [argument, String(type)]));
    expect(types, name).toMatchObject({ first: 'Int', after: 'String', last: 'Int', before: 'String' });
  }
});

it('gives every connection edges and a page', () => {
  const connections = objects.filter(isRelayConnection);
  expect(connections.length).toBeGreaterThan(20);
  const others = ending('Connection').filter((type) => !isRelayConnection(type));
  expect(others.map(String)).toEqual(resources);
  for (const type of connections) {
    expect(type.name).toMatch(/Connection$/);
    const edge = type.name.replace(/Connection$/, 'Edge');
    expect(typesOf(type), type.name).toMatchObject({ edges: `[${edge}!]!`, pageInfo: 'PageInfo!' });
  }
  // No other type has a name that clients take for a connection.
  const named = Object.values(schema.getTypeMap()).filter(({ name }) => /(?:Connection|Edge)$/.test(name));
  expect(named.filter((type) => !isObjectType(type))).toEqual([]);
});

/** List items without an id of their own: numbers of a period, facts about a pair of objects, and matches of a search. */
const withoutId = [
  'ActorConsumption',
  'AcuLimit',
  'ChangedFile',
  'LegacyCall',
  'OrganizationConsumption',
  'PlaybookConsumption',
  'RoleAssignment',
  'SessionConsumption',
  'SessionFile',
  'SessionSearchResult',
  'TranscriptMatch',
];

it('gives edges a cursor and a node that can be refetched', () => {
  const items = ending('Edge').map((type) => {
    expect(typesOf(type), type.name).toMatchObject({ cursor: 'String!', node: `${type.name.replace(/Edge$/, '')}!` });
    return getNamedType(type.getFields().node?.type);
  });
  const others = items.filter(
    (item) =>
      !((isObjectType(item) || isInterfaceType(item)) && item.getInterfaces().some(({ name }) => name === 'Node')),
  );
  expect(others.map(String).sort()).toEqual(withoutId);
});

it('reports the start and the end of a page', () => {
  const [type] = ending('PageInfo');
  expect(type && typesOf(type)).toEqual({
    endCursor: 'String',
    hasNextPage: 'Boolean!',
    hasPreviousPage: 'Boolean!',
    startCursor: 'String',
  });
});
