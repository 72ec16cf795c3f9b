import { describe, expect, test } from 'vitest';
import { makeFolders, readAuditActions } from '../support/knowledge.ts';
import { useApp } from '../support/use-app.ts';
import { asAdministrator, call, makeOrganization, makeServiceKey, makeUser } from './rest-app.ts';

const app = useApp();

const path = '/v1/knowledge';
const note = { name: 'Deploys', body: 'Never on a Friday.', trigger_description: 'When deploying' };
const missing = `note-${'0'.repeat(32)}`;
const bare = (id: string) => id.replace(/^\w+-/, '');

/** A separate organization, with the keys of an admin and of a service user. */
async function open() {
  const organizationId = await makeOrganization(app);
  const { v1Key, userId } = await makeUser(app, organizationId, 'org_admin');
  const mine = (method: string, to: string, body?: unknown) => call(app, v1Key, method, to, body);
  return { organizationId, userId, mine, serviceKey: await makeServiceKey(app, organizationId) };
}

describe('/v1/knowledge', () => {
  test('POST returns all its fields, and its creator', async () => {
    const { mine, userId, organizationId, serviceKey } = await open();
    const folder = await makeFolders(await asAdministrator(app), { organizationId }, 'Team/Ops');
    const input = { ...note, parent_folder_id: `folder-${folder}`, pinned_repo: 'acme/api', macro: '!deploys' };
    const made = await mine('POST', path, input);
    expect(made.status).toBe(200);
    expect(made.body).toEqual({
      id: expect.stringMatching(/^note-[0-9a-f]{32}$/),
      ...input,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
      created_by: { full_name: expect.stringMatching(/^Person/), id: `user-${userId}`, image_url: null },
    });
    const byService = (await call(app, serviceKey, 'POST', path, note)).body;
    expect(byService).toMatchObject({ parent_folder_id: null, pinned_repo: null, macro: null, created_by: null });
    const list = (await mine('GET', path)).body;
    expect(list.knowledge).toEqual([byService, made.body]);
    expect(list.folders.map(({ name }: { name: string }) => name)).toEqual(['Team', 'Ops']);
    expect(list.folders[1]).toEqual({
      id: `folder-${folder}`,
      name: 'Ops',
      description: '',
      created_at: expect.stringMatching(/Z$/),
    });
  });

  test('an organization without notes has two empty lists', async () => {
    const { mine } = await open();
    expect((await mine('GET', path)).body).toEqual({ folders: [], knowledge: [] });
  });

  test('PUT clears omitted fields, DELETE is 204 without a body, and both are audited', async () => {
    const { mine, organizationId } = await open();
    const made = (await mine('POST', path, { ...note, pinned_repo: 'all', macro: '!m' })).body;
    const put = await mine('PUT', `${path}/${made.id}`, { ...note, name: 'Renamed' });
    expect(put).toMatchObject({ status: 200, body: { ...made, name: 'Renamed', pinned_repo: null, macro: null } });
    expect(await mine('DELETE', `${path}/${bare(made.id)}`)).toMatchObject({ status: 204, body: null });
    expect(await mine('DELETE', `${path}/${made.id}`)).toMatchObject({
      status: 404,
      body: { detail: 'The requested resource does not exist' },
    });
    expect((await mine('PUT', `${path}/${made.id}`, note)).status).toBe(404);
    expect((await readAuditActions(app, organizationId, '_knowledge')).map(({ action }) => action)).toEqual([
      'create_knowledge',
      'edit_knowledge',
      'delete_knowledge',
    ]);
  });

  test('errors name the fields of this version', async () => {
    const { mine } = await open();
    for (const [wrong, field] of [
      [{ trigger_description: '' }, 'trigger_description'],
      [{ trigger_description: undefined }, 'trigger_description'],
      [{ name: '' }, 'name'],
      [{ pinned_repo: 'x' }, 'pinned_repo'],
      [{ macro: 'x' }, 'macro'],
      [{ parent_folder_id: 7 }, 'parent_folder_id'],
    ] as const) {
      const { status, body } = await mine('POST', path, { ...note, ...wrong });
      expect({ status, loc: body.detail[0].loc }).toEqual({ status: 422, loc: ['body', field] });
      expect(body.detail[0].msg).toContain(`"${field}"`);
    }
    const unknown = await mine('POST', path, { ...note, parent_folder_id: 'folder-x' });
    expect(unknown).toMatchObject({
      status: 400,
      body: { detail: '"parent_folder_id" refers to "folder-x", which is not a folder of this organization.' },
    });
    await mine('POST', path, { ...note, macro: '!taken' });
    const taken = await mine('POST', path, { ...note, macro: '!Taken' });
    expect(taken).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('"macro" is already in use') },
    });
    expect((await mine('GET', path)).body.knowledge).toHaveLength(1);
  });

  test('the macro is shown in version 3, whose PUT keeps it', async () => {
    const { mine, organizationId } = await open();
    const { id } = (await mine('POST', path, { ...note, macro: '!m' })).body;
    const to = `/v3/organizations/${organizationId}/knowledge/notes/${id}`;
    const { body } = await call(app, app.adminToken, 'PUT', to, { name: 'n', trigger: 't', body: 'b' });
    expect(body).toMatchObject({ name: 'n', macro: '!m' });
  });

  test('a reader gets 403; another organization’s note is answered like an unknown one', async () => {
    const { mine, organizationId } = await open();
    const other = await open();
    const { id } = (await mine('POST', path, note)).body;
    const { v1Key } = await makeUser(app, organizationId);
    expect((await call(app, v1Key, 'GET', path)).body.knowledge).toHaveLength(1);
    for (const [method, to, body] of [
      ['POST', path, note],
      ['PUT', `${path}/${id}`, note],
      ['DELETE', `${path}/${id}`],
    ] as const) {
      expect(await call(app, v1Key, method, to, body)).toMatchObject({
        status: 403,
        body: { detail: 'You do not have permission to access this resource' },
      });
      if (method === 'POST') continue;
      const [foreign, never] = [
        await other.mine(method, to, body),
        await other.mine(method, `${path}/${missing}`, body),
      ];
      expect([foreign.status, foreign.body]).toEqual([404, never.body]);
    }
    expect((await other.mine('GET', path)).body.knowledge).toEqual([]);
  });

  test('a long list is complete: each note once, newest first, in batches', async () => {
    const { mine, organizationId } = await open();
    const { store } = app.app.services;
    // Long bodies make small batches: four of these exceed the target size.
    await store.execute(
      `insert into knowledge_note (id, enterprise_id, organization_id, name, body, trigger, created_at, updated_at)
       select md5($2 || n), $1, $2, 'n' || n, repeat('b', case when n > 230 then 90000 else 10 end), 't',
              timestamptz '2026-01-01' + n / 3 * interval '1 second', timestamptz '2026-01-01'
         from generate_series(1, 260) n`,
      [app.app.installation.enterpriseId, organizationId],
    );
    const { knowledge } = (await mine('GET', path)).body;
    const order = await store.query<{ id: string }>(
      'select id from knowledge_note where organization_id = $1 order by created_at desc, id desc',
      [organizationId],
    );
    expect(knowledge.map(({ id }: { id: string }) => bare(id))).toEqual(order.map(({ id }) => id));
    expect(order).toHaveLength(260);
  });
});
