import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isNonNullType,
  isObjectType,
  isSpecifiedDirective,
  isSpecifiedScalarType,
  isUnionType,
} from 'graphql';
import { expect, it } from 'vitest';
import { printContract } from '../../scripts/printed-schema.ts';
import { schema } from '../../src/api/graphql/schema/index.ts';
import { root } from '../support/tree.ts';

const types = Object.values(schema.getTypeMap()).filter(
  (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
);

it('matches schema.graphql', () => {
  const printed = readFileSync(join(root, 'schema.graphql'), 'utf8');
  expect(printed, 'schema.graphql is out of date: npm run generate').toBe(printContract(schema));
});

/** Everything that readers of a type see, with its description. */
function parts(type: GraphQLNamedType): [string, string | null | undefined][] {
  const found: [string, string | null | undefined][] = [[type.name, type.description]];
  if (isObjectType(type) || isInterfaceType(type)) {
    for (const field of Object.values(type.getFields())) {
      found.push([`${type.name}.${field.name}`, field.description]);
      for (const argument of field.args) {
        found.push([`${type.name}.${field.name}(${argument.name}:)`, argument.description]);
      }
    }
  }
  if (isInputObjectType(type)) {
    for (const field of Object.values(type.getFields())) found.push([`${type.name}.${field.name}`, field.description]);
  }
  if (isEnumType(type)) {
    for (const value of type.getValues()) found.push([`${type.name}.${value.name}`, value.description]);
  }
  return found;
}

it('has descriptions in complete sentences', () => {
  const described = types.flatMap(parts).map(([name, description]) => ({ name, description: description ?? '' }));
  expect(described.filter(({ description }) => description.length < 25)).toEqual([]);
  const vague =
    /^(?:What|Whose|Who|How|That|Which|When)\b|\blikewise\b|\bthe same for\b|\bas above\b|\bsomebody\b|\bor any form of\b/i;
  expect(described.filter(({ description }) => vague.test(description))).toEqual([]);
});

it('describes every type, field, argument and value', () => {
  const silent = types
    .flatMap(parts)
    .filter(([, description]) => !description?.trim())
    .map(([name]) => name);
  expect(types.length).toBeGreaterThan(50);
  expect(silent).toEqual([]);
  const own = schema.getDirectives().filter((directive) => !isSpecifiedDirective(directive));
  expect(own.join(' ')).toBe('@constraint @cost @defer @listSize @requiresPermission @semanticNonNull');
  for (const { description, args } of own) {
    for (const text of [description, ...args.map((argument) => argument.description)]) expect(text).toBeTruthy();
  }
});

const objects = types.filter(isObjectType);

it('returns every list as a connection, or as a list that cannot grow', () => {
  const paging = ['after', 'before', 'first', 'last'];
  for (const type of objects) {
    for (const field of Object.values(type.getFields())) {
      const name = field.type.toString().replaceAll(/[[\]!]/g, '');
      if (!/(?<!^Git)Connection$/.test(name)) continue;
      expect(field.args.map((argument) => argument.name)).toEqual(expect.arrayContaining(paging));
      // Nullable if the viewer may read the owner and not the list: see schema-permissions.test.ts.
      const isBoundary = 'requires' in field.extensions;
      expect(field.type.toString(), `${type.name}.${field.name}`).toBe(isBoundary ? name : `${name}!`);
    }
    if (!/(?<!^Git)Connection$/.test(type.name)) continue;
    const item = type.name.replace(/Connection$/, '');
    const { totalCount, totalCountIsExact, ...page } = signatures(type.getFields());
    expect(page).toEqual({ edges: `[${item}Edge!]!`, nodes: `[${item}!]!`, pageInfo: 'PageInfo!' });
    expect([totalCount, totalCountIsExact], type.name).toEqual(['Int!', 'Boolean!']);
    const edge = schema.getType(`${item}Edge`);
    expect(isObjectType(edge) && signatures(edge.getFields())).toEqual({ cursor: 'String!', node: `${item}!` });
  }
});

it('has one input for each mutation and a payload with userErrors', () => {
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
  expect(mutations.length).toBeGreaterThanOrEqual(7);
  for (const { name, args, type } of mutations) {
    const upper = `${name[0]?.toUpperCase()}${name.slice(1)}`;
    expect(args.map((argument) => `${argument.name}: ${argument.type}`)).toEqual([`input: ${upper}Input!`]);
    // Nullable: an error of one mutation does not remove the results of the others in its document.
    expect(type.toString()).toBe(`${upper}Payload`);
    const payload = schema.getType(`${upper}Payload`);
    const input = schema.getType(`${upper}Input`);
    const shape = isObjectType(payload) ? signatures(payload.getFields()) : {};
    expect(shape).toMatchObject({ userErrors: '[UserError!]!', clientMutationId: 'String' });
    // The created object is null if there are user errors.
    const { userErrors: _errors, wasReplayed: _replayed, ...things } = shape;
    expect(Object.values(things).filter((thing) => thing.endsWith('!'))).toEqual([]);
    expect(isInputObjectType(input) && input.getFields().clientMutationId?.type.toString()).toBe('String');
  }
});

function signatures(fields: Record<string, Pick<GraphQLField<unknown, unknown>, 'type'>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, { type }]) => [name, type.toString()]));
}

