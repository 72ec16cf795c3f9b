import { describe, expect, test } from 'vitest';
import { readAuditActions } from '../support/knowledge.ts';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeServiceKey, makeUser } from './rest-app.ts';

const app = useApp();

const path = '/v1/playbooks';
const playbook = { title: 'Release', body: 'Tag, build, publish.' };
const missing = `playbook-${'0'.repeat(32)}`;
const bare = (id: string) => id.replace(/^\w+-/, '');

/** A separate organization, with the keys of an admin and of a service user. */
async function open() {
  const organizationId = await makeOrganization(app);
  const { v1Key, userId } = await makeUser(app, organizationId, 'org_admin');
  const mine = (method: string, to: string, body?: unknown) => call(app, v1Key, method, to, body);
  return { organizationId, userId, mine, serviceKey: await makeServiceKey(app, organizationId) };
}

describe('/v1/playbooks', () => {
  test('POST returns all fields of the version, and so does GET', async () => {
    const { mine, userId, organizationId, serviceKey } = await open();
    const made = await mine('POST', path, { ...playbook, macro: '!release' });
    expect(made.status).toBe(200);
    expect(made.body).toEqual({
      playbook_id: expect.stringMatching(/^playbook-[0-9a-f]{32}$/),
      ...playbook,
      status: 'published',
      access_type: 'team',
      org_id: `org-${organizationId}`,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
      updated_at: made.body.created_at,
      created_by_user_id: `user-${userId}`,
      created_by_user_name: expect.stringMatching(/^Person/),
      updated_by_user_id: `user-${userId}`,
      updated_by_user_name: made.body.created_by_user_name,
      macro: '!release',
    });
    for (const form of [made.body.playbook_id, bare(made.body.playbook_id)]) {
      expect((await mine('GET', `${path}/${form}`)).body).toEqual(made.body);
    }
    const byService = (await call(app, serviceKey, 'POST', path, playbook)).body;
    expect(byService).toMatchObject({ created_by_user_id: null, created_by_user_name: null, macro: null });
    expect((await mine('GET', path)).body).toEqual([byService, made.body]);
  });

  test('the list is a plain array of the organization’s own playbooks', async () => {
    const { mine } = await open();
    const shared = (await call(app, app.adminToken, 'POST', '/v3/enterprise/playbooks', playbook)).body;
    expect((await mine('GET', path)).body).toEqual([]);
    expect((await mine('GET', `${path}/${shared.playbook_id}`)).body).toMatchObject({ access_type: 'enterprise' });
    expect((await mine('DELETE', `${path}/${shared.playbook_id}`)).status).toBe(403);
  });

  test('PUT keeps an omitted macro and clears it for null', async () => {
    const { mine, organizationId } = await open();
    const made = (await mine('POST', path, { ...playbook, macro: '!m' })).body;
    const to = `${path}/${made.playbook_id}`;
    const updated = (await mine('PUT', to, { ...playbook, title: 'New' })).body;
    expect(updated).toEqual({ ...made, title: 'New', updated_at: updated.updated_at });
    expect((await mine('PUT', to, { ...playbook, macro: null })).body.macro).toBeNull();
    expect((await readAuditActions(app, organizationId, '_playbook')).map(({ action }) => action)).toEqual([
      'create_playbook',
      'update_playbook',
      'update_playbook',
    ]);
  });

  test('PUT keeps the schema, which this version does not know', async () => {
    const { mine, organizationId } = await open();
    const at = `/v3/organizations/${organizationId}/playbooks`;
    const input = { ...playbook, structured_output_schema: { type: 'object' } };
    const { playbook_id } = (await call(app, app.adminToken, 'POST', at, input)).body;
    await mine('PUT', `${path}/${playbook_id}`, { ...playbook, title: 'New' });
    expect((await call(app, app.adminToken, 'GET', `${at}/${playbook_id}`)).body).toMatchObject({
      title: 'New',
      structured_output_schema: { type: 'object' },
    });
  });

  test('DELETE returns {status: "success"}, and its macro is available again', async () => {
    const { mine } = await open();
    const made = (await mine('POST', path, { ...playbook, macro: '!m' })).body;
    const to = `${path}/${made.playbook_id}`;
    expect(await mine('POST', path, { ...playbook, macro: '!M' })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('"macro" is already in use') },
    });
    expect(await mine('DELETE', to)).toMatchObject({ status: 200, body: { status: 'success' } });
    for (const method of ['GET', 'DELETE']) expect((await mine(method, to)).status).toBe(404);
    expect((await mine('GET', path)).body).toEqual([]);
    expect((await mine('POST', path, { ...playbook, macro: '!M' })).status).toBe(200);
  });

  test.each([
    ['an empty title', { title: '' }, 'title'],
    ['no title', { title: undefined }, 'title'],
    ['an empty body', { body: '' }, 'body'],
    ['a macro without its mark', { macro: 'release' }, 'macro'],
    ['a number as macro', { macro: 7 }, 'macro'],
  ])('%s is 422 at the field', async (_what, wrong, field) => {
    const { mine } = await open();
    const { status, body } = await mine('POST', path, { ...playbook, ...wrong });
    expect({ status, loc: body.detail[0].loc }).toEqual({ status: 422, loc: ['body', field] });
    expect(body.detail[0].msg).toContain(`"${field}"`);
    expect((await mine('GET', path)).body).toEqual([]);
  });

  test('a reader gets 403; another organization’s playbook is answered like an unknown one', async () => {
    const { mine, organizationId } = await open();
    const other = await open();
    const { playbook_id } = (await mine('POST', path, playbook)).body;
    const { v1Key } = await makeUser(app, organizationId);
    expect((await call(app, v1Key, 'GET', `${path}/${playbook_id}`)).status).toBe(200);
    for (const [method, to, body] of [
      ['POST', path, playbook],
      ['PUT', `${path}/${playbook_id}`, playbook],
      ['DELETE', `${path}/${playbook_id}`],
    ] as const) {
      expect((await call(app, v1Key, method, to, body)).status).toBe(403);
    }
    for (const [method, body] of [['GET'], ['PUT', playbook], ['DELETE']] as const) {
      const [foreign, never] = [
        await other.mine(method, `${path}/${playbook_id}`, body),
        await other.mine(method, `${path}/${missing}`, body),
      ];
      expect([foreign.status, foreign.body]).toEqual([404, never.body]);
    }
    expect((await mine('GET', `${path}/${playbook_id}`)).body.title).toBe('Release');
  });
});
