// npm run bench: measures the server against baselines on this machine, and prints a table. docs/performance.md
// explains the method.
import { writeFile } from 'node:fs/promises';
import { measureAppend } from './append.ts';
import { measureBigTables } from './big-tables.ts';
import { measureCheckpoints } from './checkpoints.ts';
import { measureEnvironments } from './environments.ts';
import { measureFanOut } from './fan-out.ts';
import { measureGraphqlPage } from './graphql-page.ts';
import { measureIdleSubscriptions } from './idle-subscriptions.ts';
import { measureLatency } from './latency.ts';
import { measureLive } from './live.ts';
import { measureNotifications } from './notifications.ts';
import { measureOneSession } from './one-session.ts';
import { measureOpenSession } from './open-session.ts';
import { measurePglite } from './pglite.ts';
import { measureRepositories } from './repositories.ts';
import { measureRestLists } from './rest-lists.ts';
import { measureRowsRead } from './rows-read.ts';
import { measureSharedService } from './shared-service.ts';
import { measureStart } from './start.ts';
import { type Bench, createBench, openCluster } from './support/bench.ts';
import { measures, type Row, toJson, toTable } from './support/measures.ts';
import { isSelected, readOptions, usage } from './support/options.ts';
import { measureTraces } from './traces.ts';

/** The prefix of a row's name, and the function that measures it. */
const measurements: readonly (readonly [name: string, measure: (bench: Bench) => Promise<Row[]>])[] = [
  ['graphql-page', measureGraphqlPage],
  ['rest-lists', measureRestLists],
  ['one-session', measureOneSession],
  ['fan-out', measureFanOut],
  ['idle-subscriptions', measureIdleSubscriptions],
  ['latency', measureLatency],
  ['notifications', measureNotifications],
  ['live', measureLive],
  ['open-session', measureOpenSession],
  ['repositories', measureRepositories],
  ['checkpoints', measureCheckpoints],
  ['environments', measureEnvironments],
  ['shared-service', measureSharedService],
  ['append', measureAppend],
  ['big-tables', measureBigTables],
  ['rows-read', measureRowsRead],
  ['pglite', measurePglite],
  ['traces', measureTraces],
  ['start', measureStart],
];

const options = readOptions(process.argv.slice(2));
if (options === null) {
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}
for (const prefix of options.only) {
  if (!Object.keys(measures).some((name) => name.startsWith(prefix)))
    throw new Error(`No row begins with "${prefix}". There are: ${Object.keys(measures).join(', ')}.`);
}

// Each started program adds a listener for the exit of this process.
process.setMaxListeners(50);
const cluster = await openCluster();
const rows: Row[] = [];
let stopNow: () => Promise<void> = async () => undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    stopNow()
      .then(() => cluster.stop())
      .finally(() => process.exit(1));
  });
}
try {
  for (const [name, measure] of measurements) {
    if (!Object.keys(measures).some((row) => row.startsWith(`${name}/`) && isSelected(options, row))) continue;
    const startedAt = performance.now();
    process.stderr.write(`${name} …\n`);
    const { bench, end } = createBench(cluster.url, options);
    stopNow = end;
    try {
      rows.push(...(await measure(bench)).filter((row) => isSelected(options, row.name)));
    } finally {
      await end();
    }
    process.stderr.write(`${name}: ${((performance.now() - startedAt) / 1_000).toFixed(0)} s\n`);
  }
} finally {
  // Prints the rows measured before a failure too.
  process.stdout.write(`${toTable(rows)}\n`);
  if (options.json !== null) await writeFile(options.json, `${JSON.stringify(toJson(rows), null, 2)}\n`);
  await cluster.stop();
}