const connection = (extra = '') => `(after: String, before: String, ${extra}first: Int, last: Int)`;
const listOf = (item: string) =>
  `(after: String, before: String, filter: ${item}Filter, first: Int, last: Int, orderBy: ${item}Order): ${item}Connection`;

const sessionConnection = listOf('Session');

/** Names, arguments and types that clients rely on. More may exist. */
const promised: Record<string, Record<string, string>> = {
  Query: {
    node: '(id: ID!): Node',
    nodes: '(ids: [ID!]!): [Node]!',
    viewer: ': Viewer!',
    enterprise: ': Enterprise',
    organizations: `${listOf('Organization')}!`,
    organization: '(id: ID!): Organization',
    session: '(id: ID!): Session',
    sessions: `${sessionConnection}!`,
  },
  Enterprise: { sessions: sessionConnection },
  Viewer: {
    sessions: `${sessionConnection}!`,
    waitingForMe: `${sessionConnection}!`,
    principalType: ': PrincipalType!',
    user: ': User',
    serviceUser: ': ServiceUser',
    organization: ': Organization',
    permissions: ': [Permission!]!',
  },
  Organization: {
    id: ': ID!',
    organizationId: ': String!',
    name: ': String!',
    createdAt: ': DateTime!',
    sessions: sessionConnection,
    automations: listOf('Automation'),
    consumption: '(from: Date!, principal: PrincipalInput, sessionId: ID, to: Date!): Consumption',
    members: listOf('Member'),
    knowledgeNotes: listOf('KnowledgeNote'),
    knowledgeFolders: listOf('KnowledgeFolder'),
    playbooks: listOf('Playbook'),
    secrets: listOf('Secret'),
  },
  Session: {
    id: ': ID!',
    sessionId: ': String!',
    url: ': URI!',
    organization: ': Organization!',
    title: ': String',
    status: ': SessionStatus!',
    statusDetail: ': SessionStatusDetail',
    isArchived: ': Boolean!',
    tags: ': [String!]!',
    createdAt: ': DateTime!',
    updatedAt: ': DateTime!',
    createdBy: ': Principal',
    parent: ': Session',
    acusConsumed: ': Float!',
    maxAcuLimit: ': Int',
    structuredOutputSchema: ': JSON',
    structuredOutput: ': JSON',
    pullRequests: ': [PullRequest!]!',
    playbook: ': Playbook',
    children: sessionConnection,
    attachments: listOf('Attachment'),
    messages: `${connection()}: SessionMessageConnection`,
    events:
      '(after: String, before: String, first: Int, kinds: [SessionEventKind!], last: Int): SessionEventConnection',
  },
  Automation: {
    id: ': ID!',
    automationId: ': String!',
    name: ': String!',
    isEnabled: ': Boolean!',
    nextRuns: '(count: Int): [DateTime!]!',
    runs: `${listOf('AutomationRun')}!`,
  },
  CreateAutomationPayload: { automation: ': Automation' },
  DeleteAutomationPayload: { deletedAutomationId: ': ID' },
  SessionMessage: {
    id: ': ID!',
    eventId: ': String!',
    seq: ': Int!',
    type: ': SessionMessageType!',
    body: ': String!',
    createdAt: ': DateTime!',
    author: ': Principal',
  },
  SessionEvent: { id: ': ID!', seq: ': Int!', kind: ': SessionEventKind!', createdAt: ': DateTime!' },
  Member: { id: ': ID!', user: ': User!', roles: ': [Role!]!' },
  UserError: { code: ': ErrorCode!', message: ': String!', path: ': [String!]' },
  CreateSessionPayload: { session: ': Session', wasReplayed: ': Boolean!' },
  SendMessagePayload: { session: ': Session', message: ': SessionMessage' },
  TerminateSessionPayload: { session: ': Session' },
  InterruptSessionPayload: { session: ': Session', wasReplayed: ': Boolean!' },
  RetryTurnPayload: { session: ': Session', wasReplayed: ': Boolean!' },
  WithdrawMessagePayload: { session: ': Session', message: ': SessionMessage' },
  SuspendSessionPayload: { session: ': Session' },
  ResumeSessionPayload: { session: ': Session' },
  ArchiveSessionPayload: { session: ': Session' },
  UnarchiveSessionPayload: { session: ': Session' },
  ReplaceSessionTagsPayload: { session: ': Session' },
  AddSessionTagsPayload: { session: ': Session' },
  CreateKnowledgeNotePayload: { knowledgeNote: ': KnowledgeNote' },
  UpdateKnowledgeFolderPayload: { knowledgeFolder: ': KnowledgeFolder' },
  DeletePlaybookPayload: { deletedPlaybookId: ': ID' },
  UpdateSecretPayload: { secret: ': Secret' },
  BulkSessionResult: { sessionId: ': String!', session: ': Session', userErrors: ': [UserError!]!' },
  ArchiveSessionsPayload: { results: ': [BulkSessionResult!]', hasMore: ': Boolean', endCursor: ': String' },
  CreateApiKeyPayload: { apiKey: ': ApiKey', token: ': String' },
  Subscription: {
    sessionMessages: '(after: String, sessionId: ID!): SessionMessageEdge!',
    sessionEvents: '(after: String, kinds: [SessionEventKind!], sessionId: ID!): SessionEventEdge!',
    sessionUpdated: '(sessionId: ID!): Session!',
    sessionChanges: '(after: String, filter: SessionFilter, organizationId: ID): SessionChange!',
  },
};

