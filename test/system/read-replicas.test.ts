import { it as always, describe, expect, onTestFinished, vi } from 'vitest';
import { call, graphql, type TestApp } from '../support/app.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { onDatabase } from '../support/postgres-copies.ts';
import {
  listedIds,
  onServer,
  pathOf,
  pauseReplay,
  readsOf,
  resumeReplay,
  startCluster,
  startReplicated,
  waitUntilUnusable,
  waitUntilUsable,
} from '../support/read-replicas.ts';
import { answerOf, replicatedLists } from '../support/replicated-lists.ts';
import { createSession } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { testDatabase } from '../support/test-store.ts';

const it = always.skipIf(testDatabase !== 'postgres');

it('reads lists from the replica, with the answers of the primary, and everything else from the primary', async () => {
  const { start, standby, startPlain } = await startReplicated();
  const plain = await startPlain({ baseUrl: 'http://service.example' });
  for (const tags of [['one'], [], ['two']]) await createSession(plain, { prompt: 'say hello', tags });
  const id = await createSession(plain, { prompt: 'say nothing' });
  await plain.app.keyUses.flush();
  const test = await start({ baseUrl: 'http://service.example' });
  const { organizationId, adminToken, v1Key } = test;
  for (const [name, list] of Object.entries(replicatedLists(organizationId))) {
    const before = readsOf(test);
    const ask = (app: TestApp) => answerOf(app, list.startsWith('/v1') ? v1Key : adminToken, list, organizationId);
    const [found, expected] = [await ask(test), await ask(plain)];
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
  await call(test, adminToken, 'GET', `${pathOf(test)}/sessions/devin-${id}`);
  await call(test, adminToken, 'GET', `${pathOf(test)}/sessions/devin-${id}/messages`);
  await call(test, v1Key, 'GET', '/v1/sessions?limit=2');
  const archive = `mutation($id: ID!) { archiveSession(input: { sessionId: $id }) {
    session { organization { sessions(first: 100) { nodes { sessionId isArchived } } } } userErrors { message } } }`;
  const { data } = await graphql(test, test.adminToken, archive, { id: `devin-${id}` });
  expect(data.archiveSession.session.organization.sessions.nodes).toContainEqual({
    sessionId: `devin-${id}`,
    isArchived: true,
  });
  expect(readsOf(test)).toEqual({ ...before, lagMs: expect.any(Number) });
});

/** Writes rows into a table of its own until it is stopped. */
function keepWriting(url: string) {
  let isOver = false;
  const write =
    'create table if not exists noise as select 1 as n; insert into noise select n from generate_series(1, 5000) n';
  const loop = (async () => {
    while (!isOver) await onDatabase(url, ...write.split(';'));
  })();
  return {
    async stop() {
      isOver = true;
      await loop;
    },
  };
}

describe('a session that was just created', () => {
  it('is in the lists of all processes, at once and after its event, while the replica has much to replay', async () => {
    const { start, primary } = await startReplicated();
    const [one, other] = [await start(), await start()];
    const noise = keepWriting(primary.url);
    const { data } = await graphql(other, other.adminToken, '{ changesCursor }');
    const changes = 'subscription($after: String) { sessionChanges(after: $after) { sessionId } }';
    const events = follow(connect(other.url, other.adminToken), changes, { after: data.changesCursor });
    for (let n = 0; n < 25; n++) {
      const id = await createSession(one);
      const found = await Promise.all([listedIds(one), listedIds(other)]);
      expect(found.map((ids) => ids.includes(id))).toEqual([true, true]);
      const [event] = await events.take(1);
      expect(event.data.sessionChanges.sessionId).toBe(`devin-${id}`);
      expect(await listedIds(other)).toContain(id);
    }
    await noise.stop();
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

it('fails no request while the replica is away, restarts and is killed, and logs no line for each request', async () => {
  const { start, standby, replicaUrl } = await startReplicated();
  const proxy = await startFaultProxy(replicaUrl);
  onTestFinished(() => proxy.close());
  const lines: string[] = [];
  const note = (_fields: object, message: string) => {
    if (!message.startsWith('This database is a copy')) lines.push(message);
  };
  const silent = () => undefined;
  const databaseReplicas = { urls: [proxy.databaseUrl], maxLagMs: 10_000 };
  const test = await start({ databaseReplicas }, { debug: silent, info: silent, warn: note, error: note });
  await createSession(test);
  const listing = keepListing(test);
  await listing.more();
  proxy.refuse();
  await waitUntilUnusable(test);
  await listing.more();
  proxy.accept();
  await waitUntilUsable(test);
  const outage = ['A read replica cannot be used. Lists are read from the primary.', 'A read replica is used again.'];
  expect(lines).toEqual(outage);
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
  // At most a pair for each outage, and none within a minute after another.
  expect(lines.filter((line) => !outage.includes(line))).toEqual([]);
  expect(lines.length).toBeLessThanOrEqual(5);
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

it('uses the other standby after a failover as soon as it has recorded the new timeline', async () => {
  const { primary, standby, databaseUrl, start } = await startReplicated();
  const other = await startCluster({ standbyOf: primary.url });
  const proxy = await startFaultProxy(databaseUrl);
  onTestFinished(() => proxy.close());
  const databaseReplicas = { urls: [onServer(databaseUrl, other.url)], maxLagMs: 10_000 };
  const test = await start({ databaseUrl: proxy.databaseUrl, databaseReplicas });
  const before = await createSession(test);
  expect(await listedIds(test)).toContain(before);
  // The standby that is promoted must have everything.
  const [{ lsn } = { lsn: '' }] = await onDatabase<{ lsn: string }>(
    primary.url,
    'select pg_current_wal_flush_lsn() as lsn',
  );
  const replayed = `select pg_last_wal_replay_lsn() >= '${lsn}' as "isReached"`;
  await vi.waitFor(async () => expect(await onDatabase(standby.url, replayed)).toEqual([{ isReached: true }]), {
    timeout: 60_000,
  });
  proxy.refuse();
  await primary.stop();
  await standby.promote();
  proxy.moveTo(standby.url);
  proxy.accept();
  const { port } = new URL(standby.url);
  await onDatabase(
    other.url,
    `alter system set primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres'`,
    'select pg_reload_conf()',
  );
  const created = await vi.waitFor(() => createSession(test), { timeout: 60_000 });
  await waitUntilUnusable(test);
  expect(await listedIds(test)).toEqual(expect.arrayContaining([before, created]));
  const isThere = `select 1 from session where id = '${created}'`;
  await vi.waitFor(async () => expect(await onDatabase(onServer(databaseUrl, other.url), isThere)).toHaveLength(1), {
    timeout: 60_000,
  });
  const { replica } = readsOf(test);
  expect(await listedIds(test)).toContain(created);
  expect(readsOf(test)).toMatchObject({ replica, isUsable: false });
  // The restartpoint, which would come after some minutes.
  await onDatabase(standby.url, 'checkpoint');
  await vi.waitFor(
    async () => {
      await onDatabase(other.url, 'checkpoint');
      expect(readsOf(test).isUsable).toBe(true);
    },
    { timeout: 60_000 },
  );
  expect(await listedIds(test)).toEqual(expect.arrayContaining([before, created]));
  expect(readsOf(test).replica).toBeGreaterThan(replica);
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
