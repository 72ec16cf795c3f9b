import { expect, test } from 'vitest';
import { readAuditActions } from '../support/knowledge.ts';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeServiceKey, makeUser } from './rest-app.ts';

const app = useApp();

const path = '/v2/enterprise/playbooks';
const playbook = { title: 'Release', body: 'Tag, build, publish.', macro: '!release' };
const missing = `playbook-${'0'.repeat(32)}`;
const make = async (at: string) => (await call(app, app.adminToken, 'POST', at, playbook)).body.playbook_id;

test('DELETE marks playbooks of the enterprise and of its organizations as deleted, and frees their macros', async () => {
  const organizationId = await makeOrganization(app);
  for (const at of ['/v3/enterprise/playbooks', `/v3/organizations/${organizationId}/playbooks`]) {
    const id = await make(at);
    expect(await call(app, app.v1Key, 'DELETE', `${path}/${id}`)).toMatchObject({
      status: 200,
      body: { status: 'success' },
    });
    expect((await call(app, app.adminToken, 'GET', `${at}/${id}`)).status).toBe(404);
    expect((await call(app, app.v1Key, 'DELETE', `${path}/${id}`)).status).toBe(404);
    expect(await make(at)).not.toBe(id);
  }
  expect(await readAuditActions(app, organizationId, 'delete_playbook')).toHaveLength(1);
});

test('keys of other roles than administrator get 403 for any id', async () => {
  const organizationId = await makeOrganization(app);
  const at = `/v3/organizations/${organizationId}/playbooks`;
  const id = await make(at);
  const { v1Key } = await makeUser(app, organizationId, 'org_admin');
  for (const key of [v1Key, await makeServiceKey(app, organizationId)]) {
    for (const each of [id, missing]) expect((await call(app, key, 'DELETE', `${path}/${each}`)).status).toBe(403);
  }
  expect((await call(app, app.adminToken, 'DELETE', `${path}/${id}`)).status).toBe(401);
  expect((await call(app, app.adminToken, 'GET', `${at}/${id}`)).status).toBe(200);
});
