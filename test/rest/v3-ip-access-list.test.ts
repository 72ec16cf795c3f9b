import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connect, follow } from '../support/sockets.ts';
import { call, makeServiceUser, startApp, type TestApp } from './rest-app.ts';

let app: TestApp;
beforeAll(async () => {
  // One proxy is trusted, so that a test can set the address of a request.
  app = await startApp({ trustProxy: 1 });
});
afterAll(() => app.close());

const path = '/v3/enterprise/ip-access-list';
const home = '203.0.113.7';
const from = (address: string, method: string, target: string, body?: unknown, token = app.adminToken) =>
  call(app, token, method, target, body, { 'x-forwarded-for': address });

beforeEach(async () => {
  const { services, installation } = app.app;
  await services.store.execute(`update enterprise set ip_ranges = '{}' where id = $1`, [installation.enterpriseId]);
});

describe('the list', () => {
  test('is empty at first; POST adds, PUT replaces, DELETE clears; each returns the complete list', async () => {
    expect(await from(home, 'GET', path)).toMatchObject({ status: 200, body: { ip_ranges: [] } });
    const added = await from(home, 'POST', path, { ip_ranges: [`${home}/24`, '2001:DB8::1/32'] });
    expect(added).toMatchObject({ status: 200, body: { ip_ranges: ['203.0.113.0/24', '2001:db8::/32'] } });
    const more = await from(home, 'POST', path, { ip_ranges: ['::ffff:198.51.100.9', '203.0.113.99/24'] });
    expect(more.body).toEqual({ ip_ranges: ['203.0.113.0/24', '2001:db8::/32', '198.51.100.9'] });
    const replaced = await from(home, 'PUT', path, { ip_ranges: [home, `${home}/32`, '192.0.2.1/32'] });
    expect(replaced.body).toEqual({ ip_ranges: [home, '192.0.2.1/32'] });
    expect((await from(home, 'GET', path)).body).toEqual(replaced.body);
    expect((await from(home, 'DELETE', path)).body).toEqual({ ip_ranges: [] });
    expect((await from('198.51.100.77', 'GET', path)).status).toBe(200);
  });

  test('writes changes to the audit log, and nothing without a change', async () => {
    const entries = () =>
      app.app.services.store.query<{ data: object; address: string }>(
        `select data, address from audit_entry where action = 'update_enterprise_settings' order by created_at, id`,
      );
    const before = (await entries()).length;
    await from(home, 'PUT', path, { ip_ranges: [home, '10.0.0.0/8'] });
    await from(home, 'PUT', path, { ip_ranges: [home, '10.9.9.9/8'] });
    await from(home, 'POST', path, { ip_ranges: [] });
    await from(home, 'PUT', path, { ip_ranges: [home, '192.0.2.0/24'] });
    const setting = { setting: 'ipAccessList', count: 2 };
    expect((await entries()).slice(before)).toEqual([
      { address: home, data: { ...setting, countBefore: 0, added: `${home} 10.0.0.0/8`, removed: '' } },
      { address: home, data: { ...setting, countBefore: 2, added: '192.0.2.0/24', removed: '10.0.0.0/8' } },
    ]);
  });

  test('422: each invalid range with its path', async () => {
    const { status, body } = await from(home, 'POST', path, { ip_ranges: [home, '10.0.0.0/33', 'office'] });
    expect(status).toBe(422);
    expect(body.detail.map((issue: { loc: string[] }) => issue.loc)).toEqual([
      ['body', 'ip_ranges', '1'],
      ['body', 'ip_ranges', '2'],
    ]);
    expect(body.detail[1].msg).toBe(
      'Each of "ip_ranges" must be an IP address or a CIDR range such as 203.0.113.0/24, but item 2 is "office".',
    );
    for (const bad of [{}, { ip_ranges: home }, { ip_ranges: [1] }, { ip_ranges: null }]) {
      expect((await from(home, 'PUT', path, bad)).status).toBe(422);
    }
    expect((await from(home, 'GET', path)).body).toEqual({ ip_ranges: [] });
  });

  test('has at most 1,000 ranges', async () => {
    const many = Array.from({ length: 1_000 }, (_, n) => `10.${n >> 8}.${n & 255}.0/24`);
    const full = [home, ...many.slice(1)];
    expect((await from(home, 'PUT', path, { ip_ranges: full })).body.ip_ranges).toHaveLength(1_000);
    expect(await from(home, 'POST', path, { ip_ranges: full.slice(0, 10) })).toMatchObject({ status: 200 });
    const over = await from(home, 'POST', path, { ip_ranges: ['192.0.2.1'] });
    expect({ status: over.status, detail: over.body.detail }).toEqual({
      status: 400,
      detail: '"ip_ranges" would come to 1001 ranges, but the list has at most 1000.',
    });
    expect((await from(home, 'PUT', path, { ip_ranges: [...full, '192.0.2.1'] })).status).toBe(400);
    expect((await from(home, 'GET', path)).body.ip_ranges).toEqual(full);
  });

  test('403 without ManageEnterpriseSettings', async () => {
    const { token } = await makeServiceUser(app, { roleId: 'account_member' });
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      const body = method === 'POST' || method === 'PUT' ? { ip_ranges: [] } : undefined;
      const refused = await from(home, method, path, body, token);
      expect(refused).toMatchObject({ status: 403, body: { detail: 'Missing permission ManageEnterpriseSettings' } });
    }
  });
});

