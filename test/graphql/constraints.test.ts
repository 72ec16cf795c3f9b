import {
  buildSchema,
  type ConstDirectiveNode,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  valueFromASTUntyped,
} from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { inputsWithRules } from '../../src/api/graphql/input-limits.ts';
import { graphql } from '../support/app.ts';
import { automation, type InputLocation, nestedInputs } from '../support/input-locations.ts';
import { runMutation } from '../support/people.ts';
import { keyInput, makeUser } from '../support/principals.ts';
import { seedQuestion } from '../support/questions.ts';
import { makeUsableRepository } from '../support/repositories.ts';
import { saveCheckpoint } from '../support/session-checkpoints.ts';
import { createSession } from '../support/sessions.ts';
import { readText } from '../support/tree.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
const gitea = { providerType: 'GITEA_TOKEN', host: 'gitea.example', token: 'c4n4ry' };
/** Ids of objects that the administrator may change, by member name. */
let ids: Readonly<Record<string, string>>;
beforeAll(async () => {
  const make = async (field: string, made: string, input: object = {}): Promise<any> => {
    const payload = await runMutation(test, field, made, { ...required(field), ...input });
    if (payload.userErrors?.length !== 0) throw new Error(`${field}: ${JSON.stringify(payload)}`);
    return Object.values(payload)[0];
  };
  ids = { organizationId: test.organizationId };
  const sessionId = await createSession(test);
  await seedQuestion(test, sessionId, 'question', 'Which colour?');
  const { data } = await graphql(
    test,
    test.adminToken,
    'query($id: ID!) { session(id: $id) { pendingQuestion { questionId } } }',
    { id: sessionId },
  );
  const { questionId } = data.session.pendingQuestion;
  await saveCheckpoint(test, sessionId);
  ids = { ...ids, sessionId, questionId, userId: (await makeUser(test)).userId };
  ids = {
    ...ids,
    automationId: (await make('createAutomation', 'automation { id }', automation())).id,
    knowledgeFolderId: (await make('createKnowledgeFolder', 'knowledgeFolder { id }')).id,
    knowledgeNoteId: (await make('createKnowledgeNote', 'knowledgeNote { id }')).id,
    playbookId: (await make('createPlaybook', 'playbook { id }')).id,
    secretId: (await make('createSecret', 'secret { id }')).id,
    roleId: (await make('createRole', 'role { id }')).id,
    serviceUserId: (await make('createServiceUser', 'serviceUser { id }', { roleId: 'org_member' })).id,
    webhookEndpointId: (await make('createWebhookEndpoint', 'webhookEndpoint { id }')).id,
    providerKeyId: (await make('createProviderKey', 'providerKey { id }', { key: 'c4n4ry' })).id,
    gitConnectionId: (await make('createGitConnection', 'gitConnection { id }', gitea)).id,
    snapshotId: (await make('createSnapshot', 'snapshot { id }')).id,
    repositoryId: await makeUsableRepository(test, test.organizationId),
  };
});

const printed = buildSchema(readText('schema.graphql'));

type Limits = Readonly<Record<string, number | string>>;
type Member = GraphQLInputField | GraphQLArgument;

/** The @constraint of a member in schema.graphql; null: none. */
function limitsOf({ astNode }: Member): Limits | null {
  const applied = astNode?.directives?.find((each: ConstDirectiveNode) => each.name.value === 'constraint');
  if (!applied) return null;
  return Object.fromEntries(
    applied.arguments?.map(({ name, value }) => [name.value, valueFromASTUntyped(value) as number | string]) ?? [],
  );
}

const mutationType = (field: string) => {
  const type = getNamedType(printed.getMutationType()?.getFields()[field]?.args[0]?.type);
  if (!isInputObjectType(type)) throw new Error(`There is no mutation ${field}.`);
  return type;
};

