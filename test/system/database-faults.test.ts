import { setTimeout as wait } from 'node:timers/promises';
import { it as always, expect, onTestFinished, vi } from 'vitest';
import { call, graphql } from '../support/app.ts';
import { causeFault } from '../support/chaos/database-faults.ts';
import { subscribe, type Tally, write } from '../support/chaos/outage-clients.ts';
import { createRandom } from '../support/chaos/scenarios.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { findPostgresBinaries, startPostgresCluster } from '../support/postgres-cluster.ts';
import { onDatabase } from '../support/postgres-copies.ts';
import { bootstrapToken, startServer } from '../support/server.ts';
import { makeServerEnv } from '../support/server-env.ts';
import { testDatabase } from '../support/test-store.ts';

// The figures of the table in docs/operations.md ("When PostgreSQL does not answer"): TEST_LOG=1 prints them.
const binaries = findPostgresBinaries();
const it = always.skipIf(testDatabase !== 'postgres' || binaries === null);

const create = `mutation($input: CreateSessionInput!) { createSession(input: $input) { session { sessionId } } }`;
const list = '{ organizations(first: 1) { nodes { id sessions(first: 5) { nodes { title } } } } }';
/** Longer than the slowest recovery: a pool without room tries again after 5 s. */
const patience = { timeout: 60_000 };

interface Answers {
  readonly statuses: Record<number, number>;
  maxMs: number;
}

it('answers 200 or 503 in every API, and loses and repeats no message, whatever happens to PostgreSQL', async () => {
  const settings = ['max_connections=60', 'synchronous_commit=remote_apply'];
  const primary = await startPostgresCluster(binaries as string, { settings });
  onTestFinished(() => primary.stop());
  const proxy = await startFaultProxy(primary.url);
  onTestFinished(() => proxy.close());
  const server = await startServer({
    ...(await makeServerEnv()),
    DATABASE_URL: proxy.databaseUrl,
    BOOTSTRAP_TOKEN: bootstrapToken,
    RATE_LIMIT_GRAPHQL: '0',
    DATABASE_CONNECT_TIMEOUT_SECONDS: '2',
    DATABASE_STATEMENT_TIMEOUT_SECONDS: '3',
  });
  onTestFinished(async () => {
    await server.stop();
  });
  const v1Key = await vi.waitUntil(() => /apk_user_\w+/.exec(server.output())?.[0], patience);
  const { data } = await graphql(server, bootstrapToken, list);
  const organizationId = data.organizations.nodes[0].id as string;
  const input = { prompt: 'sleep 600', organizationId };
  const made = await graphql(server, bootstrapToken, create, { input });
  const id = made.data.createSession.session.sessionId as string;

  let isOver = false;
  let answers: Answers = { statuses: {}, maxMs: 0 };
  const read = async (request: () => ReturnType<typeof call>) => {
    while (!isOver) {
      const startedAt = performance.now();
      const { status, headers } = await request().catch(() => ({ status: 0, headers: new Headers() }));
      if (status === 503) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      answers.statuses[status] = (answers.statuses[status] ?? 0) + 1;
      answers.maxMs = Math.max(answers.maxMs, performance.now() - startedAt);
      await wait(50);
    }
  };
  const tally: Tally = { acknowledged: new Set(), refused: {}, lastSuccessAt: performance.now(), reconnections: 0 };
  const subscriber = subscribe([server.url], id, tally);
  const clients = [
    read(() => call(server, v1Key, 'GET', '/v1/sessions')),
    read(() => call(server, v1Key, 'GET', '/v2/enterprise/audit-logs')),
    read(() => call(server, bootstrapToken, 'GET', `/v3/organizations/${organizationId}/sessions`)),
    read(() => call(server, bootstrapToken, 'POST', '/graphql', { query: list })),
    write([server.url], id, tally, () => isOver),
  ];
  const random = createRandom(1);
  const cause = (fault: Parameters<typeof causeFault>[0]) => () =>
    causeFault(fault, { cluster: primary, proxy, random });
  const faults: Record<string, () => Promise<void>> = {
    'every answer 200 ms late': async () => {
      proxy.delay(200);
      await wait(4_000);
      proxy.delay(0);
    },
    'all connections terminated': cause('terminate'),
    'connections refused': cause('refuse'),
    'no packets': cause('blackHole'),
    'no free connection': cause('exhaust'),
    'restarted': cause('restart'),
    'failed over': async () => {
      const standby = await startPostgresCluster(binaries as string, { settings, standbyOf: primary.url });
      onTestFinished(() => standby.stop());
      // From now on a commit waits for the standby, so that the failover loses none.
      await onDatabase(primary.url, `alter system set synchronous_standby_names = '*'`);
      await onDatabase(primary.url, 'select pg_reload_conf()');
      const before = tally.acknowledged.size;
      await vi.waitFor(() => expect(tally.acknowledged.size).toBeGreaterThan(before), patience);
      proxy.refuse();
      await primary.stop();
      await standby.promote();
      proxy.moveTo(standby.url);
      proxy.accept();
    },
  };
  for (const [name, run] of Object.entries(faults)) {
    answers = { statuses: {}, maxMs: 0 };
    const { reconnections } = tally;
    await run();
    const healedAt = performance.now();
    await vi.waitFor(() => expect(tally.lastSuccessAt).toBeGreaterThan(healedAt), patience);
    await vi.waitFor(async () => expect((await fetch(`${server.url}/readyz`)).status).toBe(200), patience);
    const figures = {
      statuses: answers.statuses,
      maxMs: Math.round(answers.maxMs),
      recoveryMs: Math.round(tally.lastSuccessAt - healedAt),
      reconnections: tally.reconnections - reconnections,
    };
    if (process.env.TEST_LOG === '1') process.stdout.write(`${name}: ${JSON.stringify(figures)}\n`);
    expect([name, Object.keys(figures.statuses).filter((each) => each !== '200' && each !== '503')]).toEqual([
      name,
      [],
    ]);
  }
  isOver = true;
  await Promise.all(clients);
  expect(Object.keys(tally.refused).filter((each) => each !== '503')).toEqual([]);
  const isSent = (body: string) => tally.acknowledged.has(body);
  await vi.waitFor(
    () => expect(new Set(subscriber.bodies.filter(isSent)).size).toBe(tally.acknowledged.size),
    patience,
  );
  const received = subscriber.bodies.filter(isSent);
  expect(received.length).toBe(new Set(received).size);
  subscriber.stop();
});
