import { describe, expect, it } from 'vitest';
import { globalId, newId } from '../../src/domain/ids.ts';
import { graphql } from '../support/app.ts';
import { seedAuditEntries } from '../support/audit.ts';
import { createAutomation } from '../support/automations.ts';
import { isOfSigningIn } from '../support/key-changes.ts';
import { type List, readAll, readPage } from '../support/pages.ts';
import { runMutation } from '../support/people.ts';
import { makeKey, makeUser } from '../support/principals.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

let organizations = 0;
const makeOwn = () => makeOrganization(test, `Audited ${++organizations}`);
const nodeId = (id: string) => globalId('auditEntry', id);

function logOf(organizationId: string, args: string): List {
  return {
    token: test.adminToken,
    declared: '$id: ID!',
    variables: { id: organizationId },
    field: `organization(id: $id) { list: auditLog(PAGE ${args}) SELECTION }`,
    at: (data) => data.organization.list,
  };
}

const enterpriseLog = (args: string): List => ({
  token: test.adminToken,
  field: `enterprise { list: auditLog(PAGE ${args}) SELECTION }`,
  at: (data) => data.enterprise.list,
});

describe.each(['DESC', 'ASC'])('%s', (direction) => {
  const list = (organizationId: string) =>
    logOf(
      organizationId,
      `orderBy: { field: CREATED_AT, direction: ${direction} } filter: { actions: [SEND_MESSAGE] }`,
    );

  it('reads entries of one millisecond to the end from both sides, each once', async () => {
    const { organizationId } = await makeOwn();
    const createdAt = new Date();
    const ids = await seedAuditEntries(test, Array(7).fill({ action: 'send_message', organizationId, createdAt }));
    const expected = (direction === 'ASC' ? ids : ids.toReversed()).map(nodeId);
    // An ascending reader waits for transactions of other tests' databases.
    await expect
      .poll(() => readAll(test, list(organizationId), 'forwards', { size: 3 }), { timeout: 60_000, interval: 20 })
      .toEqual(expected);
    expect(await readAll(test, list(organizationId), 'backwards', { size: 3 })).toEqual(expected);
    const all = (await readPage(test, list(organizationId), { first: 100 })).page?.edges ?? [];
    const between = { first: 100, after: all[1]?.cursor, before: all[5]?.cursor };
    const { page } = await readPage(test, list(organizationId), between);
    expect(page).toMatchObject({ edges: all.slice(2, 5), pageInfo: { hasNextPage: false, hasPreviousPage: true } });
  });

  it('refuses a cursor of the other order', async () => {
    const { organizationId } = await makeOwn();
    const other = direction === 'ASC' ? 'DESC' : 'ASC';
    const reversed = enterpriseLog(`orderBy: { field: CREATED_AT, direction: ${other} }`);
    const endCursor = () => readPage(test, reversed, { first: 1 }).then(({ page }) => page?.pageInfo.endCursor);
    // An ascending reader waits for transactions of other tests' databases.
    await expect.poll(endCursor, { timeout: 60_000, interval: 20 }).toEqual(expect.any(String));
    const { errors } = await readPage(test, list(organizationId), { after: await endCursor() });
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_CURSOR' } }]);
  });
});

const fields = `{ nodes {
  id auditLogId action createdAt actorName apiKeyId address organizationId targetId data
  actor { __typename ... on User { email userId } ... on ServiceUser { name } }
  organization { name } session { sessionId } automation { name }
} }`;

async function read(args: string, token = test.adminToken): Promise<any[]> {
  const { data, errors } = await graphql(test, token, `{ enterprise { auditLog(${args}) ${fields} } }`);
  expect(errors).toBeUndefined();
  return data.enterprise.auditLog.nodes;
}

it('shows the actor, the organization, the target, the action, the key and the address', async () => {
  const { organizationId } = await makeOwn();
  const user = await makeUser(test, { organizationId, name: 'Ada' });
  const sessionId = await createSession(test, { organizationId, prompt: 'say hello' }, user.token);
  const [entry] = await read(`first: 1 filter: { actorId: "${user.userId}" }`);
  expect(entry).toEqual({
    id: expect.any(String),
    auditLogId: expect.stringMatching(/^audit_log-[0-9a-f]{32}$/),
    action: 'CREATE_SESSION',
    createdAt: expect.stringMatching(/Z$/),
    actor: { __typename: 'User', email: user.email, userId: user.userId },
    actorName: 'Ada',
    apiKeyId: expect.stringMatching(/^key-[0-9a-f]{32}$/),
    address: expect.stringMatching(/^(127\.0\.0\.1|::1)$/),
    organizationId,
    organization: { name: `Audited ${organizations}` },
    session: { sessionId: `devin-${sessionId}` },
    automation: null,
    targetId: `devin-${sessionId}`,
    data: {},
  });
  const { data } = await graphql(test, test.adminToken, 'query($id: ID!) { node(id: $id) { __typename id } }', {
    id: entry.id,
  });
  expect(data.node).toEqual({ __typename: 'AuditLogEntry', id: entry.id });
});

