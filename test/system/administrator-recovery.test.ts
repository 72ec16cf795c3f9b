import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseId } from '../../src/domain/ids.ts';
import { newAdministratorToken, prepareInstallation } from '../../src/domain/installation/bootstrap.ts';
import { call, makeUser, startApp, type TestApp } from '../rest/rest-app.ts';
import { graphql } from '../support/app.ts';
import { mutate } from '../support/mutations.ts';
import { makeRole, runMutation } from '../support/people.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

async function permissionsOf(token: string): Promise<readonly string[] | undefined> {
  return (await graphql(app, token, '{ viewer { permissions } }')).data?.viewer.permissions;
}

async function ownerOf(token: string): Promise<string> {
  return (await call(app, token, 'GET', '/v3/self')).body.service_user_id;
}

// Before the initial administrator is deleted.
test('creates no key for an owner or with a role that is deleted meanwhile', async () => {
  const token = app.adminToken;
  const { store } = app.app.services;
  const { userId } = await makeUser(app, app.organizationId);
  const role = await makeRole(app, 'ORGANIZATION', ['USE_SESSIONS'], token);
  const organizationId = app.organizationId;
  const roleId = parseId('role', role.roleId);
  const ofUser = { kind: { personalAccessToken: { userId } }, name: 'late' };
  const withRole = { kind: { service: { scope: { organizationId }, roleId: role.roleId } }, name: 'late' };
  const answers = await store.transact(async (tx) => {
    await tx.query('select 1 from user_account where id = $1 for update', [userId]);
    await tx.query('select 1 from role where id = $1 for update', [roleId]);
    const requests = [mutate(app, token, 'createApiKey', ofUser), mutate(app, token, 'createApiKey', withRole)];
    await new Promise((resolve) => setTimeout(resolve, 500));
    await tx.query('update user_account set deleted_at = now() where id = $1', [userId]);
    await tx.query('delete from role where id = $1', [roleId]);
    return { requests };
  });
  const [user, service] = await Promise.all(answers.requests);
  expect(user?.errors?.[0].extensions.code).toBe('NOT_FOUND');
  expect(service?.payload).toMatchObject({ token: null, userErrors: [{ code: 'UNKNOWN_REFERENCE' }] });
  const [late] = await store.query<{ n: number }>(`select count(*)::int as n from api_key where name = 'late'`, []);
  expect(late?.n).toBe(0);
});

test('a token created on the host has all permissions, even after changes to the administrator', async () => {
  const { services, installation } = app.app;
  const make = () => newAdministratorToken(services, installation.enterpriseId);
  const first = await make();
  const all = await permissionsOf(first);
  expect(all).toContain('MANAGE_ENTERPRISE_SETTINGS');
  expect(await ownerOf(await make())).toBe(await ownerOf(first));

  const serviceUserId = await ownerOf(first);
  await runMutation(
    app,
    'assignRole',
    'serviceUser { id }',
    { principal: { serviceUserId }, scope: { enterprise: true }, roleId: 'account_member' },
    first,
  );
  expect(await permissionsOf(first)).toEqual(['READ_ACCOUNT_META']);
  const second = await make();
  expect(await permissionsOf(second)).toEqual(all);

  const another = await ownerOf(second);
  await runMutation(app, 'deleteServiceUser', 'deletedServiceUserId', { serviceUserId: another }, second);
  expect(await permissionsOf(second)).toBeUndefined();

  // Every start ensures that BOOTSTRAP_TOKEN works, even if its owner was deleted, and stores it only once.
  const start = { bootstrapToken: second, isKeyGenerated: false, isShared: true };
  await prepareInstallation(services, start);
  expect(await permissionsOf(second)).toEqual(all);
  const third = await ownerOf(second);
  await runMutation(
    app,
    'updateServiceUser',
    'serviceUser { id }',
    { serviceUserId: third, name: 'Of the host' },
    second,
  );
  await prepareInstallation(services, start);
  expect(await ownerOf(second)).toBe(third);
});
