import { buildSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { readInputs } from './inputs.ts';
import { restOperations } from './rest-operations.ts';
import { attribute, tellingStrings } from './rows.ts';

const argumentsOf = (sdl: string) => {
  const field = buildSchema(sdl).getQueryType()?.getFields().thing;
  return readInputs(field?.args ?? [], 'thing');
};

describe('a new input without a rule fails with the rule to add', () => {
  it('an id argument with an unknown name', () => {
    expect(() => argumentsOf('type Query { thing(galaxyId: ID!): Int }')).toThrow(
      'No rule says what "galaxyId" of thing is the id of: add its word to test/tenancy/slots.ts',
    );
  });

  it('a text argument with the name of an id', () => {
    expect(() => argumentsOf('type Query { thing(galaxyIds: [String!]): Int }')).toThrow('"galaxyIds" of thing');
  });

  it('an argument of an unknown scalar, also inside an input', () => {
    const sdl = 'scalar Color input Paint { color: Color } type Query { thing(paint: Paint): Int }';
    expect(() => argumentsOf(sdl)).toThrow(
      'No rule says what to give for "paint.color" of thing, of the type Color: add one to `plain` in test/tenancy/inputs.ts.',
    );
  });

  it.each([
    ['path', '/v3/galaxies/{galaxy}', 'galaxy'],
    ['path', '/v3/galaxies/{galaxy_id}', 'galaxy_id'],
    ['query', '/v3/galaxies', 'galaxy_id'],
    ['query', '/v3/galaxies', 'brightness'],
  ] as const)('a parameter in the %s of %s: %s', (location, path, name) => {
    const parameters = [{ name, in: location, schema: { type: 'string' } }];
    expect(() => restOperations({ paths: { [path]: { get: { parameters } } } })).toThrow(`"${name}" of `);
  });

  it('a body that is neither JSON nor a form', () => {
    const requestBody = { content: { 'text/csv': { schema: {} } } };
    expect(() => restOperations({ paths: { '/v3/files': { post: { requestBody } } } })).toThrow(
      'No rule says how POST /v3/files is sent: its body is text/csv.',
    );
  });

  it('a table whose rows do not name their tenant', () => {
    const rows = new Map([['galaxy', [{ id: 'm31' }]]]);
    const tenantOf = attribute(rows, { organizations: new Map(), enterprises: new Map() });
    expect(() => tenantOf('galaxy', { id: 'm31' })).toThrow('A row of "galaxy" does not say whose it is');
  });
});

describe('text that belongs to one tenant is found', () => {
  const id = '0190d5c2a7b87c1e9f00112233445566';
  it.each([
    ['bare', `{"id":"${id}"}`, id],
    ['with a prefix', `/v3/organizations/org-${id}/sessions`, id],
    ['as a UUID', '{"role_id":"0190d5c2-a7b8-7c1e-9f00-112233445566"}', id],
    ['in a global id', Buffer.from(`Session:${id}`).toString('base64'), id],
    ['in a cursor', Buffer.from(`log|${id}|7`).toString('base64url'), id],
    ['in capitals', 'CANARY-X-TITLE-7', 'canary-x-title-7'],
    ['in a text', 'Members of canary-x-organization-2, all', 'canary-x-organization-2'],
    ['as the part of a key that is shown', 'cog_x017…', 'cog_x017…'],
  ])('%s', (_where, text, found) => {
    expect([...tellingStrings(text)]).toContain(found);
  });
});
