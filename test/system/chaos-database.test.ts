import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { it as always, expect, vi } from 'vitest';
import { graphql } from '../support/app.ts';
import { causeFault, type Fault, faults } from '../support/chaos/database-faults.ts';
import { subscribe, type Tally, write } from '../support/chaos/outage-clients.ts';
import { createRandom } from '../support/chaos/scenarios.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { findPostgresBinaries, startPostgresCluster } from '../support/postgres-cluster.ts';
import { bootstrapToken, freePort, type ServerProcess, startServer } from '../support/server.ts';
import { testDatabase } from '../support/test-store.ts';

// Three processes, writers and subscribers, while the database fails in every way. CHAOS_SECONDS=600 is the complete run.
const seconds = Number(process.env.CHAOS_SECONDS ?? 20);
const seed = Number(process.env.CHAOS_SEED ?? Date.now() % 1_000_000);
const binaries = findPostgresBinaries();
const it = always.skipIf(testDatabase !== 'postgres' || binaries === null);

const create = `mutation($input: CreateSessionInput!) { createSession(input: $input) { session { sessionId } } }`;
const sessionsCount = 6;

it(
  'loses, repeats and corrupts nothing while the database fails in every way',
  async () => {
    const random = createRandom(seed);
    const cluster = await startPostgresCluster(binaries as string, { settings: ['max_connections=60'] });
    const root = await mkdtemp(join(tmpdir(), 'switchyard-outage-chaos-'));
    const proxy = await startFaultProxy(cluster.url, { bufferMs: 15 });
    const ports = [await freePort(), await freePort(), await freePort()];
    const urls = ports.map((port) => `http://127.0.0.1:${port}`);
    const running: ServerProcess[] = [];
    const outputs: string[] = [];
    const start = async (n: number) => {
      running[n] = await startServer({
        DATA_DIR: join(root, String(n)),
        PORT: String(ports[n]),
        DATABASE_URL: proxy.databaseUrl,
        SECRET_KEY: 'the same secret key in every process',
        ROLES: n === 0 ? 'api,worker' : 'api,scheduler',
        SANDBOX: 'none',
        LOG_LEVEL: 'warn',
        RATE_LIMIT_GRAPHQL: '0',
        DATABASE_CONNECT_TIMEOUT_SECONDS: '3',
        DATABASE_STATEMENT_TIMEOUT_SECONDS: '3',
      });
    };
    for (const n of [1, 0, 2]) await start(n);

    const tally: Tally = { acknowledged: new Set(), refused: {}, lastSuccessAt: performance.now(), reconnections: 0 };
    const { data } = await graphql(
      { url: urls[0] as string },
      bootstrapToken,
      '{ organizations(first: 1) { nodes { id } } }',
    );
    const organizationId = data.organizations.nodes[0].id as string;
    const ids: string[] = [];
    for (let n = 0; n < sessionsCount; n++) {
      const input = { prompt: 'sleep 600', organizationId };
      const made = await graphql({ url: urls[0] as string }, bootstrapToken, create, { input });
      ids.push(made.data.createSession.session.sessionId);
    }
    let isOver = false;
    const subscribers = ids.map((id, n) => subscribe([...urls.slice(n % 3), ...urls.slice(0, n % 3)], id, tally));
    const writers = ids.flatMap((id) => [write(urls, id, tally, () => isOver), write(urls, id, tally, () => isOver)]);

    const done: Partial<Record<Fault | 'kill', number>> = {};
    let restarts = 0;
    let maxRecoveryMs = 0;
    const kinds = [...faults, 'kill' as const];
    const endsAt = performance.now() + seconds * 1_000;
    for (let n = 0; performance.now() < endsAt || n < kinds.length; n++) {
      // Each kind once, then random kinds.
      const kind = kinds[n < kinds.length ? n : random.below(kinds.length)] as Fault | 'kill';
      await wait(500 + random.below(1_500));
      if (kind === 'kill') {
        const victim = random.below(3);
        outputs.push(running[victim]?.output() ?? '');
        await running[victim]?.kill();
        await start(victim);
        restarts += 1;
      } else await causeFault(kind, { cluster, proxy, random });
      done[kind] = (done[kind] ?? 0) + 1;
      const healedAt = performance.now();
      await vi.waitFor(() => expect(tally.lastSuccessAt).toBeGreaterThan(healedAt), { timeout: 60_000 });
      maxRecoveryMs = Math.max(maxRecoveryMs, tally.lastSuccessAt - healedAt);
    }
    isOver = true;
    await Promise.all(writers);

    const database = new pg.Client({ connectionString: cluster.url });
    await database.connect();
    const { rows } = await database.query<{ body: string; count: number }>(
      `select body, count(*)::int as count from log_entry where message_type is not null group by body`,
    );
    await database.end();
    const stored = new Map(rows.map(({ body, count }) => [body, count]));
    const lost = [...tally.acknowledged].filter((text) => !stored.has(text));
    const repeated = [...tally.acknowledged].filter((text) => (stored.get(text) ?? 0) > 1);
    const isOurs = (body: string) => tally.acknowledged.has(body);
    await vi.waitFor(
      () =>
        expect(subscribers.flatMap(({ bodies }) => bodies.filter(isOurs)).length).toBeGreaterThanOrEqual(
          tally.acknowledged.size,
        ),
      { timeout: 60_000 },
    );
    const received = subscribers.map(({ bodies }) => bodies.filter(isOurs));
    const notReceived = tally.acknowledged.size - new Set(received.flat()).size;
    const receivedTwice = received.flat().length - new Set(received.flat()).size;
    for (const each of subscribers) each.stop();
    // All are ready again and stop on SIGTERM.
    for (const url of urls)
      await vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), { timeout: 60_000 });

    outputs.push(...running.map((each) => each.output()));
    const exits = await Promise.all(running.map((each) => each.stop()));
    await proxy.close();
    await cluster.stop();
    await rm(root, { recursive: true, force: true });

    const figures = {
      seed,
      seconds,
      faults: done,
      restarts,
      acknowledged: tally.acknowledged.size,
      lost: lost.length,
      repeated: repeated.length,
      notReceived,
      receivedTwice,
      reconnections: tally.reconnections,
      refused: tally.refused,
      exits,
      maxRecoveryMs: Math.round(maxRecoveryMs),
    };
    process.stdout.write(`Chaos of the database: ${JSON.stringify(figures)}\n`);
    const unexpected = outputs
      .join('\n')
      .split('\n')
      .filter((line) => line.includes('"level":60') || /Uncaught|nobody waited/.test(line));
    expect(unexpected, `CHAOS_SEED=${seed}`).toEqual([]);
    expect(figures, `CHAOS_SEED=${seed}`).toMatchObject({
      lost: 0,
      repeated: 0,
      notReceived: 0,
      receivedTwice: 0,
      exits: [0, 0, 0],
    });
    expect(Object.keys(tally.refused).filter((status) => status !== '0' && status !== '503')).toEqual([]);

    expect(tally.acknowledged.size).toBeGreaterThan(0);
  },
  180_000 + seconds * 3_000,
);
