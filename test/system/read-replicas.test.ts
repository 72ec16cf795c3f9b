import { it as always, describe, expect, vi } from 'vitest';
import { call, graphql, type TestApp } from '../support/app.ts';
import { onDatabase } from '../support/postgres-copies.ts';
import {
  listedIds,
  pathOf,
  pauseReplay,
  readsOf,
  resumeReplay,
  startReplicated,
  waitUntilUnusable,
  waitUntilUsable,
} from '../support/read-replicas.ts';
import { createSession } from '../support/sessions.ts';
import { testDatabase } from '../support/test-store.ts';

const it = always.skipIf(testDatabase !== 'postgres');

const ofOrganization = (fields: string) => `query($id: ID!) { organization(id: $id) { ${fields} } }`;
const ofEnterprise = (fields: string) => `{ enterprise { ${fields} } }`;

/** The requests whose lists are read from replicas: paths of REST, and documents of GraphQL. */
const lists = (test: TestApp): Record<string, string> => ({
  'sessions of v3': `${pathOf(test)}/sessions?first=2`,
  'sessions of v3 with a filter': `${pathOf(test)}/sessions?tags=one&origins=api`,
  'enterprise sessions of v3': '/v3/enterprise/sessions?first=2',
  'later sessions of v1': '/v1/sessions?limit=2&offset=1',
  'audit log of v3': '/v3/enterprise/audit-logs',
  'ascending audit log of v3': '/v3/enterprise/audit-logs?order=asc&first=3',
  'audit log of an organization': `/v3/enterprise/organizations/org-${test.organizationId}/audit-logs`,
  'consumption of v3': '/v3/enterprise/consumption/daily',
  'users of v3': '/v3/enterprise/members/users',
  'members of v3': `${pathOf(test)}/members/users`,
  'service users of v3': '/v3/enterprise/members/service-users',
  'sessions': ofOrganization('name sessions(first: 2) { nodes { id title } totalCount pageInfo { endCursor } }'),
  'sessions with a title': ofOrganization('sessions(filter: { search: "hello" }) { nodes { id title } }'),
  'sessions with a filter': ofOrganization(
    'sessions(filter: { or: [{ tags: ["one"] }, { isPinned: true }] }, orderBy: { field: UPDATED_AT, direction: ASC }) { nodes { id } }',
  ),
  'sessions across': '{ sessions(first: 2) { nodes { id } totalCount } }',
  'search': ofOrganization('sessionSearch(query: "hello") { nodes { session { id } } totalCount }'),
  'members': ofOrganization('members(first: 5) { nodes { id } totalCount }'),
  'users': ofEnterprise('users(first: 5) { nodes { id } totalCount }'),
  'audit log': ofEnterprise('auditLog(first: 5) { nodes { id action } totalCount }'),
  'metrics': ofEnterprise('metrics(from: "2020-01-01", to: "2020-12-31") { sessions { count } }'),
});

async function answer(test: TestApp, list: string) {
  if (list.startsWith('/')) return call(test, list.startsWith('/v1') ? test.v1Key : test.adminToken, 'GET', list);
  const body = await graphql(test, test.adminToken, list, { id: `org-${test.organizationId}` });
  return { status: body.errors ? JSON.stringify(body.errors) : 200, body };
}

it('reads lists from the replica, with the answers of the primary, and everything else from the primary', async () => {
  const { start, standby, startPlain } = await startReplicated();
  const plain = await startPlain({ baseUrl: 'http://service.example' });
  for (const tags of [['one'], [], ['two']]) await createSession(plain, { prompt: 'say hello', tags });
  const id = await createSession(plain, { prompt: 'say nothing' });
  await plain.app.keyUses.flush();
  const test = await start({ baseUrl: 'http://service.example' });
  for (const [name, list] of Object.entries(lists(test))) {
    const before = readsOf(test);
    const [found, expected] = [await answer(test, list), await answer(plain, list)];
    expect([name, found.status, found.body]).toEqual([name, 200, expected.body]);
    const after = readsOf(test);
    expect([name, after.primary - before.primary]).toEqual([name, 0]);
    expect([name, after.replica]).not.toEqual([name, before.replica]);
  }
  await listedIds(test);
  const statements = `select query from pg_stat_activity where application_name = 'switchyard lists'`;
  const ran = await onDatabase<{ query: string }>(standby.url, statements);
  expect(ran.some(({ query }) => query.startsWith('select row_to_json(p) as session'))).toBe(true);

  const before = readsOf(test);
  await answer(test, `${pathOf(test)}/sessions/devin-${id}`);
  await answer(test, `${pathOf(test)}/sessions/devin-${id}/messages`);
  await answer(test, '/v1/sessions?limit=2');
  const archive = `mutation($id: ID!) { archiveSession(input: { sessionId: $id }) {
    session { organization { sessions(first: 100) { nodes { sessionId isArchived } } } } userErrors { message } } }`;
  const { data } = await graphql(test, test.adminToken, archive, { id: `devin-${id}` });
  expect(data.archiveSession.session.organization.sessions.nodes).toContainEqual({
    sessionId: `devin-${id}`,
    isArchived: true,
  });
  expect(readsOf(test)).toEqual({ ...before, lagMs: expect.any(Number) });
});

