import { generateKeyPairSync } from 'node:crypto';
import { type GraphQLInputField, type GraphQLInputObjectType, isNonNullType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../../src/api/graphql/schema/index.ts';
import { automationOptions, createAutomation, recurring } from '../support/automations.ts';
import { makeRole, runMutation } from '../support/people.ts';
import { makeUser, scopeOf } from '../support/principals.ts';
import { makeUsableRepository } from '../support/repositories.ts';
import { sessionWithCheckpoint } from '../support/session-checkpoints.ts';
import { createSession } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';
import { makeEndpoint } from '../support/webhooks.ts';

const test = useApp();

interface Updated {
  /** Creates an object; returns its id as the input names it. */
  readonly make: (member: string) => Promise<Record<string, unknown>>;
  /** The payload field that contains the object; null: the payload itself has the values. */
  readonly payloadField: string | null;
  /** A value for each optional member. */
  readonly values: Record<string, unknown>;
  /** The selections of members whose response field has another name or members of its own. */
  readonly selections?: Record<string, string>;
  /** Members that are never returned, so that null can clear nothing visible. */
  readonly hidden?: readonly string[];
}

const create = async (field: string, payloadField: string, input: object) =>
  (await runMutation(test, field, `${payloadField} { id }`, { ...input }))[payloadField].id as string;
const scope = () => scopeOf(test.organizationId);
let names = 0;
const unique = (word: string) => `${word} ${names++}`;
const folder = (name: string) => create('createKnowledgeFolder', 'knowledgeFolder', { scope: scope(), name });

const privateKey = () =>
  generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({ type: 'pkcs8', format: 'pem' });

// Set by `make`: a folder that can contain others.
const shared = { folderId: '' };

const updates: Record<string, Updated> = {
  updateAutomation: {
    make: async () => ({
      automationId: (await createAutomation(test, { triggers: [recurring('FREQ=DAILY;BYHOUR=9')] })).automation.id,
    }),
    payloadField: 'automation',
    values: {
      ...automationOptions,
      name: 'Other',
      triggers: [recurring('FREQ=DAILY;BYHOUR=7')],
      actions: [{ startSession: { prompt: 'Other' } }],
      runAs: { type: 'ORGANIZATION' },
    },
    selections: {
      triggers: 'triggers { eventType }',
      actions: 'actions { __typename }',
      runAs: 'runAs { type }',
      limits: 'limits { maxAcuLimit }',
      concurrency: 'concurrency { maxConcurrentRuns }',
      notifications: 'notifications { email { when } }',
      sessionSettings: 'sessionSettings { sessionMode }',
      securityProfile: 'securityProfile { profileId }',
      tools: 'tools { mcpServers }',
    },
  },
  updateEnterprise: { make: async () => ({}), payloadField: null, values: { maxCycleAcuLimit: 5 } },
  updateKnowledgeFolder: {
    make: async () => {
      shared.folderId ||= await folder(unique('Parent'));
      return { knowledgeFolderId: await folder(unique('To change')) };
    },
    payloadField: 'knowledgeFolder',
    values: { name: 'Changed', description: 'Said', parentId: () => shared.folderId },
    selections: { parentId: 'parentId: parent { id }' },
  },
  updateKnowledgeNote: {
    make: async () => {
      shared.folderId ||= await folder(unique('Parent'));
      const note = { scope: scope(), name: 'N', body: 'B', trigger: 'T' };
      return { knowledgeNoteId: await create('createKnowledgeNote', 'knowledgeNote', note) };
    },
    payloadField: 'knowledgeNote',
    values: {
      name: 'M',
      body: 'C',
      trigger: 'U',
      folderId: () => shared.folderId,
      pinnedRepo: 'all',
      macro: '!nulls',
    },
    selections: { folderId: 'folderId: folder { id }' },
  },
  updateOrganization: {
    make: async () => {
      const { organization } = await runMutation(test, 'createOrganization', 'organization { id organizationId }', {
        name: 'To change',
      });
      const { organizationId } = organization;
      await runMutation(test, 'addAllowedTags', 'allowedTags', { organizationId, tags: ['usual'] });
      return { organizationId };
    },
    payloadField: 'organization',
    values: {
      name: 'Changed',
      defaultAgent: 'demo',
      defaultTag: 'usual',
      defaultModels: [{ agentId: 'demo', model: 'small' }],
      branchTemplate: 'x/{short id}',
      defaultRepositories: [],
      maxConcurrentSessions: 3,
      maxQueuedSessions: 6,
      maxStorageMb: 7,
      maxTokensPerDay: 8,
      maxCycleAcuLimit: 4,
      maxSessionAcuLimit: 5,
    },
    selections: { defaultModels: 'defaultModels { agentId model }' },
  },
  updatePlaybook: {
    make: async () => ({
      playbookId: await create('createPlaybook', 'playbook', { scope: scope(), title: 'P', body: 'B' }),
    }),
    payloadField: 'playbook',
    values: { title: 'Q', body: 'C', macro: '!nulls', structuredOutputSchema: { type: 'object' } },
  },
  updateProviderKey: {
    make: async () => {
      const values = { provider: 'OPENAI', name: unique('Key'), key: 'c4n4ry' };
      // A change of the base URL needs the key again.
      return {
        providerKeyId: await create('createProviderKey', 'providerKey', { scope: scope(), ...values }),
        key: 'c4n4ry',
      };
    },
    payloadField: 'providerKey',
    values: {
      provider: 'OPENROUTER',
      name: 'Changed',
      key: 'c4n4ry-2',
      baseUrl: 'https://llm.example/v1',
      monthlyBudgetUsd: 5,
      prices: { inputUsdPerMillion: 1, outputUsdPerMillion: 2 },
    },
    selections: { prices: 'prices { inputUsdPerMillion }' },
    hidden: ['key'],
  },
  updateQueuedMessage: {
    make: async () => {
      const sessionId = await createSession(test, { organizationId: test.organizationId });
      const message = { sessionId, body: 'Said' };
      return { messageId: await create('sendMessage', 'message', message), body: 'Other' };
    },
    payloadField: 'message',
    values: {},
  },
  updateGitConnection: {
    make: async (member) => {
      const kind = ['username', 'token'].includes(member)
        ? { providerType: 'GIT_HTTPS', username: 'git', token: 'c4n4ry' }
        : ['appId', 'installationId', 'privateKey'].includes(member)
          ? { providerType: 'GITHUB_APP', appId: '1', privateKey: privateKey() }
          : { providerType: 'GITEA_TOKEN', token: 'c4n4ry' };
      const connection = { name: unique('Forge'), host: 'git.example', ...kind };
      const gitConnectionId = await create('createGitConnection', 'gitConnection', connection);
      // A change of the host or the kind needs the credential again.
      return { gitConnectionId, ...(['host', 'providerType'].includes(member) ? { token: 'c4n4ry' } : {}) };
    },
    payloadField: 'gitConnection',
    values: {
      ...{ providerType: 'GITLAB_TOKEN', name: 'Changed', host: 'other.example', username: 'robot', token: 'c4n4ry-2' },
      ...{ appId: '2', installationId: '3', privateKey: () => privateKey(), webhookSecret: 'c4n4ry-3' },
    },
    hidden: ['token', 'privateKey', 'webhookSecret'],
  },
  updateGitPermission: {
    make: async () => {
      const forge = { providerType: 'GITEA_TOKEN', name: unique('Forge'), host: 'git.example', token: 'c4n4ry' };
      const gitConnectionId = await create('createGitConnection', 'gitConnection', forge);
      const permission = { organizationId: test.organizationId, gitConnectionId, groupPrefix: 'acme' };
      return { gitPermissionId: await create('createGitPermission', 'gitPermission', permission) };
    },
    payloadField: 'gitPermission',
    values: { isReadOnly: true },
  },
  updateRepository: {
    make: async () => ({ repositoryId: await makeUsableRepository(test, test.organizationId) }),
    payloadField: 'repository',
    values: {
      ...{ branchTemplate: 'x/{short id}', environmentDefinition: 'setup: npm ci' },
      ...{ isPushToOtherBranchesAllowed: true, isPushOfTagsAllowed: true, isDeletionAllowed: true },
      isMentionAnswered: false,
      mentionOrganizationId: () => test.organizationId,
      ...{ followUpMode: 'OFF', followUpAuthors: 'EVERYONE', followUpBots: 'ALL', followUpBotLogins: ['ci'] },
      isArchivedWhenMerged: true,
      isEnvironmentBuiltOnPush: false,
    },
    selections: { mentionOrganizationId: 'mentionOrganizationId: mentionOrganization { name }' },
  },
  updateRole: {
    make: async () => ({ roleId: (await makeRole(test, 'ORGANIZATION', ['USE_SESSIONS'])).roleId }),
    payloadField: 'role',
    values: { name: 'Changed', permissions: ['VIEW_ORG_SESSIONS'] },
  },
  updateSecret: {
    make: async () => {
      const secret = {
        organizationId: test.organizationId,
        key: unique('KEY').replace(' ', '_'),
        type: 'KEY_VALUE',
        value: 'c4n4ry',
      };
      return { secretId: await create('createSecret', 'secret', secret) };
    },
    payloadField: 'secret',
    values: { key: 'OTHER', note: 'Said', value: 'c4n4ry-2', isSensitive: true },
    hidden: ['value'],
  },
  updateServiceUser: {
    make: async () => {
      const robot = { name: 'Robot', roleId: 'org_member', scope: scope() };
      return { serviceUserId: await create('createServiceUser', 'serviceUser', robot), name: 'Robot' };
    },
    payloadField: 'serviceUser',
    values: {},
  },
  updateSession: {
    make: async () => ({ sessionId: await createSession(test, { organizationId: test.organizationId }) }),
    payloadField: 'session',
    values: { title: 'Changed', maxAcuLimit: 5, tags: ['changed'] },
  },
  updateSnapshot: {
    make: async () => {
      const { sessionId } = await sessionWithCheckpoint(test);
      return { snapshotId: await create('createSnapshot', 'snapshot', { sessionId, name: unique('Snapshot') }) };
    },
    payloadField: 'snapshot',
    values: { name: 'Changed', description: 'Said' },
  },
  updateUser: {
    make: async () => ({ userId: (await makeUser(test)).userId }),
    payloadField: 'user',
    values: { name: 'Changed' },
  },
  updateWebhookEndpoint: {
    make: async () => {
      const input = { organizationId: test.organizationId, url: 'https://hooks.example/' };
      return { webhookEndpointId: (await makeEndpoint(test, test.adminToken, input)).id };
    },
    payloadField: 'webhookEndpoint',
    values: { url: 'https://other.example/', description: 'Said', eventTypes: ['SESSION_MESSAGE'] },
  },
};

const inputOf = (name: string) =>
  schema.getType(`${name[0]?.toUpperCase()}${name.slice(1)}Input`) as GraphQLInputObjectType;
const isOptional = ({ name, type }: GraphQLInputField) =>
  !isNonNullType(type) && name !== 'clientMutationId' && name !== 'expectedVersion';

/** "refused" or "cleared": the effect of null on each member, according to its description. */
const rules: [name: string, member: string, rule: 'refused' | 'cleared'][] = Object.keys(updates).flatMap((name) =>
  Object.values(inputOf(name).getFields())
    .filter(isOptional)
    .map(({ name: member, description }): [string, string, 'refused' | 'cleared'] => [
      name,
      member,
      description?.endsWith('Must not be null.') ? 'refused' : 'cleared',
    ]),
);

it('covers every update mutation, and a value of each member', () => {
  const mutations = Object.keys(schema.getMutationType()?.getFields() ?? {}).filter((name) =>
    /^update[A-Z]/.test(name),
  );
  expect(Object.keys(updates).sort()).toEqual(mutations.sort());
  const unset = rules.filter(([name, member]) => !(member in (updates[name] as Updated).values));
  expect(unset).toEqual([]);
});

it('documents for each member the effect of null', () => {
  const unsaid = rules.filter(
    ([name, member]) => !/\bnull\b/i.test(inputOf(name).getFields()[member]?.description ?? ''),
  );
  expect(unsaid).toEqual([]);
});

describe.each(rules)('%s: null for %s', (name, member, rule) => {
  it(`is ${rule}, and leaving it out keeps it`, async () => {
    const { make, payloadField, values, selections = {}, hidden = [] } = updates[name] as Updated;
    const id = await make(member);
    const isHidden = hidden.includes(member);
    const field = selections[member] ?? member;
    const selection = isHidden ? '' : field;
    const read = async (input: Record<string, unknown>) => {
      const wanted = payloadField === null ? selection : `${payloadField} { id ${selection} }`;
      const payload = await runMutation(test, name, wanted, { ...id, ...input });
      const { [member]: value } = (payloadField === null ? payload : payload[payloadField]) ?? {};
      return { value, userErrors: payload.userErrors ?? payload };
    };
    const newValue = values[member];
    const set = await read({ [member]: typeof newValue === 'function' ? newValue() : newValue });
    expect(set.userErrors).toEqual([]);
    if (!isHidden) expect(set.value).not.toBeNull();
    expect(await read({})).toEqual(set);
    const nulled = await read({ [member]: null });
    if (rule === 'cleared') {
      expect(nulled).toEqual({ value: isHidden ? undefined : null, userErrors: [] });
      return;
    }
    expect(nulled.userErrors).toMatchObject([{ code: 'INVALID_INPUT', path: ['input', member] }]);
    expect(await read({})).toEqual(set);
  });
});
