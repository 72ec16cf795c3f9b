import { beforeAll, describe, expect, it } from 'vitest';
import { call, graphql } from '../support/app.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { makeManager } from '../support/people.ts';
import { globalIdOf, makeKey } from '../support/principals.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
let clock: Clock;
beforeAll(async () => {
  clock = stopClock(test);
});

const fields =
  'nodes { apiKeyId apiKey { name apiKeyId } version route count lastCalledAt } edges { cursor } pageInfo { hasNextPage endCursor }';
const flush = () => test.app.legacyUses.flush();

/** An organization with a key of version 1, and the report of its legacy calls. */
async function world() {
  const { organizationId, token } = await makeOrganization(test, 'Old');
  const v1Key = await makeKey(test, { kind: 'SERVICE', organizationId, name: 'old script' });
  const report = async (args = '', as = test.adminToken) => {
    await flush();
    const id = globalIdOf('Organization', organizationId.replace('org-', ''));
    const query = `query($id: ID!) { node(id: $id) { ... on Organization { legacyCalls${args} { ${fields} } } } }`;
    const { data, errors } = await graphql(test, as, query, { id });
    return errors ? { code: errors[0].extensions.code, message: errors[0].message } : data.node.legacyCalls;
  };
  return { organizationId, token, v1Key, report };
}

const enterprise = async (args = '', as = test.adminToken) => {
  await flush();
  const { data, errors } = await graphql(test, as, `{ enterprise { legacyCalls${args} { ${fields} } } }`);
  return errors ? { code: errors[0].extensions.code } : data.enterprise.legacyCalls;
};

