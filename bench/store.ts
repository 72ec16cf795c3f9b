// npx tsx bench/store.ts [rows]: the cost of opening a store, and of a write as one statement compared with one in
// transact(), on PGlite and on a private PostgreSQL. Numbers are meaningful as ratios only.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, type Store } from '../src/store/store.ts';
import { findPostgresBinaries, startPostgresCluster } from '../test/support/postgres-cluster.ts';

const rows = Number(process.argv[2] ?? 2_000);
const concurrency = 16;
const log = { warn: () => undefined, error: () => undefined };

const append = `
  with head as (update session_head set next_seq = next_seq + 1 where session_id = $1 and generation = 0
                returning next_seq - 1 as seq)
  insert into log_entry (session_id, seq, id, kind, created_at) select $1, head.seq, $2, 'NOTICE', now() from head returning seq`;
const take =
  'update session_head set next_seq = next_seq + 1 where session_id = $1 and generation = 0 returning next_seq - 1 as seq';
const put = `insert into log_entry (session_id, seq, id, kind, created_at) values ($1, $2, $3, 'NOTICE', now())`;

/** The duration of `run` in milliseconds. */
async function timed(run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}

/** Calls per second with `atOnce` concurrent calls. */
async function rate(call: (n: number) => Promise<unknown>): Promise<number> {
  let next = 0;
  const worker = async () => {
    while (next < rows) await call(next++);
  };
  const took = await timed(() => Promise.all(Array.from({ length: concurrency }, worker)));
  return Math.round((rows * 1_000) / took);
}

async function measure(store: Store): Promise<Record<string, number>> {
  const sessions = Array.from({ length: 64 }, (_, n) => `session ${n}`);
  await store.execute('insert into session_head (session_id) select unnest($1::text[])', [sessions]);
  const session = (n: number) => sessions[n % sessions.length];
  const byTransact = (prefix: string, which: (n: number) => string | undefined) => (n: number) =>
    store.transact(async (tx) => {
      const [head] = await tx.query<{ seq: number }>(take, [which(n)]);
      await tx.query(put, [which(n), head?.seq, `${prefix} ${n}`]);
    });
  return {
    'execute, many sessions': await rate((n) => store.execute(append, [session(n), `a ${n}`])),
    'transact, many sessions': await rate(byTransact('b', session)),
    'execute, one session': await rate((n) => store.execute(append, [sessions[0], `c ${n}`])),
    'transact, one session': await rate(byTransact('d', () => sessions[0])),
    'query': await rate((n) => store.query('select next_seq from session_head where session_id = $1', [session(n)])),
    'prisma': await rate((n) => store.prisma.sessionHead.findUnique({ where: { sessionId: session(n) ?? '' } })),
  };
}

const binaries = findPostgresBinaries();
const cluster = binaries ? await startPostgresCluster(binaries) : null;
const results: Record<string, Record<string, number>> = {};
for (const databaseUrl of [null, ...(cluster ? [cluster.url] : [])]) {
  const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
  const open = () => openStore({ dataDir, databaseUrl, log });
  const firstOpen = await timed(async () => (await open()).close());
  const nextOpen = await timed(async () => (await open()).close());
  const store = await open();
  results[store.dialect] = {
    'first open and close, ms': Math.round(firstOpen),
    'next open and close, ms': Math.round(nextOpen),
    ...(await measure(store)),
  };
  await store.close();
  await rm(dataDir, { recursive: true, force: true });
}
await cluster?.stop();
console.table(results);
