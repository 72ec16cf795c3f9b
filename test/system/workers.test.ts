import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findByEnvironment } from '../../src/agents/sandbox/process-identity.ts';
import { call, graphql } from '../support/app.ts';
import { writeProfiles } from '../support/profiles.ts';
import { bootstrapToken, freePort, type ServerProcess, startServer } from '../support/server.ts';
import { readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { createFirstSession } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { createDatabase, testDatabase } from '../support/test-store.ts';

// One process serves the API, and others run agents: they share only the database.
describe.skipIf(testDatabase !== 'postgres')('workers in separate processes', { timeout: 240_000 }, () => {
  const root = mkdtempSync(join(tmpdir(), 'switchyard-workers-'));
  let shared: Record<string, string>;
  let database: pg.Client;
  beforeAll(async () => {
    const url = await createDatabase();
    const agentsConfig = await writeProfiles({ retry_delays_ms: [0, 0, 0, 0], memory_mb: 50 });
    shared = {
      DATABASE_URL: url,
      SECRET_KEY: 'the same secret key in every process',
      AGENTS_CONFIG: agentsConfig,
      LOG_LEVEL: 'warn',
      LEASE_SECONDS: '4',
      WORKSPACE_AFFINITY_SECONDS: '1',
      MAX_CONCURRENT_SESSIONS: '3',
    };
    database = new pg.Client(url);
    await database.connect();
  });
  afterAll(async () => {
    await database.end();
    rmSync(root, { recursive: true, force: true });
  });

  const start = async (name: string, roles: string, more: Record<string, string> = {}): Promise<ServerProcess> =>
    startServer({ ...shared, ROLES: roles, DATA_DIR: join(root, name), PORT: String(await freePort()), ...more });
  const startAll = (more: Record<string, string> = {}) =>
    Promise.all([start('api', 'api'), start('one', 'worker', more), start('two', 'worker', more)]);
  const workerIn = (name: string) => readFileSync(join(root, name, 'worker.id'), 'utf8').trim();
  const target = (server: ServerProcess) => ({ url: server.url, adminToken: bootstrapToken });
  const create = (api: ServerProcess, prompt: string) => createFirstSession(api, bootstrapToken, prompt);
  const send = (api: ServerProcess, id: string, message: string) =>
    graphql(
      api,
      bootstrapToken,
      'mutation($input: SendMessageInput!) { sendMessage(input: $input) { userErrors { message } } }',
      { input: { sessionId: id, body: message } },
    );
  const bare = (id: string) => id.replace('devin-', '');
  const agentsOf = (id: string) => findByEnvironment({ SWITCHYARD_RUN: bare(id) });
  const waitForNoAgents = async (ids: readonly string[]) => {
    while (ids.some((id) => agentsOf(id).length > 0)) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const waitForMessage = async (api: ServerProcess, id: string, text: string) => {
    const query = 'subscription($id: ID!) { sessionMessages(sessionId: $id) { node { body } } }';
    const following = follow(connect(api.url, bootstrapToken), query, { id });
    for (;;) {
      const [payload] = await following.take(1);
      if (payload.data.sessionMessages.node.body === text) return following.stop();
    }
  };
  const holderOf = async (id: string): Promise<string> =>
    (await database.query('select home_worker_id as worker from run where session_id = $1', [bare(id)])).rows[0].worker;
  const turnsOf = async (id: string): Promise<{ workerId: string; generation: number }[]> =>
    (
      await database.query(
        `select data->>'workerId' as "workerId", (data->>'generation')::int as generation from log_entry
          where session_id = $1 and kind = 'TURN' and data->>'phase' = 'started' order by seq`,
        [bare(id)],
      )
    ).rows;

  it('share the work, and follow-ups go to the worker with the workspace', async () => {
    const [api, ...workers] = await startAll();
    const ids = await Promise.all(
      Array.from({ length: 10 }, (_, n) => create(api, `write file-${n}.txt ${n}\nsleep 0.5\nsay done ${n}`)),
    );
    await Promise.all(ids.map((id) => waitUntilEnded(target(api), id)));
    const first = [];
    for (const id of ids) first.push(await turnsOf(id));
    expect(new Set(first.flat().map((turn) => turn.workerId)).size).toBe(2);
    expect(first.map((turns) => turns.length)).toEqual(ids.map(() => 1));
    await Promise.all(ids.map((id, n) => send(api, id, `cat file-${n}.txt\nsay again ${n}`)));
    await Promise.all(ids.map((id) => waitUntilEnded(target(api), id)));
    for (const [n, id] of ids.entries()) {
      const agentMessages = (await readMessages(target(api), id)).filter((message) => message.startsWith('AGENT'));
      expect(agentMessages).toEqual([`AGENT_MESSAGE: done ${n}`, `AGENT_MESSAGE: again ${n}`]);
      expect(new Set((await turnsOf(id)).map((turn) => turn.workerId)).size).toBe(1);
    }
    for (const worker of workers) expect(await worker.stop()).toBe(0);
    await waitForNoAgents(ids);
    await api.stop();
  });

  it('wait for the worker with their workspace and a single slot, also between two of its sessions', async () => {
    const one = { MAX_CONCURRENT_SESSIONS: '1', WORKSPACE_AFFINITY_SECONDS: '0' };
    const [api, home] = await Promise.all([start('api', 'api'), start('one', 'worker', one)]);
    const ids = await Promise.all(Array.from({ length: 8 }, () => create(api, 'write kept.txt 1')));
    await Promise.all(ids.map((id) => waitUntilEnded(target(api), id)));
    const other = await start('two', 'worker', one);
    await Promise.all(ids.map((id) => send(api, id, 'cat kept.txt')));
    await Promise.all(ids.map((id) => waitUntilEnded(target(api), id)));
    const workers = [];
    for (const id of ids) workers.push((await turnsOf(id)).map((turn) => turn.workerId));
    expect(workers).toEqual(ids.map(() => [workerIn('one'), workerIn('one')]));
    for (const each of [home, other, api]) await each.stop();
    await waitForNoAgents(ids);
  });

  it('stop exactly one warm agent for one waiting session', async () => {
    const only = await start('one', 'api,worker');
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) {
      ids.push(await create(only, 'say done'));
      await waitUntilEnded(target(only), ids[n] as string);
    }
    expect(ids.map((id) => agentsOf(id).length > 0)).toEqual([true, true, true]);
    const last = await create(only, 'say done');
    await waitUntilEnded(target(only), last);
    // The one that has been idle for the longest.
    expect([...ids, last].map((id) => agentsOf(id).length > 0)).toEqual([false, true, true, true]);
    expect(await only.stop()).toBe(0);
    await waitForNoAgents([...ids, last]);
  });

  it('take over from a killed worker, which leaves no agent and no secrets when it is back', async () => {
    const [api, one, two] = await startAll();
    const { rows } = await database.query('select id from organization');
    const secret = { type: 'cookie', key: 'jar', value: 'sid=c4n4ry-left' };
    const path = `/v3/organizations/org-${rows[0].id}/secrets`;
    const made = await call(api, bootstrapToken, 'POST', path, secret);
    expect(made.status).toBe(200);
    const id = await create(api, 'say at work\nplan work\nsleep 10\nsay done');
    await waitForMessage(api, id, 'at work');
    const first = await holderOf(id);
    const [name, current, other] = first === workerIn('one') ? ['one', one, two] : ['two', two, one];
    const secretsOf = (worker: string) => readdirSync(join(root, worker, 'sessions', bare(id), 'ws/.session/secrets'));
    await current.kill();
    await waitUntilEnded(target(api), id);
    const turns = await turnsOf(id);
    expect(turns.map((turn) => turn.workerId === first)).toEqual([true, false]);
    expect(turns[1]?.generation).toBeGreaterThan(turns[0]?.generation ?? 0);
    expect((await readMessages(target(api), id)).slice(1)).toEqual([
      'AGENT_MESSAGE: at work',
      'AGENT_MESSAGE: at work',
      'AGENT_MESSAGE: done',
    ]);
    expect(secretsOf(name)).toEqual(['jar']);
    expect(await other.stop()).toBe(0);
    // Its next start removes everything that it may have left.
    const back = await start(name, 'worker');
    await expect.poll(() => secretsOf(name), { timeout: 60_000 }).toEqual([]);
    await waitForNoAgents([id]);
    expect((await call(api, bootstrapToken, 'DELETE', `${path}/${made.body.secret_id}`)).status).toBe(200);
    for (const each of [back, api]) await each.stop();
  });

  it('leave its sessions to a killed worker that is back in time, in the same workspace', async () => {
    const [api, one, two] = await startAll({ WORKSPACE_AFFINITY_SECONDS: '600' });
    const id = await create(api, 'write first.txt 1\nsay at work\nplan work\nsleep 10\nlist');
    await waitForMessage(api, id, 'at work');
    const first = await holderOf(id);
    const [name, current, other] = first === workerIn('one') ? ['one', one, two] : ['two', two, one];
    await current.kill();
    const back = await start(name, 'worker');
    await waitUntilEnded(target(api), id);
    expect((await turnsOf(id)).map((turn) => turn.workerId)).toEqual([first, first]);
    for (const each of [back, other, api]) await each.stop();
    await waitForNoAgents([id]);
  });

  it('fence a frozen worker: it kills its agent when it continues, and nothing more of it is written', async () => {
    const [api, one, two] = await startAll();
    const id = await create(api, 'say at work\nplan work\nsleep 15\nsay done');
    await waitForMessage(api, id, 'at work');
    const first = await holderOf(id);
    const frozen = first === workerIn('one') ? one : two;
    const before = agentsOf(id);
    expect(before).not.toEqual([]);
    process.kill(frozen.pid, 'SIGSTOP');
    await waitUntilEnded(target(api), id);
    process.kill(frozen.pid, 'SIGCONT');
    while (agentsOf(id).some((pid) => before.includes(pid))) await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await turnsOf(id)).map((turn) => turn.workerId === first)).toEqual([true, false]);
    expect((await readMessages(target(api), id)).filter((message) => message === 'AGENT_MESSAGE: done')).toEqual([
      'AGENT_MESSAGE: done',
    ]);
    for (const each of [one, two, api]) await each.stop();
    await waitForNoAgents([id]);
  });
});
