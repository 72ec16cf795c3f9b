import { beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { graphql } from '../support/app.ts';
import { type List, readAll } from '../support/pages.ts';
import { globalIdOf } from '../support/principals.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
let organizationId: string;
let token: string;
let serviceUserId: string;
/** Unprefixed ids by list and name. */
const ids: Record<string, Record<string, string>> = {};
let sessionId: string;
let endpointId: string;
let automationId: string;
let folderId: string;

/** Names in an order other than that of creation, with different cases and with characters that a cursor must encode. */
const names = ['beta | two', 'Alpha', 'ÄHRE', 'gamma%', 'alpha one'];
const minute = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString();

// Five objects of each kind in one organization, a minute apart. The service user created the first; the others have no
// creator.
beforeAll(async () => {
  ({ organizationId, token, serviceUserId } = await makeOrganization(test, 'Lists'));
  const { store } = test.app.services;
  const organization = organizationId.replace('org-', '');
  const [{ enterpriseId } = { enterpriseId: '' }] = await store.query<{ enterpriseId: string }>(
    'select enterprise_id as "enterpriseId" from organization where id = $1',
    [organization],
  );
  sessionId = await createSession(test, {}, token);
  const put = async (list: string, name: string, sql: string, ...values: unknown[]): Promise<string> => {
    const id = newId();
    await store.execute(`${sql} returning id`, [id, ...values]);
    ids[list] = { ...ids[list], [name]: id };
    return id;
  };
  for (const [n, name] of names.entries()) {
    const at = minute(n);
    const by = n === 0 ? serviceUserId.replace('service-user-', '') : null;
    automationId = await put(
      'automations',
      name,
      `insert into automation (id, organization_id, name, is_enabled, run_as, triggers, actions, consecutive_failures, service_user_id, created_at, updated_at)
       values ($1, $2, $3, $4::boolean, 'organization', '[]', '[]', $5::int, $6, $7::timestamptz, now())`,
      ...[organization, name, n % 2 === 0, n, by, at],
    );
    await put(
      'playbooks',
      name,
      `insert into playbook (id, enterprise_id, organization_id, title, body, macro, service_user_id, created_at, updated_at)
       values ($1, $2, $3, $4, 'b', $5, $6, $7::timestamptz, now())`,
      ...[enterpriseId, organization, name, `!m${n}`, by, at],
    );
    const folder = await put(
      'knowledgeFolders',
      name,
      `insert into knowledge_folder (id, enterprise_id, organization_id, parent_id, name, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6::timestamptz, now())`,
      ...[enterpriseId, organization, n === 0 ? null : folderId, name, at],
    );
    if (n === 0) folderId = folder;
    await put(
      'knowledgeNotes',
      name,
      `insert into knowledge_note (id, enterprise_id, organization_id, folder_id, name, body, trigger, is_enabled, service_user_id, created_at, updated_at)
       values ($1, $2, $3, $4, $5, 'b', 't', $6::boolean, $7, $8::timestamptz, now())`,
      ...[enterpriseId, organization, folderId, name, n % 2 === 0, by, at],
    );
    await put(
      'secrets',
      name,
      `insert into secret (id, organization_id, key, type, sealed, is_sensitive, service_user_id, created_at, updated_at)
       values ($1, $2, $3, $4, 'x', $5::boolean, $6, $7::timestamptz, now())`,
      ...[organization, name, n < 2 ? 'cookie' : 'totp', n % 2 === 0, by, at],
    );
    endpointId = await put(
      'webhookEndpoints',
      name,
      `insert into webhook_endpoint (id, organization_id, url, description, event_types, is_enabled, since_at, sealed, consecutive_failures, service_user_id, created_at, updated_at)
       values ($1, $2, 'https://example.com/', $3, $4::text[], $5::boolean, now(), 'x', $6::int, $7, $8::timestamptz, now())`,
      ...[organization, name, [n < 2 ? 'session.message' : 'session.status_changed'], n % 2 === 0, n, by, at],
    );
    await put(
      'attachments',
      name,
      `insert into attachment (id, organization_id, session_id, name, content_type, size_bytes, storage_key, source, created_at)
       values ($1, $2, $3, $4, 'text/plain', 1, 'k', $5, $6::timestamptz)`,
      ...[organization, sessionId, name, n < 2 ? 'agent' : 'user', at],
    );
    await put(
      'organizations',
      name,
      `insert into organization (id, enterprise_id, name, created_at, updated_at) values ($1, $2, $3, $4::timestamptz, now())`,
      ...[enterpriseId, `Org ${name}`, at],
    );
  }
  for (const [n, name] of names.entries()) {
    const at = minute(n);
    await put(
      'deliveries',
      name,
      `insert into webhook_delivery (id, organization_id, endpoint_id, event_type, event_id, session_id, status, attempts, begun_at, created_at)
       values ($1, $2, $3, 'session.message', $4, $5, $6, '[]', now(), $7::timestamptz)`,
      ...[organization, endpointId, newId(), n === 0 ? sessionId : null, n < 2 ? 'failed' : 'delivered', at],
    );
    await put(
      'runs',
      name,
      `insert into automation_run (id, automation_id, organization_id, delivery_key, trigger, status, created_at)
       values ($1, $2, $3, $4, '{"eventType": "manual"}', $5, $6::timestamptz)`,
      ...[automationId, organization, name, n < 2 ? 'failed' : 'started', at],
    );
  }
});

/** The path of each list, from the organization, the session or the endpoint. */
const wheres = {
  automations: (args: string) => `organization(id: $id) { list: automations${args} SELECT }`,
  playbooks: (args: string) => `organization(id: $id) { list: playbooks${args} SELECT }`,
  knowledgeFolders: (args: string) => `organization(id: $id) { list: knowledgeFolders${args} SELECT }`,
  knowledgeNotes: (args: string) => `organization(id: $id) { list: knowledgeNotes${args} SELECT }`,
  secrets: (args: string) => `organization(id: $id) { list: secrets${args} SELECT }`,
  webhookEndpoints: (args: string) => `organization(id: $id) { list: webhookEndpoints${args} SELECT }`,
  attachments: (args: string) => `session(id: "${sessionId}") { list: attachments${args} SELECT }`,
  deliveries: (args: string) =>
    `node(id: "${globalIdOf('WebhookEndpoint', endpointId)}") { ... on WebhookEndpoint { list: deliveries${args} SELECT } }`,
  runs: (args: string) =>
    `node(id: "${globalIdOf('Automation', automationId)}") { ... on Automation { list: runs${args} SELECT } }`,
  organizations: (args: string) => `list: organizations${args} SELECT`,
} as const;
type ListName = keyof typeof wheres;

const types: Record<ListName, string> = {
  automations: 'Automation',
  playbooks: 'Playbook',
  knowledgeFolders: 'KnowledgeFolder',
  knowledgeNotes: 'KnowledgeNote',
  secrets: 'Secret',
  webhookEndpoints: 'WebhookEndpoint',
  attachments: 'Attachment',
  deliveries: 'WebhookDelivery',
  runs: 'AutomationRun',
  organizations: 'Organization',
};

/** The list in a response, at the root or in one object below it. */
const listIn = (data: any) => data.list ?? Object.values<any>(data).find((each) => each?.list).list;

async function ask(list: ListName, args: string): Promise<{ found: string[]; error: any }> {
  const selection = `{ totalCount totalCountIsExact nodes { node: id } }`;
  const by = list === 'organizations' ? test.adminToken : token;
  const query = `query($id: ID!) { ${wheres[list](args).replace('SELECT', selection)} organization(id: $id) { id } }`;
  const { data, errors } = await graphql(test, by, query, { id: organizationId });
  if (errors) return { found: [], error: errors[0] };
  const { nodes, totalCount, totalCountIsExact } = listIn(data);
  expect({ totalCount, totalCountIsExact }).toEqual({ totalCount: nodes.length, totalCountIsExact: true });
  const nameOf = new Map(
    Object.entries(ids[list] ?? {}).flatMap(([name, id]): [string, string][] => [
      [globalIdOf(types[list], id), name],
      [id, name],
    ]),
  );
  return { found: nodes.flatMap(({ node }: any) => nameOf.get(node) ?? []), error: undefined };
}

const [beta, alpha, aehre, gamma, one] = names as [string, string, string, string, string];
const newest = [one, gamma, aehre, alpha, beta];

const cases: [ListName, string, string[]][] = [
  ...(Object.keys(wheres) as ListName[]).flatMap((list): [ListName, string, string[]][] => {
    const isOldestFirst = list === 'attachments';
    return [
      [list, '', isOldestFirst ? newest.toReversed() : newest],
      [list, '(filter: {}, orderBy: {field: CREATED_AT, direction: ASC})', newest.toReversed()],
      [list, '(orderBy: {field: CREATED_AT, direction: DESC})', newest],
      [
        list,
        `(filter: {createdAfter: "${minute(1)}", createdBefore: "${minute(3)}"})`,
        isOldestFirst ? [alpha, aehre] : [aehre, alpha],
      ],
    ];
  }),
  ['automations', '(filter: {search: "ALPHA"})', [one, alpha]],
  ['automations', '(filter: {isEnabled: false})', [gamma, alpha]],
  ['automations', '(filter: {isFailing: false})', [beta]],
  ['playbooks', '(filter: {search: "ähr"})', [aehre]],
  ['playbooks', '(filter: {search: "!M3"})', [gamma]],
  ['playbooks', '(filter: {accessType: ENTERPRISE})', []],
  ['knowledgeFolders', '(filter: {search: "%"})', [gamma]],
  ['knowledgeFolders', '(filter: {hasParent: false})', [beta]],
  ['knowledgeNotes', '(filter: {isEnabled: true})', [one, aehre, beta]],
  ['knowledgeNotes', '(filter: {search: "b", isEnabled: false})', [gamma, alpha]],
  ['secrets', '(filter: {type: [COOKIE]})', [alpha, beta]],
  ['secrets', '(filter: {isSensitive: false, search: "a"})', [gamma, alpha]],
  ['webhookEndpoints', '(filter: {eventTypes: [SESSION_MESSAGE]})', [alpha, beta]],
  ['webhookEndpoints', '(filter: {isEnabled: false, isFailing: true})', [gamma, alpha]],
  ['webhookEndpoints', '(filter: {search: "EXAMPLE.com", createdByIds: []})', []],
  ['attachments', '(filter: {source: AGENT})', [beta, alpha]],
  ['attachments', '(filter: {search: "| TWO"})', [beta]],
  ['deliveries', '(filter: {status: [FAILED]})', [alpha, beta]],
  ['runs', '(filter: {status: [STARTED]})', [one, gamma, aehre]],
  ['organizations', '(filter: {search: "org alpha"})', [one, alpha]],
];

it.each(cases)('lists %s%s', async (list, args, expected) => {
  expect(await ask(list, args)).toEqual({ found: expected, error: undefined });
});

it.each(['automations', 'playbooks', 'knowledgeNotes', 'secrets', 'webhookEndpoints'] as const)(
  'filters %s by a service user as the creator',
  async (list) => {
    const filter = (id: string) => `(filter: {createdByIds: ["${id}", "x"]})`;
    expect((await ask(list, filter(serviceUserId))).found).toEqual([beta]);
    expect((await ask(list, filter(`user-${newId()}`))).found).toEqual([]);
  },
);

it('filters deliveries by session, and folders by folder', async () => {
  expect((await ask('deliveries', `(filter: {sessionId: "devin-${sessionId}"})`)).found).toEqual([beta]);
  expect((await ask('knowledgeFolders', `(filter: {parentId: "folder-${folderId}"})`)).found).toEqual(
    newest.slice(0, 4),
  );
  expect((await ask('knowledgeFolders', '(filter: {parentId: "x"})')).found).toEqual([]);
});

describe('ordered by name', () => {
  const fields = {
    automations: 'NAME',
    playbooks: 'TITLE',
    knowledgeFolders: 'NAME',
    knowledgeNotes: 'NAME',
    secrets: 'KEY',
    organizations: 'NAME',
  } as const;
  it.each(Object.entries(fields) as [keyof typeof fields, string][])('lists %s by %s', async (list, field) => {
    const orderBy = (direction: string) => `orderBy: {field: ${field}, direction: ${direction}}`;
    const { found } = await ask(list, `(${orderBy('ASC')})`);
    // The position of "ä" depends on the database.
    const plain = found.filter((name) => name !== aehre);
    expect(plain).toEqual([alpha, one, beta, gamma]);
    expect(found).toHaveLength(5);
    expect((await ask(list, `(${orderBy('DESC')})`)).found).toEqual(found.toReversed());
    const paged: List = {
      token: list === 'organizations' ? test.adminToken : token,
      declared: '$id: ID!',
      variables: { id: organizationId },
      field: `${wheres[list](`(PAGE, ${orderBy('ASC')}, filter: {search: "a"})`).replace('SELECT', 'SELECTION')} organization(id: $id) { id }`,
      at: listIn,
    };
    const some = (await ask(list, `(${orderBy('ASC')}, filter: {search: "a"})`)).found;
    const globalIds = some.map((name) => globalIdOf(types[list], ids[list]?.[name] ?? ''));
    for (const direction of ['forwards', 'backwards'] as const) {
      const read = await readAll(test, paged, direction, { size: 2 });
      expect(read.filter((id) => globalIds.includes(id))).toEqual(globalIds);
    }
  });

  it('refuses a cursor of another order', async () => {
    const read = (args: string) =>
      graphql(
        test,
        token,
        `query($id: ID!) { organization(id: $id) { playbooks${args} { pageInfo { endCursor } } } }`,
        {
          id: organizationId,
        },
      );
    const { data } = await read('(first: 1, orderBy: {field: TITLE, direction: ASC})');
    const { endCursor } = data.organization.playbooks.pageInfo;
    expect((await read(`(after: "${endCursor}")`)).errors).toMatchObject([{ extensions: { code: 'BAD_CURSOR' } }]);
  });
});

it.each([
  ['playbooks', '(filter: {search: "\\u0000"})', '"search" must be Unicode text'],
  ['secrets', `(filter: {search: "${'x'.repeat(1_001)}"})`, '"search" must have at most 1000 characters'],
  ['automations', '(filter: {createdAfter: "0000-01-01T00:00:00Z"})', '"createdAfter" must be a time'],
  ['deliveries', `(filter: {status: [${'FAILED '.repeat(101)}]})`, '"status" must have at most 100 items'],
] as const)('refuses %s%s', async (list, args, message) => {
  const { error } = await ask(list, args);
  expect(error).toMatchObject({ extensions: { code: 'INVALID_INPUT' }, message: expect.stringContaining(message) });
});

it('counts every list: the audit log, a session’s log, consumption and calls of legacy routes', async () => {
  const own = await makeOrganization(test, 'Counted');
  const session = await createSession(test, {}, own.token);
  const { data, errors } = await graphql(
    test,
    test.adminToken,
    `query($id: ID!, $session: ID!) {
      organization(id: $id) {
        auditLog(filter: {actions: [CREATE_SESSION]}) { totalCount totalCountIsExact }
        none: auditLog(filter: {actions: []}) { totalCount }
        legacyCalls { totalCount }
        consumption(from: "2026-01-01", to: "2026-01-02") { sessions { totalCount } actors { totalCount } }
      }
      session(id: $session) {
        messages(first: 1) { totalCount totalCountIsExact }
        events(first: 1) { totalCount }
        statuses: events(first: 1, kinds: [STATUS]) { totalCount }
      }
      viewer { apiKeys { totalCount } organizations(filter: {search: "counted"}) { totalCount nodes { organizationId } } }
      enterprise { auditLog(filter: {actorId: "${own.serviceUserId}"}) { totalCount } acuLimits { totalCount } legacyCalls { totalCount } }
    }`,
    { id: own.organizationId, session: `devin-${session}` },
  );
  expect(errors).toBeUndefined();
  expect(data).toEqual({
    organization: {
      auditLog: { totalCount: 1, totalCountIsExact: true },
      none: { totalCount: 0 },
      legacyCalls: { totalCount: 0 },
      consumption: { sessions: { totalCount: 0 }, actors: { totalCount: 0 } },
    },
    session: {
      messages: { totalCount: 1, totalCountIsExact: true },
      events: { totalCount: 2 },
      statuses: { totalCount: 1 },
    },
    viewer: {
      apiKeys: { totalCount: 1 },
      organizations: { totalCount: 1, nodes: [{ organizationId: own.organizationId }] },
    },
    enterprise: { auditLog: { totalCount: 1 }, acuLimits: { totalCount: 0 }, legacyCalls: { totalCount: 0 } },
  });
});
