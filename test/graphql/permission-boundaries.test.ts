import {
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { enumName } from '../../src/api/graphql/enum-name.ts';
import { schema } from '../../src/api/graphql/schema/index.ts';
import { requirementsOf } from '../../src/api/graphql/schema/needs.ts';
import { newId } from '../../src/domain/ids.ts';
import { graphql } from '../support/app.ts';
import { makeManager, makeRole } from '../support/people.ts';
import { keyInput, makeUser, roleInput } from '../support/principals.ts';
import { createSession } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const withRole = async (...permissions: string[]) =>
  (await makeUser(test, { roleId: (await makeRole(test, 'ORGANIZATION', permissions)).roleId })).token;

/** Returns the fields of a type that need permissions, each with its requirements (one permission of each suffices) in order. */
function guardedFields(typeName: string): [GraphQLField<unknown, unknown>, string[][]][] {
  const type = schema.getType(typeName);
  if (!isObjectType(type)) throw new Error(typeName);
  return Object.values(type.getFields()).flatMap((field): [GraphQLField<unknown, unknown>, string[][]][] => {
    const needed = requirementsOf(field.extensions).map(({ anyOf }) => anyOf.map(enumName));
    return needed.length > 0 ? [[field, needed]] : [];
  });
}

const days = { from: '2026-01-01', to: '2026-01-02' };

/** A field with its minimum arguments and selection. */
function ask({ name, args, type }: GraphQLField<unknown, unknown>): string {
  const required = args
    .filter(isRequiredArgument)
    .map((arg) => `${arg.name}: "${days[arg.name as keyof typeof days]}"`);
  const selection = isObjectType(getNamedType(type)) ? ' { __typename }' : '';
  return `${name}${required.length > 0 ? `(${required.join(', ')})` : ''}${selection}`;
}

/** The refused fields with the permission that each error names. */
const refusals = (errors: any[] | undefined, depth: number) =>
  Object.fromEntries((errors ?? []).map(({ path, extensions }) => [path[depth], extensions.permission]));

/** The fields that a viewer with these permissions is refused, with the permissions that the error may name. */
function expected(typeName: string, granted: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    guardedFields(typeName)
      .filter(([, needed]) => needed.some((anyOf) => !anyOf.some((each) => granted.includes(each))))
      .map(([field, needed]) => [field.name, expect.stringMatching(new RegExp(`^(${needed.flat().join('|')})$`))]),
  );
}

describe('the refusal of a field does not affect the rest of', () => {
  it.each([[['USE_SESSIONS']], [['VIEW_ORG_SESSIONS']], [['VIEW_ORG_MEMBERSHIP', 'MANAGE_ORG_AUTOMATIONS']]])(
    'an organization, for a holder of %s',
    async (granted) => {
      const token = await withRole(...granted);
      const fields = guardedFields('Organization').map(([field]) => ask(field));
      const query = `{ organization(id: "${test.organizationId}") { name ${fields.join(' ')} } }`;
      const { data, errors } = await graphql(test, token, query);
      expect(data.organization.name).toEqual(expect.any(String));
      expect(refusals(errors, 1)).toEqual(expected('Organization', granted));
    },
  );

  it.each([[['READ_ACCOUNT_META']], [['READ_ACCOUNT_META', 'VIEW_ACCOUNT_MEMBERSHIP', 'MANAGE_BILLING']]])(
    'the enterprise, for a holder of %s',
    async (granted) => {
      const { token } = await makeManager(test, ...granted);
      const fields = guardedFields('Enterprise').map(([field]) => ask(field));
      const { data, errors } = await graphql(test, token, `{ enterprise { name ${fields.join(' ')} } }`);
      expect(data.enterprise.name).toEqual(expect.any(String));
      expect(refusals(errors, 1)).toEqual(expected('Enterprise', granted));
    },
  );

  it('a session, for a viewer that may act on it but not read it', async () => {
    const token = await withRole('MANAGE_ORG_SESSIONS');
    const sessionId = await createSession(test);
    const fields = guardedFields('Session').map(([field]) => ask(field));
    const query = `mutation { archiveSession(input: {sessionId: "${sessionId}"}) {
      session { isArchived ${fields.join(' ')} } } }`;
    const { data, errors } = await graphql(test, token, query);
    expect(data.archiveSession.session.isArchived).toBe(true);
    expect(refusals(errors, 2)).toEqual(expected('Session', ['MANAGE_ORG_SESSIONS']));
    expect(errors).toHaveLength(fields.length);
  });
});

/** A value that is valid under most rules of single members. */
function sampleOf(type: GraphQLInputType): unknown {
  if (isNonNullType(type)) return sampleOf(type.ofType);
  if (isListType(type)) return [sampleOf(type.ofType)];
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (isInputObjectType(type)) {
    const members = Object.values(type.getFields());
    const isWanted = (member: GraphQLInputField) => isRequiredInputField(member) || member.name === 'organizationId';
    const wanted = type.isOneOf ? members.slice(0, 1) : members.filter(isWanted);
    return Object.fromEntries(
      wanted.map(({ name, type }) => [name, name === 'organizationId' ? test.organizationId : sampleOf(type)]),
    );
  }
  return { ID: newId(), Int: 1, Boolean: true, JSON: {} }[type.name] ?? 'something';
}

const selection = { selection: { filter: { tags: ['none'] } } };

/** Inputs in which the value of a member decides the required permission. */
const inputs: Record<string, (organizationId: string) => object> = {
  createApiKey: (organizationId) => keyInput({ kind: 'SERVICE', organizationId }),
  archiveSessions: (organizationId) => ({ organizationId, ...selection }),
  unarchiveSessions: (organizationId) => ({ organizationId, ...selection }),
  terminateSessions: (organizationId) => ({ organizationId, ...selection }),
  tagSessions: (organizationId) => ({ organizationId, ...selection, tags: ['none'] }),
  assignRole: () => roleInput({ userId: newId(), roleId: 'org_member' }),
  unassignRole: () => roleInput({ userId: newId() }),
};

const mutations = guardedFields('Mutation');
const tokens = new Map<string, string>();

it.each(mutations.map(([field, needed]) => [field.name, needed] as const))(
  '%s is refused without its permissions (%s)',
  async (name, needed) => {
    const role = needed.flat().includes('VIEW_ORG_SESSIONS') ? 'VIEW_ORG_MEMBERSHIP' : 'VIEW_ORG_SESSIONS';
    const token = tokens.get(role) ?? (await withRole(role));
    tokens.set(role, token);
    const type = schema.getType(`${name[0]?.toUpperCase()}${name.slice(1)}Input`) as GraphQLInputType;
    const input = inputs[name]?.(test.organizationId) ?? sampleOf(type);
    const document = `mutation($input: ${name[0]?.toUpperCase()}${name.slice(1)}Input!) {
      ${name}(input: $input) { userErrors { code path message } } }`;
    const { data, errors } = await graphql(test, token, document, { input });
    expect({ data, codes: errors?.map(({ extensions }) => extensions.code) }).toEqual({
      data: { [name]: null },
      codes: ['FORBIDDEN'],
    });
    expect(needed[0]).toContain(errors?.[0].extensions.permission);
  },
);
