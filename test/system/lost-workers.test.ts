import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeProfiles } from '../support/profiles.ts';
import { bootstrapToken, freePort, type ServerProcess, startServer } from '../support/server.ts';
import { waitUntilEnded } from '../support/session-waits.ts';
import { createFirstSession } from '../support/sessions.ts';
import { createDatabase, testDatabase } from '../support/test-store.ts';

// One process serves the API, and two run agents: they share the database and the files of checkpoints.
describe.skipIf(testDatabase !== 'postgres')('a session whose worker is lost', { timeout: 120_000 }, () => {
  const root = mkdtempSync(join(tmpdir(), 'switchyard-lost-'));
  let database: pg.Client;
  let shared: Record<string, string>;
  let api: ServerProcess;
  const workers = new Map<string, ServerProcess>();
  const start = async (name: string, roles: string) =>
    startServer({ ...shared, ROLES: roles, DATA_DIR: join(root, name), PORT: String(await freePort()) });
  const startAll = async () => {
    [api] = await Promise.all([
      start('api', 'api'),
      ...['one', 'two'].map(async (name) => void workers.set(name, await start(name, 'worker'))),
    ]);
  };
  const stopAll = async () => {
    for (const each of workers.values()) await each.stop();
    workers.clear();
    await api.stop();
  };
  beforeAll(async () => {
    const url = await createDatabase();
    shared = {
      DATABASE_URL: url,
      SECRET_KEY: 'the same secret key in every process',
      AGENTS_CONFIG: await writeProfiles({ retry_delays_ms: [0, 0, 0, 0], memory_mb: 50 }),
      ATTACHMENTS_DIR: join(root, 'files'),
      LOG_LEVEL: 'warn',
      LEASE_SECONDS: '3',
      WORKSPACE_AFFINITY_SECONDS: '0',
    };
    database = new pg.Client(url);
    await database.connect();
  });
  afterAll(async () => {
    await database.end();
    rmSync(root, { recursive: true, force: true });
  });

  const bare = (id: string) => id.replace('devin-', '');
  const filesIn = (name: string, id: string) =>
    readdirSync(join(root, name, 'sessions', bare(id), 'ws')).filter((each) => !each.startsWith('.'));
  const query = async <T extends pg.QueryResultRow>(sql: string, id: string) =>
    (await database.query<T>(sql, [bare(id)])).rows;
  const holderOf = async (id: string): Promise<string> => {
    const [row] = await query<{ id: string }>('select home_worker_id as id from run where session_id = $1', id);
    return (
      [...workers.keys()].find((name) => readFileSync(join(root, name, 'worker.id'), 'utf8').trim() === row?.id) ?? ''
    );
  };
  /** Starts a session that has written a file, and works on for some seconds after that is stored. */
  const begin = async (): Promise<string> => {
    const id = await createFirstSession(api, bootstrapToken, 'write first.txt 1\nsleep 6\nwrite second.txt 2');
    const count = `select 1 from checkpoint where session_id = $1 and kind = 'WORK' and files > 0`;
    await expect.poll(async () => (await query(count, id)).length, { timeout: 20_000 }).toBeGreaterThan(0);
    return id;
  };
  const target = () => ({ url: api.url, adminToken: bootstrapToken });
  const restoresOf = async (id: string) =>
    (
      await query<{ body: string }>(
        `select body from log_entry where session_id = $1 and kind = 'NOTICE' and data->'workspace'->>'state' = 'restored'`,
        id,
      )
    ).map(({ body }) => body);

  it('continues on another worker with its files, after kill -9 and without the directory of the first one', async () => {
    await startAll();
    const id = await begin();
    const name = await holderOf(id);
    await workers.get(name)?.kill();
    workers.delete(name);
    rmSync(join(root, name), { recursive: true, force: true });
    await waitUntilEnded(target(), id);
    const other = await holderOf(id);
    expect(filesIn(other, id)).toEqual(['first.txt', 'second.txt']);
    expect(await restoresOf(id)).toEqual([
      expect.stringMatching(/^Another worker has taken the session over\. The workspace was restored to its state at /),
    ]);
    await stopAll();
  });

  it('takes no checkpoint from a frozen worker that continues after the takeover', async () => {
    await startAll();
    const id = await begin();
    const name = await holderOf(id);
    const frozen = workers.get(name) as ServerProcess;
    process.kill(frozen.pid, 'SIGSTOP');
    await waitUntilEnded(target(), id);
    process.kill(frozen.pid, 'SIGCONT');
    const [before] = await query<{ generation: number }>('select generation from run where session_id = $1', id);
    // Its handover comes after everything that it does about the session.
    expect(await frozen.stop()).toBe(0);
    workers.delete(name);
    const rows = await query<{ generation: number; seq: number }>(
      'select generation, seq from checkpoint where session_id = $1 order by created_at, id',
      id,
    );
    expect(rows.map(({ generation }) => generation)).toEqual(rows.map(({ generation }) => generation).toSorted());
    expect(rows.at(-1)?.generation).toBe(before?.generation);
    expect(filesIn(await holderOf(id), id)).toEqual(['first.txt', 'second.txt']);
    await stopAll();
  });
});
