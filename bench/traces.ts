import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openTracing } from '../src/tracing/open-tracing.ts';
import { pageRequest, pageSeed } from './graphql-page.ts';
import type { Bench, Database, Server } from './support/bench.ts';
import type { LoadResult } from './support/load.ts';
import type { Row } from './support/measures.ts';
import { cpuMs, type Script } from './support/processes.ts';
import { seed } from './support/seed.ts';

/** Requests of one process before the next one has its turn: drift of the machine affects all of them. */
const requestsPerTurn = 100;

/** The part of requests that the row is about. */
const ratio = 0.01;

/** Decisions of the sampler that are measured. */
const decisions = 200_000;

/**
 * The CPU of the GraphQL page with traces of one request in a hundred, as a ratio to a process without traces. The difference is smaller
 * than that between two processes of the same build, so its two parts are measured. One process records every request: a
 * hundredth of its additional CPU is the cost of the records. Several groups are compared, in which it starts first, second and third in turn. The other
 * part is the decision for each request, which is measured alone.
 */
export async function measureTraces(bench: Bench): Promise<Row[]> {
  const database = await bench.createDatabase();
  const first = await bench.startServer(database);
  await seed(database.client, { ...pageSeed, organizationId: first.organizationId });
  const endpoint = await startReceiver(bench);
  const load = bench.startScript('load');
  const traced: number[] = [];
  const control: number[] = [];
  const pages: number[] = [];
  for (let group = 0; group < (bench.options.isQuick ? 3 : 6); group++) {
    const ratios = await compareProcesses(bench, database, { first, endpoint, load, position: group % 3 });
    traced.push(...ratios.traced);
    control.push(...ratios.control);
    pages.push(...ratios.pageMs);
    bench.progress(`  traces: ${textOf(traced)}; control: ${textOf(control)}`);
  }
  const decision = (await measureDecision(endpoint)) / meanOf(pages);
  const value = 1 + (meanOf(traced) - 1) * ratio + decision;
  const note = `all recorded ${textOf(traced)}; a decision ${(decision * 100).toFixed(3)} %; without traces ${textOf(control)}`;
  return [{ name: 'traces/cpu', value, note }];
}

/** Returns the CPU, in ms, of the decision not to record a request. */
async function measureDecision(endpoint: string): Promise<number> {
  const log = { warn: () => undefined };
  const tracing = await openTracing({ endpoint, headers: {}, ratio: 1e-9, serviceName: 'bench', log });
  const before = process.cpuUsage();
  for (let n = 0; n < decisions; n++) {
    const attributes = { 'http.request.method': 'POST', 'url.path': '/graphql', 'switchyard.request_id': 'bench' };
    tracing.start('POST', { kind: 'server', attributes, traceparent: null });
  }
  const { user, system } = process.cpuUsage(before);
  await tracing.close();
  return (user + system) / 1_000 / decisions;
}

interface Setting {
  readonly first: Server;
  readonly endpoint: string;
  readonly load: Script;
  /** The process with traces starts after this many others. */
  readonly position: number;
}

/**
 * Compares three new processes: one that records all requests and two without traces. Returns, by round, the ratio of its CPU to the mean of
 * theirs, the ratio of the second of them to the first, and their CPU for a page, in ms.
 */
async function compareProcesses(bench: Bench, database: Database, { first, endpoint, load, position }: Setting) {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: '1' };
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
  const ratios = { traced: [] as number[], control: [] as number[], pageMs: [] as number[] };
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
    // A sum of four turns.
    ratios.pageMs.push((one + other) / 8);
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
