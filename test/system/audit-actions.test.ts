import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authenticate } from '../../src/auth/authenticate.ts';
import { auditActions } from '../../src/domain/audit/record-audit.ts';
import { prefixedId } from '../../src/domain/ids.ts';
import { newAdministratorToken, prepareInstallation } from '../../src/domain/installation/bootstrap.ts';
import { makeOrganization, makeServiceUser, startApp, type TestApp } from '../rest/rest-app.ts';
import { graphql } from '../support/app.ts';
import { secretCanary } from '../support/leaks.ts';
import { readText, treeFiles } from '../support/tree.ts';
import { auditedActions } from './audit-actions.ts';
import { type Actor, agentText, createActor } from './audit-actor.ts';

let app: TestApp;
/** The caller of all actions: a separate account_admin. */
let robot: { serviceUserId: string; token: string; apiKeyId: string };
let actor: Actor;
beforeAll(async () => {
  app = await startApp();
  const made = await makeServiceUser(app, { roleId: 'account_admin' });
  const { apiKeyId } = await authenticate(app.app.services, made.token, null);
  robot = { ...made, apiKeyId: prefixedId('apiKey', apiKeyId ?? '') };
  actor = createActor(app, robot.token);
});
afterAll(() => app.close());

/** The entries of an action that the robot has written, newest first. */
async function entriesOf(action: string): Promise<any[]> {
  const { data, errors } = await graphql(
    app,
    robot.token,
    `{ enterprise { auditLog(filter: { actions: [${action.toUpperCase()}] actorId: "${robot.serviceUserId}" }) { nodes {
      action targetId organizationId session { sessionId } actor { ... on ServiceUser { serviceUserId } }
      apiKeyId address createdAt } } } }`,
  );
  expect(errors).toBeUndefined();
  return data.enterprise.auditLog.nodes;
}

describe.each(Object.entries(auditedActions))('%s', (action, run) => {
  test('writes one entry with its actor, key, address, time, organization and target', async () => {
    const organization = prefixedId('organization', await makeOrganization(app));
    const before = Date.now();
    const expected = await run(actor, organization);
    const found = (await entriesOf(action)).filter(({ createdAt }) => Date.parse(createdAt) >= before);
    expect(found).toEqual([
      {
        action: action.toUpperCase(),
        targetId: expected.target,
        organizationId: expected.organization,
        session: expected.session ? { sessionId: expected.session } : null,
        actor: { serviceUserId: prefixedId('serviceUser', robot.serviceUserId) },
        apiKeyId: robot.apiKeyId,
        address: expect.stringMatching(/^(127\.0\.0\.1|::1)$/),
        createdAt: expect.any(String),
      },
    ]);
    expect(Date.parse(found[0].createdAt)).toBeLessThanOrEqual(Date.now());
  });
});

test('no entry contains a text for an agent or the value of a secret', async () => {
  const organization = prefixedId('organization', await makeOrganization(app));
  for (const action of ['send_message', 'create_secret', 'edit_knowledge', 'update_playbook'] as const) {
    await auditedActions[action]?.(actor, organization);
  }
  const { store } = app.app.services;
  const holding = (table: string) =>
    store.query<{ n: number }>(`select count(*)::int as n from ${table} t where t::text ~ $1`, [
      `${agentText}|${secretCanary}`,
    ]);
  // The search works: it finds the texts where they belong.
  expect((await holding('log_entry'))[0]?.n).toBeGreaterThan(0);
  expect(await holding('audit_entry')).toEqual([{ n: 0 }]);
});

test('a token created or restored on the host is recorded as the service’s own action', async () => {
  const { services, installation } = app.app;
  const token = await newAdministratorToken(services, installation.enterpriseId);
  const { apiKeyId } = await authenticate(services, token, null);
  const written = () =>
    services.store.query(
      `select data->>'isRestored' as restored, user_id, service_user_id, api_key_id, address from audit_entry
        where action = 'create_service_user_api_key' and target_id = $1 order by created_at, id`,
      [apiKeyId],
    );
  const bySystem = { 'user_id': null, 'service_user_id': null, 'api_key_id': null, address: null };
  expect(await written()).toEqual([{ restored: 'false', ...bySystem }]);
  const start = { bootstrapToken: token, isKeyGenerated: false, isShared: true };
  // The token is already active, so nothing changes.
  await prepareInstallation(services, start);
  expect(await written()).toHaveLength(1);
  await services.store.execute('update api_key set revoked_at = now() where id = $1', [apiKeyId]);
  await prepareInstallation(services, start);
  expect((await written())[1]).toEqual({ restored: 'true', ...bySystem });
});

test('every action that the domain writes is tested here', () => {
  const sources = treeFiles()
    .filter((path) => /^src\/domain\/.*\.ts$/.test(path) && !/^src\/domain\/audit(?:-actions)?\.ts$/.test(path))
    .map(readText)
    .join('\n');
  const written = Object.keys(auditActions).filter((action) => sources.includes(`'${action}'`));
  expect(written.length).toBeGreaterThan(20);
  // Written for agents, without a key or an address: session-repositories.test.ts and pull-request-tools.test.ts test them.
  const ofAgents = ['push_commits', 'update_pull_request', 'reply_to_pull_request', 'submit_review'];
  // Written by the service itself: retention.test.ts.
  const elsewhere = [...ofAgents, 'delete_session'];
  const missing = written.filter((action) => !Object.hasOwn(auditedActions, action) && !elsewhere.includes(action));
  expect(missing, `Add to test/system/audit-actions.ts, each through a door: ${missing.join(', ')}`).toEqual([]);
});
