import { isInputObjectType, isObjectType } from 'graphql';
import { beforeAll, expect, it } from 'vitest';
import { schema } from '../../src/api/graphql/schema/index.ts';
import { daily, recurring, startSession } from '../support/automations.ts';
import { runMutation } from '../support/people.ts';
import { sessionWithCheckpoint } from '../support/session-checkpoints.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
let organizationId: string;
beforeAll(async () => {
  ({ organizationId } = await makeOrganization(test, 'Versions'));
});

interface Resource {
  /** The object's field in the payloads. */
  readonly field: string;
  readonly input: Record<string, unknown>;
  /** A member that can be changed, and two values for it. */
  readonly member: string;
  readonly values: readonly [unknown, unknown];
}

/** Every type with a version. */
const resources: Record<string, Resource> = {
  Playbook: {
    field: 'playbook',
    input: { title: 'Release', body: 'Tag, build, publish.' },
    member: 'title',
    values: ['Ship', 'Deliver'],
  },
  KnowledgeNote: {
    field: 'knowledgeNote',
    input: { name: 'Colours', body: 'Blue.', trigger: 'When painting.' },
    member: 'body',
    values: ['Red.', 'Green.'],
  },
  KnowledgeFolder: { field: 'knowledgeFolder', input: { name: 'Paints' }, member: 'name', values: ['Inks', 'Oils'] },
  Secret: {
    field: 'secret',
    input: { key: 'TOKEN', type: 'KEY_VALUE', value: 'first' },
    member: 'note',
    values: ['one', 'two'],
  },
  ProviderKey: {
    field: 'providerKey',
    input: { provider: 'OPENAI', name: 'Team', key: 'c4n4ry' },
    member: 'name',
    values: ['Shared', 'Other'],
  },
  GitConnection: {
    field: 'gitConnection',
    input: { providerType: 'GITEA_TOKEN', name: 'Forge', host: 'gitea.example', token: 'c4n4ry' },
    member: 'name',
    values: ['Shared', 'Other'],
  },
  WebhookEndpoint: {
    field: 'webhookEndpoint',
    input: { url: 'https://receiver.example/hook', eventTypes: ['SESSION_MESSAGE'] },
    member: 'description',
    values: ['one', 'two'],
  },
  Snapshot: { field: 'snapshot', input: { name: 'Base' }, member: 'name', values: ['Ready', 'Set'] },
  Automation: {
    field: 'automation',
    input: { name: 'Daily', triggers: [recurring(daily)], actions: [startSession] },
    member: 'name',
    values: ['Weekly', 'Monthly'],
  },
  Role: {
    field: 'role',
    input: { name: 'Reader', scope: 'ORGANIZATION', permissions: ['VIEW_ORG_SESSIONS'] },
    member: 'name',
    values: ['Viewer', 'Watcher'],
  },
};

const inputOf = (name: string) => {
  const type = schema.getType(name);
  if (!isInputObjectType(type)) throw new Error(`There is no input ${name}.`);
  return type.getFields();
};

/** Creates an object, and returns functions that change and delete it. */
async function createOne(name: string) {
  const { field, input, member } = resources[name] as Resource;
  const id = `${field}Id`;
  const fields = inputOf(`Create${name}Input`);
  const isScoped = /ScopeInput!$/.test(String(fields.scope?.type));
  const scope = isScoped ? { scope: { organizationId } } : fields.organizationId ? { organizationId } : {};
  const run = (mutation: string, fields: string, input: object) =>
    runMutation(test, mutation, fields, input as Record<string, unknown>, test.adminToken);
  const selection = `${field} { ${id} version ${member} }`;
  const of = fields.sessionId ? { sessionId: (await sessionWithCheckpoint(test)).sessionId } : {};
  const created = (await run(`create${name}`, selection, { ...input, ...scope, ...of }))[field];
  return {
    created,
    update: (value: unknown, expectedVersion?: number) =>
      run(`update${name}`, selection, { [id]: created[id], [member]: value, expectedVersion }),
    remove: (expectedVersion?: number) =>
      run(`delete${name}`, `deleted${name}Id`, { [id]: created[id], expectedVersion }),
  };
}

it('has a version on each managed resource, and a condition on its changes', () => {
  const versioned = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter((type) => type.getFields().version?.type.toString() === 'Int!')
    .map(({ name }) => name);
  expect(versioned.sort()).toEqual(Object.keys(resources).sort());
  for (const name of versioned) {
    for (const input of [`Update${name}Input`, `Delete${name}Input`]) {
      expect(inputOf(input).expectedVersion?.type.toString(), input).toBe('Int');
    }
  }
});

const conflict = (expected: number, stored: number) => [
  {
    code: 'CONFLICT',
    message: `"expectedVersion" is ${expected}, but the current version is ${stored}. Read it again before you change it.`,
    path: ['input', 'expectedVersion'],
  },
];

it.each(Object.entries(resources))(
  'changes and deletes a %s only at the expected version',
  async (name, { field, member, values: [one, two] }) => {
    const { created, update, remove } = await createOne(name);
    expect(created.version).toBe(1);
    expect(await update(one, 1)).toMatchObject({ [field]: { [member]: one, version: 2 }, userErrors: [] });
    // Nothing changes, so the version stays.
    expect(await update(one, 2)).toMatchObject({ [field]: { [member]: one, version: 2 }, userErrors: [] });
    expect(await update(two, 1)).toMatchObject({ [field]: null, userErrors: conflict(1, 2) });
    expect(await remove(1)).toMatchObject({ [`deleted${name}Id`]: null, userErrors: conflict(1, 2) });
    // Neither update has changed anything, and nobody must expect another version.
    expect(await update(two)).toMatchObject({ [field]: { [member]: two, version: 3 }, userErrors: [] });
    expect(await remove(3)).toMatchObject({ [`deleted${name}Id`]: expect.any(String), userErrors: [] });
  },
);

it('lets one of two editors of the same version win', async () => {
  const { update } = await createOne('Playbook');
  const answers = await Promise.all(['Left', 'Right'].map((title) => update(title, 1)));
  const codes = answers.map(({ userErrors }) => userErrors.map(({ code }: { code: string }) => code));
  expect(codes.sort()).toEqual([[], ['CONFLICT']].sort());
  expect(answers.find(({ playbook }) => playbook)?.playbook.version).toBe(2);
});
