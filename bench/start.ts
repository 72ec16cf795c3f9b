import { setTimeout as delay } from 'node:timers/promises';
import type { Bench } from './support/bench.ts';
import { median } from './support/compare.ts';
import type { Row } from './support/measures.ts';
import { residentBytes } from './support/processes.ts';

/** The start time of the embedded service, at the first and at the next start, and its idle memory. */
export async function measureStart(bench: Bench): Promise<Row[]> {
  const took = { first: [] as number[], next: [] as number[], memory: [] as number[] };
  for (let n = 0; n < (bench.options.isQuick ? 1 : 3); n++) {
    const first = await bench.startServer(null);
    took.first.push(first.readyMs / 1_000);
    await first.stop();
    const next = await bench.startServer(null, { env: { DATA_DIR: first.dataDir } });
    took.next.push(next.readyMs / 1_000);
    await delay(bench.options.isQuick ? 4_000 : 15_000);
    took.memory.push(residentBytes(next.pid) / 1_000_000);
    await next.stop();
  }
  return [
    { name: 'start/ready', value: median(took.first), note: `the next start ${median(took.next).toFixed(2)} s` },
    { name: 'start/idle-memory', value: median(took.memory), note: 'of the process, a while after a start' },
  ];
}