it.each(Object.entries(promised))('keeps the promised members of %s', (name, fields) => {
  const type = schema.getType(name);
  if (!isObjectType(type) && !isInterfaceType(type)) throw new Error(`${name} is no type with fields.`);
  const now = Object.fromEntries(
    Object.values(type.getFields()).map((field) => {
      const args = field.args.map((argument) => `${argument.name}: ${argument.type}`).sort();
      return [field.name, `${args.length > 0 ? `(${args.join(', ')})` : ''}: ${field.type}`];
    }),
  );
  expect(now).toMatchObject(fields);
});

const promisedInputs: Record<string, string> = {
  CreateSessionInput:
    'organizationId: ID, prompt: String!, title: String, tags: [String!], playbookId: ID, snapshotId: String, knowledgeIds: [ID!], secretIds: [ID!], sessionSecrets: [SessionSecretInput!], maxAcuLimit: Int, structuredOutputSchema: JSON, attachmentIds: [ID!], asUserId: ID, agent: String, isUnlisted: Boolean = false, idempotencyKey: String, clientMutationId: String',
  SendMessageInput:
    'sessionId: ID!, body: String!, asUserId: ID, attachmentIds: [ID!], idempotencyKey: String, clientMutationId: String',
  TerminateSessionInput: 'sessionId: ID!, archive: Boolean = false, clientMutationId: String',
  SuspendSessionInput: 'sessionId: ID!, clientMutationId: String',
  AddSessionTagsInput: 'sessionId: ID!, tags: [String!]!, clientMutationId: String',
  CreateKnowledgeNoteInput:
    'scope: ScopeInput!, name: String!, body: String!, trigger: String!, folderId: ID, pinnedRepo: String, macro: String, isEnabled: Boolean = true, idempotencyKey: String, clientMutationId: String',
  UpdateKnowledgeNoteInput:
    'knowledgeNoteId: ID!, name: String, body: String, trigger: String, clientMutationId: String',
  CreatePlaybookInput:
    'scope: ScopeInput!, title: String!, body: String!, macro: String, structuredOutputSchema: JSON, idempotencyKey: String, clientMutationId: String',
  CreateSecretInput:
    'organizationId: ID, key: String!, type: SecretType!, value: String!, note: String, isSensitive: Boolean = true, idempotencyKey: String, clientMutationId: String',
  ArchiveSessionsInput:
    'selection: SessionSelection!, organizationId: ID, first: Int, after: String, dryRun: Boolean = false, clientMutationId: String',
  SessionSelection: 'sessionIds: [ID!], filter: SessionFilter',
  TagSessionsInput: 'selection: SessionSelection!, tags: [String!]!, clientMutationId: String',
  SessionSecretInput: 'key: String!, value: String!, isSensitive: Boolean = true',
  CreateApiKeyInput:
    'kind: ApiKeyKindInput!, name: String!, expiresAt: DateTime, idempotencyKey: String, clientMutationId: String',
  CreateOrganizationInput: 'name: String!, idempotencyKey: String, clientMutationId: String',
  CreateUserInput:
    'email: String!, name: String, scope: ScopeInput!, roleId: ID!, idempotencyKey: String, clientMutationId: String',
  CreateServiceUserInput:
    'name: String!, scope: ScopeInput!, roleId: ID!, idempotencyKey: String, clientMutationId: String',
  CreateAutomationInput:
    'organizationId: ID, name: String!, triggers: [AutomationTriggerInput!]!, actions: [AutomationActionInput!]!, runAs: AutomationRunAsInput, clientMutationId: String',
  AutomationTriggerInput:
    'schedule: ScheduleTriggerInput, incomingWebhook: IncomingWebhookTriggerInput, event: EventTriggerInput',
  AutomationConditionsInput: 'any: [AutomationConditionGroupInput!]!',
  AutomationConditionGroupInput: 'all: [AutomationConditionInput!]!',
  AutomationConditionInput: 'field: String!, operator: AutomationConditionOperator!, value: JSON',
  AutomationActionInput:
    'startSession: StartSessionActionInput, messageSession: MessageSessionActionInput, monitorSession: MonitorSessionActionInput',
  StartSessionActionInput: 'prompt: String!, session: AutomationSessionInput',
  AutomationRunAsInput: 'type: AutomationRunAsType!',
  SessionFilter:
    'status: [SessionStatus!], tags: [String!], isArchived: Boolean, origin: [SessionOrigin!], playbookId: ID, automationId: ID, createdByIds: [ID!], createdAfter: DateTime, createdBefore: DateTime, updatedAfter: DateTime, updatedBefore: DateTime, search: String, statusDetail: [SessionStatusDetail!], endReason: [SessionEndReason!], allTags: [String!], isUnlisted: Boolean, organizationIds: [ID!], parentId: ID, hasParent: Boolean, ids: [ID!], and: [SessionFilter!], or: [SessionFilter!], not: SessionFilter',
  SessionOrder: 'field: SessionOrderField!, direction: OrderDirection!',
};