it('names the automation whose run acted, also beside the user that it runs as', async () => {
  const { organizationId, token } = await makeOwn();
  const target = await createSession(test, { organizationId }, token);
  const actions = [
    { startSession: { prompt: 'Sweep.' } },
    { messageSession: { prompt: 'Swept?', targetSessionId: `devin-${target}` } },
  ];
  const { automation } = await createAutomation(test, { organizationId, name: 'Nightly', actions }, token);
  await runMutation(test, 'runAutomation', 'run { status }', { automationId: automation.automationId }, token);
  const [ran, sent, created] = await read('first: 3');
  const bySelf = {
    actor: { __typename: 'SystemPrincipal' },
    actorName: null,
    apiKeyId: null,
    automation: { name: 'Nightly' },
  };
  expect([sent, created]).toMatchObject([
    { action: 'SEND_MESSAGE', ...bySelf, session: { sessionId: `devin-${target}` } },
    { action: 'CREATE_SESSION', ...bySelf },
  ]);
  expect(ran).toMatchObject({ action: 'RUN_AUTOMATION', automation: null });
  const ada = await makeUser(test, { organizationId, name: 'Ada', roleId: 'org_admin' });
  const own = await createAutomation(test, { organizationId, name: 'Mine', runAs: { type: 'CREATOR' } }, ada.token);
  await runMutation(test, 'runAutomation', 'run { status }', { automationId: own.automation.automationId }, ada.token);
  const [mine] = await read('first: 1 filter: { actions: [CREATE_SESSION] }');
  expect(mine).toMatchObject({ actorName: 'Ada', apiKeyId: null, automation: { name: 'Mine' } });
});

it('records that sessions are archived, unarchived, renamed and tagged, each once and only if they change', async () => {
  const { organizationId, token, serviceUserId } = await makeOwn();
  const sessionId = `devin-${await createSession(test, { organizationId, title: 'Before' }, token)}`;
  const act = (field: string, input: object, selection = 'session { title }') =>
    runMutation(test, field, selection, { ...input }, token);
  await act('updateSession', { sessionId, title: 'After', tags: ['a'] });
  await act('updateSession', { sessionId, title: 'After' });
  await act('tagSessions', { selection: { sessionIds: [sessionId] }, tags: ['b'] }, 'results { sessionId }');
  await act('archiveSession', { sessionId });
  await act('archiveSession', { sessionId });
  await act('unarchiveSessions', { selection: { sessionIds: [sessionId] } }, 'results { sessionId }');
  await act('unarchiveSession', { sessionId });
  await act('terminateSession', { sessionId, archive: true });
  const entries = await read(`first: 20 filter: { actorId: "${serviceUserId}" }`);
  expect(entries.map(({ action, data: { changed } }) => [action, changed])).toEqual([
    ['ARCHIVE_SESSION', undefined],
    ['TERMINATE_SESSION', undefined],
    ['UNARCHIVE_SESSION', undefined],
    ['ARCHIVE_SESSION', undefined],
    ['SLEEP_SESSION', undefined],
    ['UPDATE_SESSION', 'tags'],
    ['UPDATE_SESSION', 'title tags'],
    ['CREATE_SESSION', undefined],
  ]);
  expect(entries.every(({ session }) => session.sessionId === sessionId)).toBe(true);
});

it('filters by a user, a service user or a key, and finds nothing for an unknown id', async () => {
  const { organizationId, token, serviceUserId } = await makeOwn();
  const key = await makeKey(test, { kind: 'SERVICE', organizationId });
  const byRobot = await createSession(test, { organizationId }, token);
  const byKey = await createSession(test, { organizationId }, key);
  const [ofRobot, ...others] = await read(`filter: { actorId: "${serviceUserId}" }`);
  expect({ ofRobot, others }).toMatchObject({
    ofRobot: {
      session: { sessionId: `devin-${byRobot}` },
      actor: { __typename: 'ServiceUser' },
      actorName: `Audited ${organizations} bot`,
    },
    others: [],
  });
  const [ofKey] = await read('first: 1 filter: { actions: [CREATE_SESSION] }');
  expect(ofKey).toMatchObject({
    session: { sessionId: `devin-${byKey}` },
    actor: { __typename: 'ServiceKey' },
    actorName: 'key',
  });
  expect(await read(`filter: { actorId: "${ofKey.apiKeyId}" }`)).toEqual([ofKey]);
  for (const nobody of [newId(), 'nonsense', '']) expect(await read(`filter: { actorId: "${nobody}" }`)).toEqual([]);
});