/** Valid values for members that do not accept every text. */
const good: Readonly<Record<string, unknown>> = {
  url: 'https://hooks.example/x',
  email: 'somebody@example.test',
  emails: ['somebody@example.test'],
  permissions: ['VIEW_ORG_SESSIONS'],
  type: 'KEY_VALUE',
  key: 'SOME_KEY',
  eventTypes: ['SESSION_MESSAGE'],
};

function sample({ name, type }: Member): unknown {
  return ids[name] ?? good[name] ?? ofType(type);
}

function ofType(type: GraphQLInputType): unknown {
  if (isNonNullType(type)) return ofType(type.ofType);
  if (isListType(type)) return [ofType(type.ofType)];
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (isInputObjectType(type)) {
    if (type.name === 'ScopeInput') return { organizationId: test.organizationId };
    const members = Object.values(type.getFields());
    const wanted = type.isOneOf ? members.slice(0, 1) : members.filter(isRequiredInputField);
    return Object.fromEntries(wanted.map((each) => [each.name, sample(each)]));
  }
  return { ID: 'none', Int: 1, Float: 1, Boolean: true, JSON: {} }[type.name] ?? 'something';
}

/** The required members of a mutation, with valid values. */
function required(field: string): Record<string, unknown> {
  const members = Object.values(mutationType(field).getFields());
  const wanted = members.filter((member) => isRequiredInputField(member) || member.name === 'organizationId');
  return Object.fromEntries(wanted.map((member) => [member.name, sample(member)]));
}

function locationOf(typeName: string): InputLocation {
  const found = nestedInputs[typeName];
  if (found) return found;
  const mutation = `${typeName[0]?.toLowerCase()}${typeName.slice(1).replace(/Input$/, '')}`;
  const inputs: Readonly<Record<string, (members: object) => object>> = {
    createAutomation: automation,
    createApiKey: (members) => ({ ...keyInput({ kind: 'PERSONAL_ACCESS_TOKEN', userId: ids.userId }), ...members }),
    // `first` is for a filter alone.
    tagSessions: (members) => ({ selection: { filter: { tags: ['none'] } }, ...members }),
  };
  return { mutation, path: [], input: inputs[mutation] ?? ((members) => members) };
}

/** Values that violate one limit each, and no limit that is checked before. */
function beyond(member: Member, limits: Limits): [limit: string, value: unknown][] {
  const isList = isListType(getNullableType(member.type));
  const one = (value: unknown) => (isList ? [value] : value);
  const { maxLength, minLength, min, max, minItems, maxItems, pattern } = limits as Record<string, number>;
  const text = (length: number) =>
    member.name === 'macro'
      ? `!${'x'.repeat(length - 1)}`
      : member.name.startsWith('email')
        ? `a@${'b'.repeat(length - 5)}.de`
        : 'x'.repeat(length);
  const found: [string, unknown][] = [];
  if (maxLength !== undefined) found.push(['maxLength', one(text(maxLength + 1))]);
  if (minLength !== undefined) found.push(['minLength', one('')]);
  if (pattern !== undefined) found.push(['pattern', 'ä']);
  if (min !== undefined) found.push(['min', min - 1]);
  if (max !== undefined && max < 2_147_483_647) found.push(['max', max + 1]);
  if (minItems !== undefined) found.push(['minItems', []]);
  if (maxItems !== undefined) {
    const item = (sample(member) as unknown[])[0];
    const items = Array.from({ length: maxItems + 1 }, (_, n) =>
      typeof item === 'string' && item !== 'none' && !isEnumType(getNamedType(member.type))
        ? item.replace(/^something$/, `something${n}`)
        : item,
    );
    found.push(['maxItems', items]);
  }
  return found;
}

const cases = inputsWithRules
  .filter((name) => !name.endsWith('Filter'))
  .flatMap((name) => {
    const type = printed.getType(name);
    if (!isInputObjectType(type)) throw new Error(`There is no input type ${name}.`);
    return Object.values(type.getFields()).flatMap((member) => {
      const limits = limitsOf(member);
      return limits ? Object.keys(limits).map((limit) => [`${name}.${member.name}`, limit, name, member] as const) : [];
    });
  });

