import { describe, expect, it } from 'vitest';
import { parseId } from '../../src/domain/ids.ts';
import { call, graphql } from '../support/app.ts';
import { createAutomation, makeAutomatic, makeMember, updateAutomation } from '../support/automations.ts';
import { runMutation } from '../support/people.ts';
import { makeKey, makeUser } from '../support/principals.ts';
import { createSession } from '../support/sessions.ts';
import { statementsOf } from '../support/statements.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const create = (input: Record<string, unknown>, token?: string, selection?: string) =>
  createAutomation(test, input, token, selection);
const update = (input: Record<string, unknown>, token?: string) => updateAutomation(test, input, token);
const world = () => makeAutomatic(test);

const runNow = (input: Record<string, unknown>, token: string) =>
  runMutation(
    test,
    'runAutomation',
    'run { automationRunId status eventType scheduledFor attempts startedAt error { code message } sessionId session { title } }',
    input,
    token,
  );

describe('running an automation on request', () => {
  it('starts a session like an occurrence, even if disabled, and keeps its occurrences', async () => {
    const { token } = await world();
    const { automation } = await create({ isEnabled: false }, token);
    const { run } = await runNow({ automationId: automation.automationId }, token);
    expect(run).toMatchObject({ status: 'STARTED', attempts: 1, session: { title: 'Sweep the floor.' } });
    const { automation: after } = await update({ automationId: automation.automationId, name: 'Swept' }, token);
    expect(after).toMatchObject({ isEnabled: false, nextRunAt: null, consecutiveFailures: 0 });
    expect(after.lastRunAt).not.toBeNull();
  });

  it('is done once for an idempotency key', async () => {
    const { token } = await world();
    const { automation } = await create({}, token);
    const input = { automationId: automation.automationId, idempotencyKey: 'once' };
    const [one, two] = [await runNow(input, token), await runNow(input, token)];
    expect(two.run).toEqual(one.run);
    const { automation: other } = await create({}, token);
    expect(await runNow({ ...input, automationId: other.automationId }, token)).toMatchObject({
      run: null,
      userErrors: [{ code: 'IDEMPOTENCY_CONFLICT' }],
    });
  });

  it('reports why it failed, and leaves nothing half done', async () => {
    const { organizationId, token } = await world();
    const session = await createSession(test, {}, token);
    const actions = [
      { startSession: { prompt: 'Sweep.' } },
      { messageSession: { prompt: 'Done?', targetSessionId: session } },
    ];
    const { automation } = await create({ actions }, token);
    await graphql(
      test,
      token,
      'mutation($input: TerminateSessionInput!) { terminateSession(input: $input) { userErrors { message } } }',
      { input: { sessionId: session } },
    );
    const { run } = await runNow({ automationId: automation.automationId }, token);
    expect(run).toMatchObject({ status: 'FAILED', sessionId: null, startedAt: null, error: { code: 'INVALID_STATE' } });
    const [count] = await test.app.services.store.query<{ count: number }>(
      'select count(*)::int as count from session where organization_id = $1',
      [parseId('organization', organizationId)],
    );
    expect(count).toEqual({ count: 1 });
  });

  it('needs the permission to change it, and to act as the user that it runs as', async () => {
    const { organizationId } = await world();
    const creator = await makeUser(test, { organizationId, roleId: 'org_admin' });
    const { automation } = await create({ runAs: { type: 'CREATOR' } }, creator.token);
    const input = { automationId: automation.automationId };
    const viewer = await makeMember(test, organizationId, 'VIEW_ORG_AUTOMATIONS');
    expect(await runNow(input, viewer.token)).toMatchObject({ error: 'FORBIDDEN' });
    const manager = await makeMember(test, organizationId, 'MANAGE_ORG_AUTOMATIONS', 'USE_SESSIONS');
    expect(await runNow(input, manager.token)).toMatchObject({ error: 'FORBIDDEN' });
    expect(await runNow(input, (await world()).token)).toMatchObject({ error: 'NOT_FOUND' });
    const { run } = await runNow(input, creator.token);
    const [session] = await test.app.services.store.query<{ userId: string }>(
      'select user_id as "userId" from session where id = $1',
      [parseId('session', run.sessionId)],
    );
    expect(session?.userId).toBe(parseId('user', creator.userId));
  });

  it('shows its session and its automation only to viewers who may see them, in both APIs', async () => {
    const { organizationId, token } = await world();
    const { automation } = await create({}, token);
    const { automationId } = automation;
    const { run } = await runNow({ automationId }, token);
    const viewer = await makeMember(test, organizationId, 'VIEW_ORG_AUTOMATIONS');
    const query = `query($id: ID!) { automation(id: $id) { automationId runs { nodes { sessionId automation { automationId } } } } }`;
    for (const id of [automation.id, automationId, automationId.replace('automation-', '')]) {
      for (const [as, sessionId] of [
        [token, run.sessionId],
        [viewer.token, null],
      ]) {
        const { data } = await graphql(test, as, query, { id });
        const nodes = [{ sessionId, automation: { automationId } }];
        expect(data.automation).toEqual({ automationId, runs: { nodes } });
      }
    }
    const path = `/v3/organizations/${organizationId}/automations/${automationId}/runs`;
    const bare = parseId('session', run.sessionId);
    expect((await call(test, token, 'GET', path)).body.items).toMatchObject([{ session_id: bare }]);
    expect((await call(test, viewer.token, 'GET', path)).body.items).toMatchObject([{ session_id: null }]);
    const other = (await world()).token;
    expect((await graphql(test, other, query, { id: automationId })).data).toEqual({ automation: null });
    await runMutation(test, 'deleteAutomation', 'deletedAutomationId', { automationId }, token);
    expect((await graphql(test, token, query, { id: automationId })).data).toEqual({ automation: null });
  });

  it('fails for a creator who lost the permission for the action', async () => {
    const { organizationId, token } = await world();
    const user = await makeUser(test, { organizationId, roleId: 'org_admin' });
    const { automation } = await create({ runAs: { type: 'CREATOR' } }, user.token);
    const input = { automationId: automation.automationId };
    const roles = (roleId: string) =>
      test.app.services.store.execute('update role_assignment set role_id = $2 where user_id = $1', [
        parseId('user', user.userId),
        roleId,
      ]);
    const custom = await makeMember(test, organizationId, 'USE_SESSIONS');
    const [assigned] = await test.app.services.store.query<{ roleId: string }>(
      'select role_id as "roleId" from role_assignment where user_id = $1',
      [parseId('user', custom.userId)],
    );
    await roles(assigned?.roleId ?? '');
    expect((await runNow(input, token)).run).toMatchObject({
      status: 'FAILED',
      error: { code: 'FORBIDDEN', message: expect.stringContaining('UsePersonalAutomations') },
    });
    await test.app.services.store.execute('update user_account set deleted_at = now() where id = $1', [
      parseId('user', user.userId),
    ]);
    expect((await runNow(input, token)).run).toMatchObject({
      status: 'FAILED',
      error: { message: 'The user that the automation runs as was deleted or deactivated.' },
    });
  });
});

