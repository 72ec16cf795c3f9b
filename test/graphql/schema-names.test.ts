import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GraphQLArgument, isInputObjectType, isInterfaceType, isObjectType } from 'graphql';
import { expect, it } from 'vitest';
import { schema } from '../../src/api/graphql/schema/index.ts';
import { root } from '../support/tree.ts';

const resources = [
  'Automation',
  'GitConnection',
  'GitPermission',
  'KnowledgeFolder',
  'KnowledgeNote',
  'Organization',
  'Playbook',
  'ProviderKey',
  'Role',
  'Secret',
  'ServiceUser',
  'Snapshot',
  'User',
  'WebhookEndpoint',
];
const switches = ['Automation', 'KnowledgeNote', 'ProviderKey', 'WebhookEndpoint'];
const sets = ['AllowedTags', 'IpAccessListRanges', 'SessionTags'];

/** The nouns of each verb, from the table of docs/graphql-conventions.md. It lists every mutation, and only mutations. */
const verbs: Readonly<Record<string, readonly string[]>> = {
  create: [...resources, 'ApiKey', 'AttachmentUpload', 'LegalHold', 'Session', 'SignInLink'],
  update: [...resources, 'Enterprise', 'QueuedMessage', 'Repository', 'Session'],
  delete: [...resources, 'AcuLimit', 'EnvironmentBuilds', 'IdpGroup', 'SavedView', 'SessionWorkspace'],
  set: ['AcuLimit', 'PullRequestFollowUp', 'SavedView', 'SessionOptions'],
  enable: switches,
  disable: switches,
  add: sets,
  remove: [...sets, 'Agent'],
  install: ['Agent'],
  check: ['Agent'],
  replace: sets,
  archive: ['Session', 'Sessions'],
  unarchive: ['Session', 'Sessions'],
  interrupt: ['Session'],
  rewind: ['Session'],
  fork: ['Session'],
  suspend: ['Session'],
  retry: ['Turn'],
  resume: ['Session'],
  terminate: ['Session', 'Sessions'],
  tag: ['Sessions'],
  send: ['FollowUp', 'Message', 'Presence'],
  dismiss: ['FollowUp'],
  withdraw: ['Message'],
  answer: ['Question'],
  assign: ['IdpGroupRole', 'Role'],
  unassign: ['IdpGroupRole', 'Role'],
  approve: ['DeviceAuthorization'],
  deny: ['DeviceAuthorization'],
  register: ['IdpGroups'],
  invite: ['Users'],
  rotate: ['ApiKey', 'AutomationWebhookSecret', 'GitConnectionWebhookSecret', 'WebhookEndpointSecret'],
  release: ['LegalHold'],
  revoke: ['ApiKey', 'AllApiKeys', 'SignInLink'],
  begin: ['GithubAppRegistration'],
  complete: ['GithubAppInstallation', 'GithubAppRegistration'],
  mark: ['SessionRead'],
  pin: ['Session'],
  unpin: ['Session'],
  open: ['PullRequest'],
  review: ['PullRequest'],
  build: ['Environment'],
  run: ['Automation'],
  test: ['GitConnection', 'ProviderKey', 'WebhookEndpoint'],
  redeliver: ['WebhookDelivery'],
  refresh: ['Environment', 'SessionChanges'],
  deactivate: ['User'],
  reactivate: ['User'],
  end: ['Maintenance'],
  drain: ['Worker'],
  undrain: ['Worker'],
};

const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});

function verbOf(name: string): string {
  return Object.keys(verbs).find((verb) => verbs[verb]?.some((noun) => name === `${verb}${noun}`)) ?? '';
}

it('names each mutation by a verb and a noun of one table', () => {
  const wanted = Object.entries(verbs).flatMap(([verb, nouns]) => nouns.map((noun) => `${verb}${noun}`));
  expect(mutations.map(({ name }) => name).sort()).toEqual(wanted.sort());
});

