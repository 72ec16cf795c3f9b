import { describe, expect, test } from 'vitest';
import { seedSession, use } from '../support/usage.ts';
import { useApp } from '../support/use-app.ts';
import { call, makeManager, makeOrganization, makeServiceUser } from './rest-app.ts';

const app = useApp();

const admin = (method: string, path: string, body?: unknown) => call(app, app.adminToken, method, path, body);

const resources = [
  {
    resource: 'note',
    of: '/knowledge/notes',
    permission: 'ManageAccountKnowledge',
    body: { name: 'Deploys', trigger: 'When deploying', body: 'Never on a Friday.' },
    change: { name: 'Releases' },
  },
  {
    resource: 'playbook',
    of: '/playbooks',
    permission: 'ManageAccountPlaybooks',
    body: { title: 'Release', body: 'Tag, build, publish.' },
    change: { title: 'Publish' },
  },
] as const;

describe.each(resources)('a $resource of the enterprise', ({ resource, of, permission, body, change }) => {
  const collection = `/v3/enterprise${of}`;
  const missing = `${collection}/${resource}-${'0'.repeat(32)}`;
  const make = async (at = collection) => (await admin('POST', at, body)).body;
  const idOf = (made: Record<string, string>) => made[`${resource}_id`] as string;

  test('GET, PUT and DELETE {id} return it; then it is unknown', async () => {
    const made = await make();
    const path = `${collection}/${idOf(made)}`;
    expect(await admin('GET', path)).toMatchObject({ status: 200, body: made });
    const changed = { ...made, ...change, updated_at: expect.any(Number) };
    expect(await admin('PUT', path, { ...body, ...change })).toMatchObject({ status: 200, body: changed });
    expect((await admin('GET', path)).body).toEqual(changed);
    expect(await admin('DELETE', path)).toMatchObject({ status: 200, body: change });
    for (const method of ['GET', 'DELETE']) expect((await admin(method, path)).status).toBe(404);
    expect((await admin('PUT', path, body)).status).toBe(404);
  });

  test('an organization’s can be changed here too, and stays the organization’s', async () => {
    const id = await makeOrganization(app);
    const own = `/v3/organizations/${id}${of}`;
    const made = await make(own);
    const path = `${collection}/${idOf(made)}`;
    expect(await admin('PUT', path, { ...body, ...change })).toMatchObject({
      status: 200,
      body: { ...change, access_type: 'org', org_id: `org-${id}` },
    });
    expect((await admin('GET', `${own}/${idOf(made)}`)).body).toMatchObject(change);
    expect((await admin('DELETE', path)).status).toBe(200);
    expect((await admin('GET', `${own}/${idOf(made)}`)).status).toBe(404);
  });

  test('403 without the permission for any id; it stays unchanged', async () => {
    const made = await make();
    const { token } = await makeServiceUser(app, { roleId: 'account_member' });
    for (const path of [`${collection}/${idOf(made)}`, missing]) {
      for (const [method, sent] of [
        ['PUT', body],
        ['DELETE', undefined],
      ] as const) {
        const refused = await call(app, token, method, path, sent);
        expect({ status: refused.status, detail: refused.body.detail }).toEqual({
          status: 403,
          detail: `Missing permission ${permission}`,
        });
      }
    }
    expect((await admin('GET', `${collection}/${idOf(made)}`)).body).toEqual(made);
    const manager = await makeManager(app, permission);
    expect((await call(app, manager, 'DELETE', `${collection}/${idOf(made)}`)).status).toBe(200);
  });
});

test('GET …/consumption/daily/service-users/{service_user_id} of an organization returns its usage there', async () => {
  const [here, there] = [await makeOrganization(app), await makeOrganization(app)];
  const { serviceUserId } = await makeServiceUser(app, { roleId: 'account_admin' });
  const other = await makeServiceUser(app, { organizationId: here, roleId: 'org_member' });
  const createdAt = '2026-03-01';
  const sessions = [
    [here, serviceUserId, 2],
    [there, serviceUserId, 4],
    [here, other.serviceUserId, 8],
  ] as const;
  for (const [organizationId, robot, acus] of sessions) {
    const session = await seedSession(app, { organizationId, serviceUserId: robot, createdAt });
    await use(app, session, acus, '2026-03-02T12:00:00.000Z');
  }
  const after = Date.parse('2026-03-01') / 1_000;
  const query = `?time_after=${after}&time_before=${after + 10 * 86_400}`;
  const read = (id: string, robot: string) =>
    admin('GET', `/v3/organizations/${id}/consumption/daily/service-users/${robot}${query}`);
  expect(await read(here, serviceUserId)).toMatchObject({ status: 200, body: { total_acus: 2 } });
  expect((await read(there, serviceUserId)).body.total_acus).toBe(4);
  expect((await read(here, `service-user-${other.serviceUserId}`)).body.total_acus).toBe(8);
  expect((await read(here, '0'.repeat(32))).status).toBe(404);
});
