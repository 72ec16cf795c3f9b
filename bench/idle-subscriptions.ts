import { openAudience, sessionIds, subscriber } from './support/audience.ts';
import type { Bench, Server } from './support/bench.ts';
import type { Row } from './support/measures.ts';
import { residentBytes } from './support/processes.ts';
import { seed } from './support/seed.ts';

/** Opened before the first measurement, so that shared costs are not counted for each subscription. */
const before = 300;

/** On a signal, the server runs a garbage collection and prints the remaining heap. */
const collector = `data:text/javascript,${encodeURIComponent(
  `process.on('SIGUSR2', () => { gc(); gc(); console.error('collected ' + JSON.stringify(process.memoryUsage()) + '.'); });`,
)}`;

/** The memory of one more idle subscription, each on its own socket. */
export async function measureIdleSubscriptions(bench: Bench): Promise<Row[]> {
  const count = bench.options.isQuick ? 1_000 : 5_000;
  const database = await bench.createDatabase();
  const server = await bench.startServer(database, { execArgv: ['--expose-gc', '--import', collector] });
  await seed(database.client, { organizationId: server.organizationId, sessions: 200, entriesEach: 1 });
  const ids = await sessionIds(database);
  const listeners = (many: number) =>
    Array.from({ length: many }, (_, n) => subscriber(server, server.token, ids[n % ids.length] ?? ''));
  await openAudience(bench, listeners(before));
  const empty = await collect(server, 1);
  await openAudience(bench, listeners(count));
  const full = await collect(server, 2);
  const each = (bytes: (memory: Memory) => number) => (bytes(full) - bytes(empty)) / count / 1_024;
  const used = each(({ heapUsed, external }) => heapUsed + external);
  return [
    {
      name: 'idle-subscriptions/memory',
      value: each(({ resident }) => resident),
      note: `of the process, after a collection, with ${count} more sockets of one subscription each; ${used.toFixed(1)} KB in use by JavaScript`,
    },
  ];
}

interface Memory {
  readonly resident: number;
  readonly heapUsed: number;
  readonly external: number;
}

async function collect(server: Server, time: number): Promise<Memory> {
  // Twice: the second collection frees what the first one finalizes.
  for (const n of [2 * time - 1, 2 * time]) {
    process.kill(server.pid, 'SIGUSR2');
    await server.waitForOutput(new RegExp(`(?:collected .*?\\}\\.[\\s\\S]*?){${n}}`));
  }
  const memoryJson = [...server.output().matchAll(/collected (\{.*?\})\./g)].at(-1)?.[1] ?? '{}';
  return { ...JSON.parse(memoryJson), resident: residentBytes(server.pid) };
}