describe('the runs of an automation', () => {
  it('are the sessions that it started, newest first, paged both ways; lists of sessions can be filtered by them', async () => {
    const { organizationId, token } = await world();
    const [one, other] = [await create({}, token), await create({}, token)];
    const ids: string[] = [];
    for (const { automation } of [one, one, other, one]) {
      const { run } = await runNow({ automationId: automation.automationId }, token);
      expect(run).toMatchObject({ status: 'STARTED', eventType: 'manual', error: null, scheduledFor: null });
      if (automation === one.automation) ids.unshift(run.sessionId);
    }
    const runs = async (args: string, as = token) => {
      const document = `query($id: ID!) { node(id: $id) { ... on Automation { runs${args} { totalCount
        edges { cursor node { sessionId startedAt session { origin automation { automationId } createdAt } } } pageInfo { hasNextPage hasPreviousPage } } } } }`;
      return (await graphql(test, as, document, { id: one.automation.id })).data.node.runs;
    };
    const all = await runs('');
    expect(all.totalCount).toBe(3);
    expect(all.edges.map(({ node }: any) => node.sessionId)).toEqual(ids);
    const [{ node }] = all.edges;
    expect(node.session).toEqual({
      origin: 'AUTOMATION',
      automation: { automationId: one.automation.automationId },
      createdAt: expect.any(String),
    });
    const second = await runs(`(first: 1, after: "${all.edges[0].cursor}")`);
    expect(second).toMatchObject({ edges: [all.edges[1]], pageInfo: { hasNextPage: true, hasPreviousPage: true } });
    const back = await runs(`(last: 1, before: "${all.edges[2].cursor}")`);
    expect(back).toMatchObject({ edges: [all.edges[1]], pageInfo: { hasPreviousPage: true } });
    const document =
      'query($id: ID!, $filter: SessionFilter) { organization(id: $id) { sessions(filter: $filter) { nodes { sessionId } } } }';
    const filter = { automationId: one.automation.id, origin: ['AUTOMATION'] };
    const { data } = await graphql(test, token, document, { id: organizationId, filter });
    expect(data.organization.sessions.nodes.map((session: any) => session.sessionId)).toEqual(ids);
    // A viewer who may not see the sessions learns that there were some, but not which.
    const viewer = await makeMember(test, organizationId, 'VIEW_ORG_AUTOMATIONS');
    const blind = await runs('', viewer.token);
    expect(blind.edges.map((edge: any) => edge.node)).toEqual(
      all.edges.map((edge: any) => ({ ...edge.node, session: null, sessionId: null })),
    );
  });
});