it('documents that table', () => {
  const page = readFileSync(join(root, 'docs/graphql-conventions.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (`\w+`(?:, `\w+`)*) \| [^|]+ \| ([^|]+) \|$/gm)];
  const listed = rows.flatMap(([, verbsOfRow = '', nounsOfRow = '']) =>
    [...nounsOfRow.matchAll(/`(\w+)`(?: \(([\w, ]+)\))?/g)].flatMap(([, noun, only]) =>
      (only?.split(', ') ?? [...verbsOfRow.matchAll(/`(\w+)`/g)].map(([, verb]) => verb)).map(
        (verb) => `${verb}${noun}`,
      ),
    ),
  );
  expect(listed.sort()).toEqual(mutations.map(({ name }) => name).sort());
});

it('uses the verbs enable and disable, and takes "isEnabled" only in creations', () => {
  const taking = mutations.filter(({ args }) => {
    const [input] = args;
    const type = input && schema.getType(input.type.toString().replace('!', ''));
    return isInputObjectType(type) && type.getFields().isEnabled;
  });
  expect(taking.map(({ name }) => verbOf(name)).filter((verb) => verb !== 'create')).toEqual([]);
});

it('uses one form of id for each name: the REST id in output, any form in input', () => {
  const outputFields: string[] = [];
  const taken: string[] = [];
  for (const type of Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'))) {
    const record = (list: string[], { name, type: its }: { name: string; type: unknown }) =>
      list.push(`${name}: ${String(its).replaceAll('!', '')}`);
    if (isInputObjectType(type)) for (const field of Object.values(type.getFields())) record(taken, field);
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      record(outputFields, field);
      for (const argument of field.args) record(taken, argument);
    }
  }
  const ids = (list: readonly string[]) => [...new Set(list.filter((field) => /^(?:id|\w+Ids?):/.test(field)))].sort();
  // Fields by which a client's store removes or finds objects by global ID, whatever their type.
  const globalOnly = /^(?:id|nodeId|deleted\w+Id): ID$/;
  expect(
    ids(outputFields).filter((field) => !/: (?:String|\[String\])$/.test(field) && !globalOnly.test(field)),
  ).toEqual([]);
  // Ids of external objects, or values returned as received.
  const foreignIds = [
    'appId',
    'channelId',
    'clientId',
    'clientMutationId',
    'installationId',
    'optionId',
    'profileId',
    'snapshotId',
    'templateId',
    'workerId',
  ];
  const texts = ids(taken).filter((field) => !/: (?:ID|\[ID\])$/.test(field));
  expect(texts).toEqual(foreignIds.map((name) => `${name}: String`));
});

it('uses URI for addresses, in input too', () => {
  const found = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) || isInputObjectType(type))
    .flatMap((type) => Object.values(type.getFields()).map((field) => [`${type.name}.${field.name}`, field] as const))
    .filter(([, { name }]) => /(?:^u|U)r[il]s?$/.test(name));
  expect(found.length).toBeGreaterThan(6);
  expect(found.filter(([, { type }]) => !/^URI!?$/.test(String(type))).map(([name]) => name)).toEqual([]);
});

const argumentsOf = (field: object): readonly GraphQLArgument[] =>
  'args' in field ? (field.args as readonly GraphQLArgument[]) : [];

/** Booleans that control a mutation and do not describe an object. */
const switchesOfActs = [
  'archive',
  'autoCreate',
  'bypassApproval',
  'dryRun',
  'force',
  'includeInactive',
  'revokeCurrent',
];

/** Booleans that stand for one of several choices, and are true if present. */
const choices = [
  'ScopeInput.enterprise',
  'ProviderKeyScopeInput.enterprise',
  'ProviderKeyScopeInput.viewer',
  'AgentProgram.canInstall',
];

it('names booleans "is…", "has…" and "was…", and options of an action by a verb', () => {
  const all = Object.values(schema.getTypeMap()).flatMap((type): [string, string, unknown][] => {
    if (type.name.startsWith('__')) return [];
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) return [];
    return Object.values(type.getFields()).flatMap((field) => [
      ...argumentsOf(field).map(({ name, type: its }): [string, string, unknown] => [type.name, name, its]),
      [type.name, field.name, field.type],
    ]);
  });
  const names = all
    .filter(([, , type]) => String(type).replace('!', '') === 'Boolean')
    .map(([owner, name]) => `${owner}.${name}`)
    .filter((path) => {
      const name = path.split('.').at(-1) ?? '';
      return !/^(is|has|was|\w+Is)[A-Z]/.test(name) && !switchesOfActs.includes(name) && !choices.includes(path);
    });
  expect(names).toEqual([]);
});