describe('the report', () => {
  it('counts calls by documented route and key, for every alias and response, with the time of the last one', async () => {
    const { v1Key, report } = await world();
    expect((await report()).nodes).toEqual([]);
    for (const path of ['/v1/sessions', '/v1/session', '/v1/sessions/?limit=0']) await call(test, v1Key, 'GET', path);
    await call(test, v1Key, 'HEAD', '/v1/sessions');
    clock.advance(5_000);
    const at = test.app.services.now().toISOString();
    await call(test, v1Key, 'DELETE', '/v1/secrets/nothing');
    const { nodes } = await report();
    expect(nodes.map(({ route, count }: any) => [route, count])).toEqual([
      ['DELETE /v1/secrets/{secret_id}', 1],
      ['GET /v1/sessions', 4],
    ]);
    expect(nodes[0]).toMatchObject({ version: 'V1', lastCalledAt: at, apiKey: { name: 'old script' } });
    expect(nodes[0].apiKeyId).toBe(nodes[0].apiKey.apiKeyId);
  });

  it('sums over flushes, and moves a route to the front when it is called again', async () => {
    const { v1Key, report } = await world();
    for (const path of ['/v1/secrets', '/v1/playbooks', '/v1/secrets']) {
      await call(test, v1Key, 'GET', path);
      clock.advance(1_000);
      await flush();
    }
    expect((await report()).nodes.map(({ route, count }: any) => [route, count])).toEqual([
      ['GET /v1/secrets', 2],
      ['GET /v1/playbooks', 1],
    ]);
  });

  it('counts deprecated routes of version 3', async () => {
    const { token, organizationId } = await world();
    await call(test, token, 'GET', `/v3/organizations/${organizationId}/schedules`);
    clock.advance(1_000);
    const [last] = (await enterprise('(first: 1)')).nodes;
    expect(last).toMatchObject({ version: 'V3', route: 'GET /v3/organizations/{org_id}/schedules', count: 1 });
  });

  it('counts no calls of the current version, and none without a valid key', async () => {
    const { token, v1Key, organizationId, report } = await world();
    await call(test, token, 'GET', `/v3/organizations/${organizationId}/sessions`);
    await call(test, `${v1Key}x`, 'GET', '/v1/sessions');
    await call(test, v1Key, 'GET', '/v1/nothing');
    await call(test, v1Key, 'OPTIONS', '/v1/sessions');
    expect((await report()).nodes).toEqual([]);
  });

  it('is paged forwards and backwards', async () => {
    const { v1Key, report } = await world();
    const paths = ['secrets', 'playbooks', 'knowledge', 'sessions', 'audit-logs'];
    for (const path of paths) {
      // The first three at the same time: their order must not matter.
      if (path === 'sessions') clock.advance(1_000);
      await call(test, v1Key, 'GET', `/v1/${path}`);
    }
    const routes = ({ nodes }: any) => nodes.map(({ route }: any) => route);
    const all = routes(await report());
    expect(all).toHaveLength(5);
    const seen: string[] = [];
    for (let after: string | null = null, more = true; more; ) {
      const page: any = await report(`(first: 2${after ? `, after: "${after}"` : ''})`);
      seen.push(...routes(page));
      more = page.pageInfo.hasNextPage;
      after = page.pageInfo.endCursor;
    }
    expect(seen).toEqual(all);
    const { edges } = await report();
    expect(routes(await report(`(last: 2, before: "${edges[3].cursor}")`))).toEqual(all.slice(1, 3));
    expect(await report('(first: 2, after: "bm90aGluZw")')).toMatchObject({ code: 'BAD_CURSOR' });
  });

  it('of the enterprise includes the keys of all organizations, and those of none', async () => {
    const [one, other] = [await world(), await world()];
    const ofEnterprise = await makeKey(test, {
      kind: 'SERVICE',
      organizationId: null,
      roleId: 'account_admin',
      name: 'everywhere',
    });
    clock.advance(1_000);
    await call(test, one.v1Key, 'GET', '/v1/secrets');
    clock.advance(1_000);
    await call(test, other.v1Key, 'GET', '/v1/secrets');
    clock.advance(1_000);
    await call(test, ofEnterprise, 'DELETE', '/v2/enterprise/api-keys/nothing');
    const { nodes } = await enterprise('(first: 3)');
    expect(nodes.map(({ version, route }: any) => [version, route])).toEqual([
      ['V2', 'DELETE /v2/enterprise/api-keys/{api_key_id}'],
      ['V1', 'GET /v1/secrets'],
      ['V1', 'GET /v1/secrets'],
    ]);
    expect(new Set(nodes.map(({ apiKeyId }: any) => apiKeyId)).size).toBe(3);
    expect((await one.report()).nodes).toHaveLength(1);
    const [{ apiKeyId }] = (await other.report()).nodes;
    expect(apiKeyId).toBe(nodes[1].apiKeyId);
  });

  it('needs the permission that its description names', async () => {
    const { token, report } = await world();
    expect(await report('', token)).toMatchObject({ code: 'FORBIDDEN' });
    const other = await makeManager(test, 'READ_ACCOUNT_META', 'MANAGE_BILLING');
    expect(await enterprise('', other.token)).toEqual({ code: 'FORBIDDEN' });
    const reader = await makeManager(test, 'READ_ACCOUNT_META', 'MANAGE_ENTERPRISE_SETTINGS');
    const { nodes } = await enterprise('', reader.token);
    // It sees that a key calls, but not keys that it does not manage.
    expect(nodes[0]).toMatchObject({ apiKeyId: expect.stringMatching(/^key-/), apiKey: null });
  });
});

it('the report retries a failed write', async () => {
  const { v1Key, report } = await world();
  const { store } = test.app.services;
  await call(test, v1Key, 'GET', '/v1/secrets');
  await store.execute('alter table legacy_call rename to broken_legacy_call');
  await flush();
  await store.execute('alter table broken_legacy_call rename to legacy_call');
  await call(test, v1Key, 'GET', '/v1/secrets');
  expect((await report()).nodes.map(({ count }: any) => count)).toEqual([2]);
});

it('the report is written when the service stops', async () => {
  if (!test.databaseUrl) return;
  const { v1Key, report } = await world();
  const other = await test.another();
  await call(other, v1Key, 'GET', '/v1/secrets');
  expect((await report()).nodes).toEqual([]);
  await other.close();
  expect((await report()).nodes.map(({ count }: any) => count)).toEqual([1]);
});
