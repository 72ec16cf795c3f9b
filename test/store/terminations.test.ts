import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { afterEach, it as always, beforeEach, expect } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { createDatabase, testDatabase } from '../support/test-store.ts';

const it = always.skipIf(testDatabase !== 'postgres');
const rounds = 20;

let dataDir: string;
let databaseUrl: string;
let proxy: FaultProxy;
let admin: pg.Client;
beforeEach(async () => {
  if (testDatabase !== 'postgres') return;
  dataDir = await mkdtemp(join(tmpdir(), 'switchyard-terminations-'));
  databaseUrl = await createDatabase();
  // An error and the end of the connection arrive in one chunk, as on a busy network.
  proxy = await startFaultProxy(databaseUrl, { bufferMs: 15 });
  admin = new pg.Client({ connectionString: databaseUrl });
  await admin.connect();
});
afterEach(async () => {
  if (testDatabase !== 'postgres') return;
  await admin.end();
  await proxy.close();
  await rm(dataDir, { recursive: true, force: true });
});

// In a separate process: an error without a listener would end vitest's. It uses connections in every way that the
// store does, and reports each success.
const program = (url: string) => `
  import { openStore } from ${JSON.stringify(new URL('../../src/store/store.ts', import.meta.url).href)};
  import { createNotifier } from ${JSON.stringify(new URL('../../src/realtime/create-notifier.ts', import.meta.url).href)};
  const databaseUrl = ${JSON.stringify(url)};
  const log = { warn() {}, error() {} };
  const store = await openStore({ dataDir: ${JSON.stringify(dataDir)}, databaseUrl, log });
  const notifier = createNotifier({ databaseUrl, execute: (sql, values) => store.execute(sql, values), log });
  await notifier.start();
  let n = 0;
  const operations = {
    query: () => store.query('select pg_sleep(0.002)'),
    transaction: () => store.transact((tx) => tx.query('select pg_sleep(0.002)')),
    prisma: () => store.prisma.enterprise.findMany(),
    joined: () => store.transact((tx) => tx.prisma.enterprise.findMany()),
    ping: () => store.ping(),
    notifier: async () => notifier.notify('session:' + n++),
  };
  for (const [name, act] of Object.entries(operations)) for (let copy = 0; copy < 6; copy++) (async () => {
    for (;;) await act().then(() => console.log(name), () => undefined).then(() => new Promise((go) => setTimeout(go, 1)));
  })();
`;

it(`survives when the server ends all connections of a busy process, ${rounds} times, and continues`, async () => {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', program(proxy.databaseUrl)],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let stderr = '';
  child.stderr.on('data', (data) => {
    stderr += String(data);
  });
  const exited = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`The process ended by itself (${code ?? signal}): ${stderr.slice(-2_000)}`);
  });
  exited.catch(() => undefined);
  const done = new Map<string, number>();
  const waiting = new Set<() => void>();
  createInterface(child.stdout).on('line', (name) => {
    done.set(name, (done.get(name) ?? 0) + 1);
    for (const each of waiting) each();
  });
  /** Resolves when each kind of work has succeeded a few more times. */
  const workContinues = () => {
    const before = new Map(done);
    const isMore = (name: string) => (done.get(name) ?? 0) >= (before.get(name) ?? 0) + 3;
    return new Promise<void>((resolve) => {
      const check = () => {
        if (!['query', 'transaction', 'prisma', 'joined', 'ping', 'notifier'].every(isMore)) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
    });
  };
  let ended = 0;
  for (let round = 0; round < rounds; round++) {
    await Promise.race([workContinues(), exited]);
    const { rows } = await admin.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    ended += rows.length;
  }
  await Promise.race([workContinues(), exited]);
  expect(ended).toBeGreaterThan(rounds * 2);
  child.kill('SIGKILL');
});