describe('permissions for automations', () => {
  it('are to view or to manage them; errors name the missing one', async () => {
    const { organizationId, token } = await world();
    const { automation } = await create({}, token);
    const { automationId } = automation;
    const read = async (as: string) => {
      const document =
        'query($id: ID!, $node: ID!) { node(id: $node) { id } organization(id: $id) { automations { nodes { id } } } }';
      const { data, errors } = await graphql(test, as, document, { id: organizationId, node: automation.id });
      return errors ? { error: errors[0].extensions.code } : data;
    };
    const seen = { node: { id: automation.id }, organization: { automations: { nodes: [{ id: automation.id }] } } };
    const viewer = await makeMember(test, organizationId, 'VIEW_ORG_AUTOMATIONS');
    const manager = await makeMember(test, organizationId, 'MANAGE_ORG_AUTOMATIONS');
    const other = await makeMember(test, organizationId, 'VIEW_ORG_SESSIONS');
    expect(await read(viewer.token)).toEqual(seen);
    expect(await read(manager.token)).toEqual(seen);
    expect(await read(other.token)).toEqual({ error: 'FORBIDDEN' });
    expect((await update({ automationId, name: 'Mine' }, manager.token)).automation.name).toBe('Mine');
    expect(await update({ automationId, name: 'x' }, viewer.token)).toMatchObject({ error: 'FORBIDDEN' });
    expect(await update({ automationId, name: 'x' }, other.token)).toMatchObject({ error: 'FORBIDDEN' });
    for (const as of [viewer.token, other.token]) {
      expect(await create({ organizationId }, as)).toMatchObject({ error: 'FORBIDDEN' });
    }
    const stranger = await world();
    expect(await update({ automationId, name: 'x' }, stranger.token)).toMatchObject({ error: 'NOT_FOUND' });
    expect(await create({ organizationId }, stranger.token)).toMatchObject({ error: 'NOT_FOUND' });
  });

  it('let an automation run as a creator who holds them', async () => {
    const { organizationId } = await world();
    const user = await makeUser(test, { organizationId, roleId: 'org_admin' });
    const { automation } = await create({ runAs: { type: 'CREATOR' } }, user.token);
    expect(automation.runAs).toEqual({ type: 'CREATOR', user: { userId: user.userId } });
    const weak = await makeMember(test, organizationId, 'MANAGE_ORG_AUTOMATIONS');
    expect(await create({ runAs: { type: 'CREATOR' } }, weak.token)).toMatchObject({ error: 'FORBIDDEN' });
  });

  it('apply per organization: a key that can act in several must name one', async () => {
    await world();
    const unnamed = await create({ organizationId: undefined });
    expect(unnamed.userErrors).toMatchObject([{ code: 'INVALID_INPUT', path: ['input', 'organizationId'] }]);
    const { organizationId } = await world();
    const personal = await makeKey(test, { kind: 'SERVICE', organizationId });
    expect((await create({}, personal)).automation.organization).toEqual({ organizationId });
  });
});

it('reads runs and occurrences with the same statements for many automations as for few, and charges occurrences', async () => {
  for (let n = 0; n < 3; n++) {
    const { token } = await world();
    for (let each = 0; each < 3; each++) await create({}, token, 'id');
  }
  const query = `query($first: Int!) { organizations(first: $first) { nodes { automations(first: $first) {
    nodes { name organization { name } createdBy { __typename } nextRuns(count: 3) runs(first: 5) { nodes { session { title } } } } } } } }`;
  const few = await statementsOf(test, test.adminToken, query, { first: 1 });
  const many = await statementsOf(test, test.adminToken, query, { first: 3 });
  expect(many.data.organizations.nodes.map((node: any) => node.automations.nodes.length)).toEqual([3, 3, 3]);
  expect(many.statements).toHaveLength(few.statements.length);
  const { errors } = await graphql(
    test,
    test.adminToken,
    '{ organizations(first: 40) { nodes { automations(first: 20) { nodes { nextRuns(count: 20) } } } } }',
  );
  expect(errors?.[0].extensions.code).toBe('LIMIT_EXCEEDED');
});
