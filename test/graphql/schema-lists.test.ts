import { isEnumType, isInputObjectType, isObjectType } from 'graphql';
import { expect, it } from 'vitest';
import { schema } from '../../src/api/graphql/schema/index.ts';

const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
const objects = types.filter(isObjectType);

/** Lists without a filter and with a single order, each with its reason. */
const plainLists: Readonly<Record<string, string>> = {
  'Session.messages': 'A log has one order, that of its numbers.',
  'Session.events': 'A log has one order, that of its numbers; kinds narrow it as they do its subscription.',
  'Enterprise.acuLimits': 'The limits of organizations, which can be narrowed and ordered themselves.',
  'Enterprise.legacyCalls': 'A report on what is to be moved: the last call comes first.',
  'Organization.legacyCalls': 'As that of the enterprise.',
  'Consumption.sessions': 'Sums of what the arguments of the consumption leave.',
  'Consumption.actors': 'As Consumption.sessions.',
  'Consumption.organizations': 'As Consumption.sessions.',
  'Consumption.playbooks': 'As Consumption.sessions.',
  'RepositoryChanges.files': 'The files of a stored comparison, in the order of git; a filter narrows them.',
  'Session.search': 'A log has one order, that of its numbers; the query narrows it.',
  'Organization.sessionSearch':
    'Sessions that a query finds: the last change comes first, and their own filter narrows them.',
  'Session.files': 'A directory, in the order in which people read one.',
};

/** The arguments that narrow plain lists. */
const narrowed: Readonly<Record<string, readonly string[]>> = {
  'Session.events': ['kinds'],
  'RepositoryChanges.files': ['filter'],
  'Session.search': ['query'],
  'Organization.sessionSearch': ['filter', 'query'],
  'Session.files': ['checkpointId', 'path'],
};

it('filters and orders every list by "filter: XFilter" and "orderBy: XOrder" only', () => {
  const plain = new Set<string>();
  for (const type of objects) {
    for (const field of Object.values(type.getFields())) {
      const name = field.type.toString().replaceAll(/[[\]!]/g, '');
      // `GitConnection` is a resource.
      if (!name.endsWith('Connection') || name === 'GitConnection') continue;
      const path = `${type.name}.${field.name}`;
      const item = name.replace(/(?:Entry)?Connection$/, '');
      const args = Object.fromEntries(field.args.map((argument) => [argument.name, argument.type.toString()]));
      const { first: _first, after: _after, last: _last, before: _before, ...others } = args;
      if (path in plainLists) {
        plain.add(path);
        expect(Object.keys(others), path).toEqual(narrowed[path] ?? []);
        continue;
      }
      expect(others, path).toEqual({ filter: `${item}Filter`, orderBy: `${item}Order` });
    }
  }
  expect([...plain].sort()).toEqual(Object.keys(plainLists).sort());
});

it('makes every member of a filter optional, and gives every order a field and a direction', () => {
  const inputs = types.filter(isInputObjectType);
  const filters = inputs.filter(({ name }) => name.endsWith('Filter'));
  expect(filters.length).toBeGreaterThan(15);
  for (const filter of filters) {
    for (const member of Object.values(filter.getFields())) {
      const path = `${filter.name}.${member.name}`;
      expect(member.type.toString(), path).not.toMatch(/!$/);
      expect(member.defaultValue, path).toBeUndefined();
      if (/(?:After|Before)$/.test(member.name)) expect(member.type.toString(), path).toBe('DateTime');
      if (/Ids$|^ids$/.test(member.name)) expect(member.type.toString(), path).toBe('[ID!]');
    }
  }
  for (const type of inputs.filter(({ name }) => name.endsWith('Order'))) {
    const shape = Object.fromEntries(Object.values(type.getFields()).map((field) => [field.name, String(field.type)]));
    expect(shape, type.name).toEqual({ field: `${type.name}Field!`, direction: 'OrderDirection!' });
    const fields = schema.getType(`${type.name}Field`);
    expect(isEnumType(fields) && fields.getValues().map(({ name }) => name)).toContain('CREATED_AT');
  }
});
