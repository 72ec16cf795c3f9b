import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pageRequest, pageSeed } from './graphql-page.ts';
import type { Bench, Database, Server } from './support/bench.ts';
import type { LoadResult } from './support/load.ts';
import type { Row } from './support/measures.ts';
import { cpuMs, type Script } from './support/processes.ts';
import { seed } from './support/seed.ts';

/** Requests of one process before the next one has its turn: drift of the machine affects all of them. */
const requestsPerTurn = 100;

/**
 * The CPU of the GraphQL page with traces of one request in a hundred, as a ratio to the mean of two processes without traces. The
 * difference is smaller than that between two processes of the same build. So several groups are compared, in which the process
 * with traces starts first, second and third in turn, and the ratio of the two others shows the error.
 */
export async function measureTraces(bench: Bench): Promise<Row[]> {
  const database = await bench.createDatabase();
  const first = await bench.startServer(database);
  await seed(database.client, { ...pageSeed, organizationId: first.organizationId });
  const endpoint = await startReceiver(bench);
  const load = bench.startScript('load');
  const traced: number[] = [];
  const control: number[] = [];
  for (let group = 0; group < (bench.options.isQuick ? 3 : 6); group++) {
    const ratios = await compareProcesses(bench, database, { first, endpoint, load, position: group % 3 });
    traced.push(...ratios.traced);
    control.push(...ratios.control);
    bench.progress(`  traces: ${textOf(traced)}; control: ${textOf(control)}`);
  }
  return [{ name: 'traces/cpu', value: meanOf(traced), note: `${textOf(traced)}; without traces ${textOf(control)}` }];
}

interface Setting {
  readonly first: Server;
  readonly endpoint: string;
  readonly load: Script;
  /** The process with traces starts after this many others. */
  readonly position: number;
}

/**
 * Compares three new processes: one with traces and two without. Returns, by round, the ratio of its CPU to the mean of theirs, and the
 * ratio of the second of them to the first.
 */
async function compareProcesses(bench: Bench, database: Database, { first, endpoint, load, position }: Setting) {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: '0.01' };
  const all: Server[] = [];
  for (let n = 0; n < 3; n++) all.push(await bench.startServer(database, n === position ? { env } : {}));
  const traced = all[position] as Server;
  const [plain, control] = all.filter((each) => each !== traced) as [Server, Server];
  const costOf = async ({ pid, url }: Server, times: number) => {
    const before = cpuMs(pid);
    const request = { url, requests: [pageRequest(first)], connections: 16, ms: 60_000, isVarying: false, times };
    const { count } = await load.ask<LoadResult>(request);
    return (cpuMs(pid) - before) / count;
  };
  // Until V8 has compiled the code.
  for (const server of all) await costOf(server, 4_000);
  const ratios = { traced: [] as number[], control: [] as number[] };
  for (let round = 0; round < 12; round++) {
    // The order rotates, so that none has the position after another one always.
    const turns = all.map((_, n) => all[(n + round) % all.length] as Server);
    const sums = new Map<Server, number>();
    for (let turn = 0; turn < 4; turn++)
      for (const server of turns) sums.set(server, (sums.get(server) ?? 0) + (await costOf(server, requestsPerTurn)));
    const [own, one, other] = [traced, plain, control].map((server) => sums.get(server) as number) as [
      number,
      number,
      number,
    ];
    ratios.traced.push((2 * own) / (one + other));
    ratios.control.push(other / one);
  }
  for (const server of all) await server.stop();
  return ratios;
}

/** Starts a receiver of traces that accepts everything. Returns its address. */
async function startReceiver(bench: Bench): Promise<string> {
  const receiver = createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  bench.defer(() => receiver.closeAllConnections());
  bench.defer(() => receiver.close());
  return `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The mean, and its standard error. */
function textOf(values: readonly number[]): string {
  const mean = meanOf(values);
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  return `${mean.toFixed(4)} ± ${Math.sqrt(variance / values.length).toFixed(4)}`;
}