describe('@constraint of inputs', () => {
  it('limits every input type with rules, and every limit has an effect', () => {
    expect(cases.length).toBeGreaterThan(120);
    const named = new Set(cases.map(([, , name]) => name));
    expect(inputsWithRules.filter((name) => !named.has(name) && !name.endsWith('Filter'))).toEqual([]);
  });

  it('limits every text of an input that is stored', () => {
    // Looked up or parsed: an invalid text of any length is refused or finds nothing.
    const compared = [
      ...['agent', 'defaultAgent', 'defaultTag', 'optionId', 'timeZone'],
      ...['rule', 'ipRanges', 'after', 'clientMutationId', 'workerId', 'userCode'],
      ...[
        'FolderPathInput.path',
        'MacroInput.macro',
        'RoleNameInput.name',
        'SecretKeyInput.key',
        'SnapshotNameInput.name',
      ],
      ...['MemberFilter.email', 'UserFilter.email', 'UserLookupInput.email'],
    ];
    const open = Object.values(printed.getTypeMap()).flatMap((type) => {
      if (!isInputObjectType(type)) return [];
      return Object.values(type.getFields())
        .filter((member) => ['String', 'URI'].includes(getNamedType(member.type).name))
        .filter((member) => limitsOf(member)?.maxLength === undefined && limitsOf(member)?.maxItems === undefined)
        .filter(({ name }) => !compared.includes(name) && !compared.includes(`${type.name}.${name}`))
        .map(({ name }) => `${type.name}.${name}`);
    });
    expect(open).toEqual([]);
  });

  it.each(cases)('is enforced by the service: %s, %s', async (_what, limit, typeName, member) => {
    const limits = limitsOf(member) ?? {};
    const [, value] = beyond(member, limits).find(([name]) => name === limit) ?? [];
    // The largest Int is the bound itself.
    if (limit === 'max' && limits.max === 2_147_483_647) return;
    const { mutation, input, path } = locationOf(typeName);
    const type = printed.getType(typeName);
    const others =
      nestedInputs[typeName] && isInputObjectType(type) && !type.isOneOf
        ? Object.values(type.getFields()).filter(isRequiredInputField)
        : [];
    const members = { ...Object.fromEntries(others.map((each) => [each.name, sample(each)])), [member.name]: value };
    const payload = await runMutation(test, mutation, '', { ...required(mutation), ...input(members) });
    // An invalid URI is refused before the mutation.
    if (getNamedType(member.type).name === 'URI' && payload.error !== undefined) {
      expect(payload).toMatchObject({ error: 'INVALID_INPUT', message: expect.stringContaining(member.name) });
      return;
    }
    const where = ['input', ...path, member.name];
    expect(payload.userErrors ?? payload).toEqual(
      expect.arrayContaining([expect.objectContaining({ code: 'INVALID_INPUT', path: expect.anything() })]),
    );
    expect(
      payload.userErrors.map(({ path: found }: { path: string[] }) => found.slice(0, where.length)),
    ).toContainEqual(where);
  });

  it('counts the characters of a text as documented', async () => {
    for (const [typeName, name] of [
      ['CreatePlaybookInput', 'title'],
      ['CreateKnowledgeNoteInput', 'trigger'],
      ['CreateSessionInput', 'title'],
      ['CreateKnowledgeFolderInput', 'name'],
      ['CreateOrganizationInput', 'name'],
    ] as const) {
      const type = printed.getType(typeName);
      const member = isInputObjectType(type) ? type.getFields()[name] : undefined;
      if (!member) throw new Error(`${typeName} has no ${name}.`);
      const { mutation } = locationOf(typeName);
      const payload = await runMutation(test, mutation, '', {
        ...required(mutation),
        [name]: 'y'.repeat(Number(limitsOf(member)?.maxLength)),
      });
      expect(payload.userErrors, typeName).toEqual([]);
    }
  });
});