it.each(Object.entries(promisedInputs))('keeps the promised inputs of %s', (name, fields) => {
  const type = schema.getType(name);
  if (!isInputObjectType(type)) throw new Error(`${name} is no input.`);
  const now = Object.values(type.getFields()).map(
    ({ name: field, type: its, defaultValue }) =>
      `${field}: ${its}${defaultValue === undefined ? '' : ` = ${JSON.stringify(defaultValue)}`}`,
  );
  expect(now).toEqual(expect.arrayContaining(fields.split(', ')));
  // An additional required field would break clients that send the promised fields.
  expect(now.filter((field) => /!$/.test(field) && !fields.split(', ').includes(field))).toEqual([]);
});

const promisedValues: Record<string, string> = {
  PrincipalType: 'USER SERVICE_USER SERVICE_KEY SYSTEM',
  SessionStatus: 'NEW CLAIMED RUNNING EXIT ERROR SUSPENDED RESUMING',
  SessionStatusDetail:
    'WORKING WAITING_FOR_USER WAITING_FOR_APPROVAL WAITING_FOR_QUOTA FINISHED INACTIVITY USER_REQUEST USAGE_LIMIT_EXCEEDED OUT_OF_CREDITS OUT_OF_QUOTA NO_QUOTA_ALLOCATION PAYMENT_DECLINED ORG_USAGE_LIMIT_EXCEEDED USER_USAGE_LIMIT_EXCEEDED TOTAL_SESSION_LIMIT_EXCEEDED ERROR',
  SessionEventKind:
    'MESSAGE MESSAGE_CHANGED STATUS TURN THOUGHT PLAN TOOL_CALL QUESTION PERMISSION NOTICE USAGE LIMIT REPOSITORY PUSH PULL_REQUEST STRUCTURED_OUTPUT ATTACHMENT REWIND ERROR',
  SessionOrigin: 'API WEBAPP AUTOMATION CLI OTHER',
  SessionOrderField: 'CREATED_AT UPDATED_AT',
  OrderDirection: 'ASC DESC',
  ErrorCode: 'INVALID_INPUT UNKNOWN_REFERENCE NOT_UNIQUE INVALID_STATE LIMIT_EXCEEDED CONFLICT IDEMPOTENCY_CONFLICT',
  SessionMessageType: 'INITIAL_USER_MESSAGE USER_MESSAGE AGENT_MESSAGE',
  ApiKeyKind: 'PERSONAL SERVICE PERSONAL_ACCESS_TOKEN SERVICE_USER',
};

