import { openAudience, sessionIds, startPublisher, subscriber } from './support/audience.ts';
import type { Bench } from './support/bench.ts';
import type { Row } from './support/measures.ts';
import type { StreamResult } from './support/publisher.ts';
import { seed } from './support/seed.ts';

const sessions = 100;
const perSecond = 500;

/** The time from before another process appends a message until its subscriber receives it. */
export async function measureLatency(bench: Bench): Promise<Row[]> {
  const database = await bench.createDatabase();
  const server = await bench.startServer(database);
  await seed(database.client, { organizationId: server.organizationId, sessions, entriesEach: 1 });
  const ids = await sessionIds(database);
  const audience = await openAudience(
    bench,
    ids.map((id) => subscriber(server, server.token, id)),
  );
  const publisher = await startPublisher(bench, database);
  const stream = (ms: number) => publisher.ask<StreamResult>({ act: 'stream', sessionIds: ids, perSecond, ms });
  const { sent: warm } = await stream(2_000);
  await audience.wait(1 + warm / sessions);
  await audience.latencies();
  const { sent, appendP99Ms } = await stream(bench.options.isQuick ? 4_000 : 30_000);
  await audience.wait(1 + (warm + sent) / sessions);
  const latencies = (await audience.latencies()).sort((a, b) => a - b);
  if (latencies.length !== sent) throw new Error(`${sent} messages were sent, but ${latencies.length} came.`);
  const at = (part: number) => latencies[Math.ceil(part * latencies.length) - 1] ?? Number.NaN;
  return [
    {
      name: 'latency/p99',
      value: at(0.99),
      note: `p50 ${at(0.5).toFixed(1)} ms, p90 ${at(0.9).toFixed(1)} ms, most ${at(1).toFixed(1)} ms, of ${sent} messages; writing one, which is part of it, p99 ${appendP99Ms.toFixed(1)} ms`,
    },
  ];
}