describe('an excluded caller', () => {
  test('409 for a change that would lock out its author, unless forced; the next request is refused then', async () => {
    const away = { ip_ranges: ['198.51.100.0/24'] };
    for (const method of ['POST', 'PUT']) {
      const { status, body } = await from(home, method, path, away);
      expect(status).toBe(409);
      expect(body.detail).toMatch(new RegExp(`^This would lock you out: your own address, ${home}, .*"force"`));
    }
    expect((await from(home, 'PUT', `${path}?force=no`, away)).status).toBe(422);
    expect((await from(home, 'PUT', `${path}?force=true`, away)).status).toBe(200);
    expect((await from(home, 'GET', '/v3/self')).status).toBe(401);
    expect((await from('198.51.100.1', 'GET', '/v3/self')).status).toBe(200);
    expect((await from('198.51.100.1', 'PUT', path, { ip_ranges: [home] })).status).toBe(409);
    expect((await from('198.51.100.1', 'DELETE', path)).status).toBe(200);
    expect((await from(home, 'GET', '/v3/self')).status).toBe(200);
  });

  test('401 in every API: REST of both versions, GraphQL and its sockets', async () => {
    await from(home, 'PUT', path, { ip_ranges: [home, '2001:db8::/32'] });
    const ask = (address: string) => from(address, 'POST', '/graphql', { query: '{ viewer { principalType } }' });
    for (const address of ['198.51.100.1', '203.0.113.8', '2001:db9::1', '::ffff:203.0.113.8']) {
      expect((await from(address, 'GET', '/v3/self')).status).toBe(401);
      expect((await from(address, 'GET', '/v1/sessions', undefined, app.v1Key)).status).toBe(401);
      expect((await ask(address)).body.errors[0].extensions.code).toBe('UNAUTHENTICATED');
    }
    for (const address of [home, '2001:db8:ffff::1', `::ffff:${home}`]) {
      expect((await from(address, 'GET', '/v3/self')).status).toBe(200);
      expect((await from(address, 'GET', '/v1/sessions', undefined, app.v1Key)).status).toBe(200);
      expect((await ask(address)).body.data).toEqual({ viewer: { principalType: 'SERVICE_USER' } });
    }
    // A socket without the proxy's header comes from 127.0.0.1, so it is not opened.
    const { ended } = follow(connect(app.url, app.adminToken), '{ viewer { principalType } }', {});
    expect(((await ended) as Error).message).toBe('Unexpected server response: 401');
  });

  test('loses an open stream', async () => {
    await from(home, 'PUT', path, { ip_ranges: [home, '127.0.0.1', '::1'] });
    const session = await from(home, 'POST', `/v3/organizations/${app.organizationId}/sessions`, { prompt: 'x' });
    const following = follow(
      connect(app.url, app.adminToken),
      'subscription($id: ID!) { sessionMessages(sessionId: $id) { node { body } } }',
      { id: session.body.session_id },
    );
    await following.take(1);
    await from(home, 'PUT', path, { ip_ranges: [home] });
    expect(await following.ended).toMatchObject({ code: 4403 });
  });
});