describe('a session that was just created', () => {
  it('is in the lists of all processes, at once, while the replica answers most of them', async () => {
    const { start } = await startReplicated();
    const [one, other] = [await start(), await start()];
    for (let n = 0; n < 25; n++) {
      const id = await createSession(one);
      const found = await Promise.all([listedIds(one), listedIds(other)]);
      expect(found.map((ids) => ids.includes(id))).toEqual([true, true]);
    }
    for (const each of [one, other]) expect(readsOf(each).replica).toBeGreaterThan(0);
  });

  it('is in the lists of all processes, at once, while the replica replays nothing', async () => {
    const { start, standby, replicaUrl } = await startReplicated();
    const databaseReplicas = { urls: [replicaUrl], maxLagMs: 300 };
    const [one, other] = [await start({ databaseReplicas }), await start({ databaseReplicas })];
    await pauseReplay(standby);
    const id = await createSession(one);
    const found = await Promise.all([listedIds(one), listedIds(other)]);
    expect(found.map((ids) => ids.includes(id))).toEqual([true, true]);
    await Promise.all([one, other].map(waitUntilUnusable));
    const before = readsOf(one);
    expect(await listedIds(one)).toContain(id);
    expect(readsOf(one)).toMatchObject({ primary: before.primary + 1, replica: before.replica });
    // The lag grows until the replay goes on.
    await vi.waitFor(() => expect(readsOf(one).lagMs).toBeGreaterThan(1_000), { timeout: 60_000 });
    await resumeReplay(standby);
    await vi.waitFor(
      async () => {
        expect(await listedIds(one)).toContain(id);
        expect(readsOf(one).replica).toBeGreaterThan(before.replica);
      },
      { timeout: 60_000 },
    );
  });
});

/** Lists sessions in several loops until it is told to stop. */
function keepListing(test: TestApp) {
  let isOver = false;
  let count = 0;
  const loops = Array.from({ length: 6 }, async () => {
    while (!isOver) {
      await listedIds(test);
      count += 1;
    }
  });
  return {
    count: () => count,
    async more() {
      const before = count;
      await Promise.race([vi.waitUntil(() => count > before + 20, { timeout: 60_000 }), Promise.all(loops)]);
    },
    async stop() {
      isOver = true;
      await Promise.all(loops);
    },
  };
}

it('fails no request while the replica restarts, is killed, and is away, and logs each once', async () => {
  const { start, standby } = await startReplicated();
  const lines: string[] = [];
  const note = (_fields: object, message: string) => {
    if (!message.startsWith('This database is a copy')) lines.push(message);
  };
  const silent = () => undefined;
  const test = await start({}, { debug: silent, info: silent, warn: note, error: note });
  await createSession(test);
  const listing = keepListing(test);
  await listing.more();
  await standby.restart();
  await listing.more();
  await waitUntilUsable(test);
  const { replica } = readsOf(test);
  await vi.waitUntil(() => readsOf(test).replica > replica, { timeout: 60_000 });
  await standby.stop();
  await listing.more();
  await waitUntilUnusable(test);
  await listing.more();
  await listing.stop();
  await vi.waitUntil(() => readsOf(test).lagMs === null, { timeout: 60_000 });
  expect(lines).toEqual([
    'A read replica cannot be used. Lists are read from the primary.',
    'A read replica is used again.',
  ]);
});

it('does not use a replica that was promoted', async () => {
  const { start, standby, replicaUrl } = await startReplicated();
  const test = await start();
  await listedIds(test);
  expect(readsOf(test).replica).toBe(1);
  await standby.promote();
  const id = await createSession(test);
  // Writes of another primary are no part of the list.
  await onDatabase(replicaUrl, 'delete from session');
  expect(await listedIds(test)).toContain(id);
  expect(readsOf(test)).toMatchObject({ replica: 1, isUsable: false });
});

it('shows replicas in the metrics', async () => {
  const { start, standby } = await startReplicated();
  let url = '';
  const silent = () => undefined;
  const info = (fields: object, message: string) => {
    if (message === 'The metrics are served.') ({ url } = fields as { url: string });
  };
  const metricsAddress = { host: '127.0.0.1', port: 0 };
  const test = await start({ metricsAddress }, { debug: silent, info, warn: silent, error: silent });
  const replica = `replica="127.0.0.1:${new URL(standby.url).port}"`;
  const sample = async (name: string) => {
    const line = (await (await fetch(url)).text()).split('\n').find((each) => each.startsWith(`switchyard_${name} `));
    return line === undefined ? null : Number(line.split(' ')[1]);
  };
  await listedIds(test);
  expect(await sample('database_list_reads_total{target="replica"}')).toBe(1);
  expect(await sample('database_list_reads_total{target="primary"}')).toBe(0);
  expect(await sample(`database_replica_usable{${replica}}`)).toBe(1);
  expect(await sample(`database_replica_lag_seconds{${replica}}`)).toBeGreaterThan(0);
  await standby.stop();
  await listedIds(test);
  await vi.waitUntil(async () => (await sample(`database_replica_lag_seconds{${replica}}`)) === null, {
    timeout: 60_000,
  });
  expect(await sample('database_list_reads_total{target="replica"}')).toBe(1);
  expect(await sample('database_list_reads_total{target="primary"}')).toBe(1);
  expect(await sample(`database_replica_usable{${replica}}`)).toBe(0);
});