it.each(Object.entries(promisedValues))('has exactly the values of %s', (name, values) => {
  const type = schema.getType(name);
  expect(
    isEnumType(type) &&
      type
        .getValues()
        .map((value) => value.name)
        .sort(),
  ).toEqual(values.split(' ').sort());
});

it('writes permissions in upper snake, without another product’s name', () => {
  const type = schema.getType('Permission');
  const values = isEnumType(type) ? type.getValues().map(({ name }) => name) : [];
  expect(values).toEqual(expect.arrayContaining(['READ_ACCOUNT_META', 'USE_SESSIONS', 'VIEW_ORG_SESSIONS']));
  expect(values.filter((value) => !/^[A-Z]+(?:_[A-Z]+)*$/.test(value) || value.includes('DEVIN'))).toEqual([]);
});

it('has an enum for each closed set of values, and no text that lists them', () => {
  const textsOf = (type: GraphQLNamedType) => {
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) return [];
    const fields: GraphQLInputField[] | GraphQLField<unknown, unknown>[] = Object.values(type.getFields());
    const args = fields.flatMap((field) =>
      ('args' in field ? field.args : []).map((each) => ({ of: field.name, each })),
    );
    const all = [
      ...fields.map(({ name, type: its, description }) => ({ name, its, description })),
      ...args.map(({ of, each: { name, type: its, description } }) => ({ name: `${of}(${name}:)`, its, description })),
    ];
    return all.flatMap(({ name, its, description }) =>
      getNamedType(its).name === 'String' ? [{ name: `${type.name}.${name}`, description }] : [],
    );
  };
  const texts = types.flatMap(textsOf);
  const listing = texts.filter(({ description }) => (description?.match(/"[a-z][a-z_]*"/g) ?? []).length > 1);
  expect(texts.length).toBeGreaterThan(200);
  expect(listing.map(({ name }) => name)).toEqual([]);
});

it('makes every input with exactly one member @oneOf, with optional members only', () => {
  const inputs = types.filter(isInputObjectType).filter(({ isOneOf }) => isOneOf);
  expect(inputs.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['AutomationActionInput', 'AutomationTriggerInput', 'AutomationNetAddressInput']),
  );
  for (const input of inputs) {
    for (const { type, defaultValue } of Object.values(input.getFields())) {
      expect([input.name, isNonNullType(type), defaultValue]).toEqual([input.name, false, undefined]);
    }
  }
  // Printed, so that code generators and the Relay compiler know it.
  const printed = readFileSync(join(root, 'schema.graphql'), 'utf8');
  for (const { name } of inputs) expect(printed).toContain(`input ${name} @oneOf {`);
});

it('lets one selection use equally named fields of all types of an interface or a union', () => {
  // Pairs of types that one response name cannot have: GraphQL refuses the selection of both.
  const abstract = types.filter((type) => isInterfaceType(type) || isUnionType(type));
  const clashes = abstract
    .filter(({ name }) => name !== 'Node')
    .flatMap((type) => {
      const typesOf = new Map<string, Set<string>>();
      for (const field of schema.getPossibleTypes(type).flatMap((each) => Object.values(each.getFields()))) {
        typesOf.set(field.name, (typesOf.get(field.name) ?? new Set()).add(String(field.type)));
      }
      return [...typesOf].filter(([, found]) => found.size > 1).map(([name]) => `${type.name}: ${name}`);
    });
  expect(abstract.length).toBeGreaterThan(2);
  expect(clashes).toEqual([]);
});

it('has an interface for objects with a global id, and one for entries of a log', () => {
  const of = (name: string) => {
    const type = schema.getType(name);
    return isInterfaceType(type) ? schema.getPossibleTypes(type).map((each) => each.name) : [];
  };
  expect(of('Node')).toEqual(
    expect.arrayContaining(['Session', 'Organization', 'SessionMessage', 'Member', ...of('SessionEvent')]),
  );
  expect(of('SessionEvent')).toHaveLength(19);
  expect(of('Principal').sort()).toEqual(['ServiceKey', 'ServiceUser', 'SystemPrincipal', 'User']);
});
