import { describe, expect, test } from 'vitest';
import { createRole } from '../../src/domain/identity/people/change-roles.ts';
import { upload } from '../support/uploads.ts';
import { useApp } from '../support/use-app.ts';
import { asAdministrator, call, makeOrganization, makeServiceUser, makeUser } from './rest-app.ts';

const app = useApp();

const enterprise = '/v3/enterprise/sessions';
const start = async (organizationId: string, body: object = {}, token: string = app.adminToken): Promise<string> =>
  (await call(app, token, 'POST', `/v3/organizations/${organizationId}/sessions`, { prompt: 'x', ...body })).body
    .session_id;
const list = (query: string, token: string = app.adminToken) => call(app, token, 'GET', `${enterprise}${query}`);
const idsOf = (answer: { body: { items: { session_id: string }[] } }) =>
  answer.body.items.map(({ session_id }) => session_id);

let roles = 0;
/** A service user of the enterprise with exactly these permissions. */
async function withPermissions(...permissions: ('ViewAccountSessions' | 'ManageAccountSessions')[]) {
  roles += 1;
  const { id: roleId } = await createRole(await asAdministrator(app), {
    name: `Role ${roles}`,
    scope: 'enterprise',
    permissions: [...permissions],
  });
  return (await makeServiceUser(app, { roleId })).token;
}

describe('the list', () => {
  test('pages over all organizations, newest first, each session once', async () => {
    const organizations = [await makeOrganization(app), await makeOrganization(app), await makeOrganization(app)];
    const ids: string[] = [];
    for (let n = 0; n < 9; n++) ids.push(await start(organizations[n % 3] as string));
    const query = organizations.map((id) => `&org_ids=org-${id}`).join('');
    const seen: string[] = [];
    for (let after = ''; ; ) {
      const { status, body } = await list(`?first=2${query}${after}`);
      expect(status).toBe(200);
      seen.push(...body.items.map((item: any) => item.session_id));
      if (!body.has_next_page) break;
      after = `&after=${body.end_cursor}`;
    }
    expect(seen).toEqual(ids.toReversed());
    // Without organizations: the sessions of all of them in the same order.
    const all = await list('?first=9');
    expect(idsOf(all)).toEqual(ids.toReversed());
    expect(all.body.items[0].org_id).toBe(`org-${organizations[2]}`);
    const [first] = organizations;
    expect(idsOf(await list(`?org_id=${first}`))).toEqual([ids[6], ids[3], ids[0]]);
    expect(idsOf(await list(`?org_ids=org-${first},org-org-${organizations[1]}&first=3`))).toEqual([
      ids[7],
      ids[6],
      ids[4],
    ]);
  });

  test('accepts the filters of an organization’s list', async () => {
    const organizationId = await makeOrganization(app);
    const tagged = await start(organizationId, { tags: ['enterprise-wide'] });
    const hidden = await start(organizationId, { unlisted: true });
    expect(idsOf(await list('?tags=enterprise-wide'))).toEqual([tagged]);
    expect(idsOf(await list(`?org_ids=${organizationId}`))).toEqual([tagged]);
    expect(idsOf(await list(`?session_ids=${hidden}`))).toEqual([hidden]);
    expect(idsOf(await list(`?org_ids=${organizationId}&category=security`))).toEqual([]);
    expect((await list(`/insights?session_ids=${tagged}`)).body.items).toMatchObject([
      { session_id: tagged, num_user_messages: 1, session_size: 'xs' },
    ]);
  });

  test('omits unknown and deleted organizations', async () => {
    const organizationId = await makeOrganization(app);
    const id = await start(organizationId);
    expect(idsOf(await list('?org_ids=org-00000000000000000000000000000000'))).toEqual([]);
    expect(idsOf(await list('?org_ids=nonsense'))).toEqual([]);
    expect(idsOf(await list(`?org_ids=nonsense&org_ids=${organizationId}`))).toEqual([id]);
    await call(app, app.adminToken, 'DELETE', `/v3/enterprise/organizations/org-${organizationId}`);
    expect(idsOf(await list(`?org_ids=${organizationId}`))).toEqual([]);
    expect(idsOf(await list('?first=200'))).not.toContain(id);
    expect((await list(`/${id}`)).status).toBe(404);
  });

  test('422: more than 100 organizations, a bad page, a cursor of another list', async () => {
    const many = Array.from({ length: 101 }, (_, n) => `org_ids=${n.toString(16).padStart(32, '0')}`).join('&');
    expect(await list(`?${many}`)).toMatchObject({
      status: 422,
      body: {
        detail: [{ loc: ['query', 'org_ids'], msg: '"org_ids" must be at most 100 organizations, but were 101.' }],
      },
    });
    expect((await list('?first=201')).status).toBe(422);
    expect((await list('?after=nonsense')).body.detail[0]).toMatchObject({ type: 'bad_cursor' });
  });
});