it('filters by time: after is included, before is not', async () => {
  const { organizationId } = await makeOwn();
  const start = Date.UTC(2020, 1, 1);
  const ids = await seedAuditEntries(
    test,
    [0, 1, 2].map((ms) => ({ action: 'send_message', organizationId, createdAt: new Date(start + ms) })),
  );
  const at = (ms: number) => JSON.stringify(new Date(start + ms).toISOString());
  const filter = `filter: { createdAfter: ${at(0)} createdBefore: ${at(2)} }`;
  const { page } = await readPage(test, logOf(organizationId, filter), {});
  expect(page?.edges.map(({ node }) => node.id)).toEqual([ids[1], ids[0]].map((id) => nodeId(id ?? '')));
  const { errors } = await readPage(
    test,
    logOf(organizationId, 'filter: { createdAfter: "+010000-01-01T00:00:00Z" }'),
    {},
  );
  expect(errors?.length).toBeGreaterThan(0);
  expect(errors?.[0].extensions?.code).not.toBe('INTERNAL_SERVER_ERROR');
});

it('shows unknown values as null: an action of a newer version, a deleted organization and user', async () => {
  const { organizationId } = await makeOwn();
  const { userId } = await makeUser(test, { organizationId, name: 'Gone' });
  const bareUser = userId.replace('user-', '');
  await seedAuditEntries(test, [
    { action: 'of_a_version_to_come', organizationId, userId: bareUser, targetId: newId() },
  ]);
  const { store } = test.app.services;
  await store.execute('update user_account set deleted_at = now() where id = $1', [bareUser]);
  await graphql(
    test,
    test.adminToken,
    'mutation($input: DeleteOrganizationInput!) { deleteOrganization(input: $input) { deletedOrganizationId } }',
    {
      input: { organizationId },
    },
  );
  const [entry] = await read(`first: 1 filter: { actorId: "${userId}" }`);
  expect(entry).toMatchObject({ action: null, organization: null, organizationId, actorName: 'Gone' });
});

it('refuses the log without the permission, and finds no nodes for its entries then', async () => {
  const { organizationId, token } = await makeOwn();
  const [id = ''] = await seedAuditEntries(test, [{ action: 'send_message', organizationId }]);
  const ofOrganization = { ...logOf(organizationId, ''), token };
  const { errors } = await readPage(test, ofOrganization, {});
  expect(errors).toMatchObject([
    { extensions: { code: 'FORBIDDEN' }, message: expect.stringContaining('MANAGE_ENTERPRISE_SETTINGS') },
  ]);
  const memberToken = await makeKey(test, {
    kind: 'SERVICE_USER',
    serviceUserId: (await makeEnterpriseRobot('account_member')).serviceUserId,
  });
  const ofEnterprise = await readPage(test, { ...enterpriseLog(''), token: memberToken }, {});
  expect(ofEnterprise.errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
  for (const each of [token, memberToken]) {
    const { data } = await graphql(test, each, 'query($id: ID!) { node(id: $id) { id } }', { id: nodeId(id) });
    expect(data).toEqual({ node: null });
  }
});

async function makeEnterpriseRobot(roleId: string): Promise<{ serviceUserId: string }> {
  const { data } = await graphql(
    test,
    test.adminToken,
    'mutation($input: CreateServiceUserInput!) { createServiceUser(input: $input) { serviceUser { serviceUserId } } }',
    { input: { name: 'robot', roleId, scope: { enterprise: true } } },
  );
  return data.createServiceUser.serviceUser;
}

it('reads the logs of a page of organizations with all objects in a constant number of statements', async () => {
  const statementsFor = async (first: number) => {
    const { store } = test.app.services;
    const original = store.query;
    let statements = 0;
    store.query = (sql: string, values?: readonly unknown[]) => {
      if (!isOfSigningIn(sql)) statements += 1;
      return original.call(store, sql, values) as never;
    };
    try {
      const { data, errors } = await graphql(
        test,
        test.adminToken,
        `{ organizations(first: ${first}) { nodes { auditLog(first: 5) ${fields} } } }`,
      );
      expect(errors).toBeUndefined();
      const pages = data.organizations.nodes.map(({ auditLog }: any) => auditLog.nodes.length);
      return { statements, pages };
    } finally {
      store.query = original;
    }
  };
  for (let n = 0; n < 6; n++) {
    const { organizationId, token } = await makeOwn();
    await createSession(test, { organizationId }, token);
  }
  const [few, many] = [await statementsFor(2), await statementsFor(6)];
  expect(many.pages).toEqual(Array(6).fill(4));
  expect(many.statements).toBe(few.statements);
});
