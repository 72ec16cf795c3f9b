// npx tsx bench/automations.ts [automations] [seconds]: automations that are due within a period (10,000 within a
// minute), and three processes on a private PostgreSQL, two of which are killed at random times. Prints the number of
// automations that ran exactly once, and their delay. Times are meaningful as ratios only; the counts must be right.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type Query, seedDueAutomations, tally } from '../test/support/due-automations.ts';
import { findPostgresBinaries, startPostgresCluster } from '../test/support/postgres-cluster.ts';

const count = Number(process.argv[2] ?? 10_000);
const spreadSeconds = Number(process.argv[3] ?? 60);
const binaries = findPostgresBinaries();
if (!binaries) throw new Error('There is no PostgreSQL here.');
const cluster = await startPostgresCluster(binaries);
const root = await mkdtemp(join(tmpdir(), 'switchyard-due-'));

/** Starts a process with background jobs only. */
async function start(name: string) {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/main.ts'], {
    env: {
      PATH: process.env.PATH ?? '',
      DATABASE_URL: cluster.url,
      SECRET_KEY: 'the same secret key in every process',
      LOG_LEVEL: 'warn',
      ROLES: 'scheduler',
      DATA_DIR: join(root, name),
      PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      if (text.includes('Switchyard is at ')) resolve();
    });
    child.once('exit', () => reject(new Error(`${name} ended: ${text}`)));
  });
  return { name, child };
}

const database = new pg.Client(cluster.url);
const query: Query = async (sql, values) => (await database.query(sql, [...values])).rows;
try {
  await database.connect();
  const processes = [await start('one'), await start('two'), await start('three')];
  const [organization] = await query('select id from organization', []);
  const { id: organizationId } = organization as { id: string };
  // Without notifications they poll every half minute, so all three are running by then.
  const from = new Date(Date.now() + 35_000);
  await seedDueAutomations(query, { organizationId, count, from, spreadSeconds });
  await delay(from.getTime() - Date.now());
  const startedAt = performance.now();
  for (const victim of processes.toSorted(() => Math.random() - 0.5).slice(0, 2)) {
    await delay((spreadSeconds * 1_000 * (0.2 + Math.random())) / 3);
    victim.child.kill('SIGKILL');
    await once(victim.child, 'exit');
    const { runs } = await tally(query);
    console.log(`killed "${victim.name}" after ${Math.round(performance.now() - startedAt)} ms, with ${runs} fired`);
  }
  for (let last = -1; ; ) {
    const now = await tally(query);
    if (now.runs >= count || now.runs === last) break;
    last = now.runs;
    await delay(5_000);
  }
  console.log(
    `${count} automations due within ${spreadSeconds} s, all fired after ${Math.round((performance.now() - startedAt) / 1_000)} s`,
  );
  console.table(await tally(query));
  for (const { child } of processes) child.kill('SIGKILL');
} finally {
  await database.end();
  await cluster.stop();
  await rm(root, { recursive: true, force: true });
}