describe('one session', () => {
  const read = ['', '/messages', '/tags', '/insights', '/attachments'];
  const acts: [string, string, object?][] = [
    ['POST', '/messages', { message: 'hello' }],
    ['POST', '/tags', { tags: ['a'] }],
    ['PUT', '/tags', { tags: ['b'] }],
    ['POST', '/insights/generate'],
    ['POST', '/interrupt'],
    ['POST', '/archive'],
    ['POST', '/unarchive'],
    ['DELETE', '?archive=true'],
  ];

  test('ViewAccountSessions reads and lists, ManageAccountSessions changes, in every organization', async () => {
    const organizationId = await makeOrganization(app);
    const id = await start(organizationId);
    const viewer = await withPermissions('ViewAccountSessions');
    const manager = await withPermissions('ManageAccountSessions');
    expect((await list(`?org_ids=${organizationId}`, viewer)).status).toBe(200);
    expect((await list(`?org_ids=${organizationId}`, manager)).body.detail).toBe(
      'Missing permission ViewAccountSessions',
    );
    for (const path of read) {
      const answer = await call(app, viewer, 'GET', `${enterprise}/devin-${id}${path}`);
      expect({ path, status: answer.status }).toEqual({ path, status: 200 });
      const refused = await call(app, manager, 'GET', `${enterprise}/${id}${path}`);
      expect({ path, status: refused.status, detail: refused.body.detail }).toEqual({
        path,
        status: 403,
        detail: 'Missing permission ViewAccountSessions',
      });
    }
    for (const [method, path, body] of acts) {
      const refused = await call(app, viewer, method, `${enterprise}/${id}${path}`, body);
      expect({ path, status: refused.status, detail: refused.body.detail }).toEqual({
        path,
        status: 403,
        detail: 'Missing permission ManageAccountSessions',
      });
      const done = await call(app, manager, method, `${enterprise}/${id}${path}`, body);
      expect({ path, status: done.status }).toEqual({ path, status: 200 });
    }
    // This role grants nothing on the organizations' own paths.
    for (const token of [viewer, manager]) {
      expect((await call(app, token, 'GET', `/v3/organizations/${organizationId}/sessions/${id}`)).status).toBe(403);
      expect((await call(app, token, 'DELETE', `/v3/organizations/${organizationId}/sessions/${id}`)).status).toBe(403);
    }
    expect((await call(app, viewer, 'GET', `${enterprise}/${id}`)).body).toMatchObject({
      status: 'exit',
      is_archived: true,
      tags: ['b'],
    });
  });

  test('has the same attachments as on the organization’s path', async () => {
    const organizationId = await makeOrganization(app);
    const path = `/v3/organizations/org-${organizationId}`;
    const form = { name: 'notes.txt', content: 'trains' };
    const { body: file } = await upload(app, app.adminToken, `${path}/attachments`, form);
    const id = await start(organizationId, { attachment_urls: [file.url] });
    const own = (await call(app, app.adminToken, 'GET', `${path}/sessions/${id}/attachments`)).body.items;
    const { status, body } = await call(app, app.adminToken, 'GET', `${enterprise}/devin-${id}/attachments`);
    expect({ status, total: body.total, next: body.has_next_page }).toEqual({ status: 200, total: null, next: false });
    expect(body.items.map(({ attachment_id }: any) => attachment_id)).toEqual([file.attachment_id]);
    expect(body.items[0]).toEqual({ ...own[0], url: expect.any(String) });
    expect(await (await fetch(body.items[0].url)).text()).toBe('trains');
    const other = await makeOrganization(app);
    const missing = await call(app, app.adminToken, 'GET', `${enterprise}/${id}/attachments?org_id=${other}`);
    expect(missing.status).toBe(404);
    expect((await call(app, app.adminToken, 'GET', `${enterprise}/${id}/attachments?first=0`)).status).toBe(422);
  });

  test('org_id: must be the organization of the session', async () => {
    const [one, two] = [await makeOrganization(app), await makeOrganization(app)];
    const id = await start(one);
    const get = (query: string) => call(app, app.adminToken, 'GET', `${enterprise}/${id}${query}`);
    expect((await get(`?org_id=org-${one}`)).status).toBe(200);
    expect((await get('?org_id=')).status).toBe(200);
    expect((await get(`?org_id=${two}`)).status).toBe(404);
    expect((await get('?org_id=nonsense')).status).toBe(404);
    expect((await call(app, app.adminToken, 'DELETE', `${enterprise}/${id}?org_id=${two}`)).status).toBe(404);
    expect((await get('')).body.status).toBe('new');
  });

  test('an organization’s administrator has no access', async () => {
    const organizationId = await makeOrganization(app);
    const { v3Token } = await makeUser(app, organizationId, 'org_admin');
    const id = await start(organizationId, {}, v3Token);
    expect((await list('', v3Token)).status).toBe(403);
    for (const [method, path, body] of [...acts, ...read.map((path) => ['GET', path] as const)]) {
      const { status } = await call(app, v3Token, method, `${enterprise}/${id}${path}`, body);
      expect({ method, path, status }).toEqual({ method, path, status: 403 });
    }
  });
});