/** The lists of the administrator's organization and enterprise with a filter, by the text that asks for one page. */
const lists = ['Organization', 'Enterprise', 'Query', 'Viewer'].flatMap((owner) => {
  const type = printed.getType(owner);
  return (isObjectType(type) ? Object.values(type.getFields()) : []).flatMap((field) => {
    const filter = getNamedType(field.args.find(({ name }) => name === 'filter')?.type);
    if (!isInputObjectType(filter) || !field.args.some(({ name }) => name === 'first')) return [];
    return [[`${owner}.${field.name}`, owner, field, filter] as const];
  });
});

const around: Readonly<Record<string, (inner: string) => string>> = {
  Query: (inner) => `{ ${inner} }`,
  Viewer: (inner) => `{ viewer { ${inner} } }`,
  Enterprise: (inner) => `{ enterprise { ${inner} } }`,
  Organization: (inner) => `{ organization(id: $id) { ${inner} } }`,
};

it.each(lists)(
  'enforces @constraint of the filter and the page, with the path of the refused member: %s',
  async (_what, owner, field, filter) => {
    const ask = async (args: string, path: readonly string[]) => {
      const required = field.args.filter(isRequiredArgument).map((each) => `${each.name}: "x", `);
      const document = `query${owner === 'Organization' ? '($id: ID!)' : ''} ${around[owner]?.(`${field.name}(${required.join('')}${args}) { pageInfo { hasNextPage } }`)}`;
      const { errors } = await graphql(test, test.adminToken, document, { id: test.organizationId });
      expect(
        errors?.map(({ extensions }) => extensions),
        args.slice(0, 100),
      ).toEqual([{ code: 'INVALID_INPUT', path }]);
    };
    for (const member of Object.values(filter.getFields())) {
      const { maxItems, maxLength } = limitsOf(member) ?? {};
      const item = getNamedType(member.type);
      const one = isEnumType(item) ? item.getValues()[0]?.name : isInputObjectType(item) ? '{}' : '"x"';
      if (maxItems !== undefined)
        await ask(
          `filter: {${member.name}: [${Array(Number(maxItems) + 1)
            .fill(one)
            .join(' ')}]}`,
          ['filter', member.name],
        );
      if (maxLength !== undefined)
        await ask(`filter: {${member.name}: "${'x'.repeat(Number(maxLength) + 1)}"}`, ['filter', member.name]);
    }
    for (const name of ['first', 'last']) {
      const { min, max } = limitsOf(field.args.find((each) => each.name === name) as GraphQLArgument) ?? {};
      await ask(`${name}: ${Number(min) - 1}`, [name]);
      await ask(`${name}: ${Number(max) + 1}`, [name]);
    }
  },
);

it.each([
  ['nodes', (count: number) => `nodes(ids: [${'"x" '.repeat(count)}]) { id }`, 'ids', 'maxItems'],
  [
    'recurrencePreview',
    (count: number) => `recurrencePreview(rule: "FREQ=DAILY", count: ${count}) { times }`,
    'count',
    'max',
  ],
] as const)('enforces @constraint of the arguments of %s', async (field, ask, name, limit) => {
  const argument = printed
    .getQueryType()
    ?.getFields()
    [field]?.args.find((each) => each.name === name);
  const maximum = Number(argument && limitsOf(argument)?.[limit]);
  expect((await graphql(test, test.adminToken, `{ ${ask(maximum)} }`)).errors).toBeUndefined();
  const { errors } = await graphql(test, test.adminToken, `{ ${ask(maximum + 1)} }`);
  expect(errors?.[0].extensions).toEqual({ code: 'INVALID_INPUT', path: [name] });
});
