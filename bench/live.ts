import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { measureOpencode, opencodeRows } from './live-opencode.ts';
import { openAudience, openBareWs, sessionIds, startPublisher, subscriber } from './support/audience.ts';
import type { Bench, Database, Server } from './support/bench.ts';
import { median } from './support/compare.ts';
import { askOnce, graphqlRequest } from './support/http.ts';
import type { MeasureName, Row } from './support/measures.ts';
import { isSelected } from './support/options.ts';
import { cpuMs } from './support/processes.ts';
import { topFunctions } from './support/profile.ts';
import { seed } from './support/seed.ts';

/** Sessions with a real agent process, each watched by one subscriber. */
const agents = 6;
/** The interval of the agent's chunks, as of a model with 50 tokens a second. */
const chunkMs = 20;
/** Sessions whose drafts a process sends as a worker does, and the parts of each per second. */
const sessions = 200;
const partsPerSecond = 20;

const document = `subscription Live($id: ID!) { sessionLive(sessionId: $id) { __typename
  ... on Draft { draftId kind toolCallId offset text isDone isTruncated }
  ... on SessionEventEdge { cursor node { id seq kind ... on SessionMessage { draftId } } } } }`;

/** Drafts: the time from an agent's chunk to its subscriber, and the CPU that they cost. */
export async function measureLive(bench: Bench): Promise<Row[]> {
  const rows: Row[] = [];
  for (const name of ['live/one-process', 'live/two-processes'] as const) {
    if (isSelected(bench.options, name)) rows.push(await measureLatency(bench, name));
  }
  if (opencodeRows.some((name) => isSelected(bench.options, name))) rows.push(...(await measureOpencode(bench)));
  if (isSelected(bench.options, 'live/cpu')) rows.push(await measureCpu(bench));
  if (isSelected(bench.options, 'live/unwatched')) rows.push(await measureUnwatched(bench));
  return rows;
}

/** Starts a service whose only agent streams messages. */
async function startStreaming(bench: Bench, database: Database, roles: string): Promise<Server> {
  const loader = import.meta.resolve('tsx');
  const agent = new URL('./support/streaming-agent.ts', import.meta.url).pathname;
  const command = [process.execPath, '--import', loader, agent];
  const file = join(await bench.createFolder(), 'agents.json');
  const profile = { id: 'streaming', command, mcp: false, 'memory_mb': 50, sandbox: { driver: 'none' } };
  await writeFile(file, JSON.stringify({ agents: [profile] }));
  return bench.startServer(database, { env: { ROLES: roles, AGENTS_CONFIG: file, MAX_CONCURRENT_SESSIONS: '50' } });
}

async function createSessions(server: Server, count: number, prompt: string): Promise<string[]> {
  const query =
    'mutation($input: CreateSessionInput!) { createSession(input: $input) { session { sessionId } userErrors { message } } }';
  const organizationId = `org-${server.organizationId}`;
  const create = async () => {
    const { data } = await askOnce(
      server.url,
      graphqlRequest(server.token, query, { input: { organizationId, prompt } }),
    );
    // JSON of the requested fields, as the document says.
    return (data as any).createSession.session.sessionId as string;
  };
  return Promise.all(Array.from({ length: count }, create));
}

async function measureLatency(bench: Bench, name: MeasureName): Promise<Row> {
  const database = await bench.createDatabase();
  const isOne = name === 'live/one-process';
  const server = await startStreaming(bench, database, isOne ? 'api,worker' : 'api');
  if (!isOne) await startStreaming(bench, database, 'worker');
  const ids = await createSessions(server, agents, `stream ${chunkMs} 600000`);
  const audience = await openAudience(
    bench,
    ids.map((id) => subscriber(server, server.token, id, document)),
  );
  // The agents start, and the first parts warm everything up.
  for (let received = 0; received < agents * 40; received += (await audience.latencies()).length) await wait(500);
  await audience.latencies();
  await wait(bench.options.isQuick ? 4_000 : 20_000);
  const latencies = (await audience.latencies()).sort((a, b) => a - b);
  const at = (part: number) => latencies[Math.ceil(part * latencies.length) - 1] ?? Number.NaN;
  const times = `p50 ${at(0.5).toFixed(0)} ms, p95 ${at(0.95).toFixed(0)} ms, most ${at(1).toFixed(0)} ms`;
  bench.progress(`  ${name}: ${times}`);
  return {
    name,
    value: at(0.95),
    note: `${times}, of ${latencies.length} parts of ${agents} sessions; the oldest chunk of each`,
  };
}

/** Sends parts for a period, and returns the CPU of the server for each frame that arrives, in microseconds. */
async function measureCpu(bench: Bench): Promise<Row> {
  const name = 'live/cpu';
  const database = await bench.createDatabase();
  const folder = await bench.createFolder();
  const execArgv = bench.options.isProfiled ? ['--cpu-prof', '--cpu-prof-dir', folder] : [];
  const server = await bench.startServer(database, { env: { ROLES: 'api' }, execArgv });
  await seed(database.client, { organizationId: server.organizationId, sessions, entriesEach: 1 });
  const ids = (await sessionIds(database)).slice(0, sessions);
  const audience = await openAudience(
    bench,
    ids.map((id) => subscriber(server, server.token, id, document)),
  );
  const publisher = await startPublisher(bench, database);
  const bare = await openBareWs(bench, sessions);
  const ms = bench.options.isQuick ? 3_000 : 10_000;
  await publisher.ask({ act: 'drafts', sessionIds: ids, perSecond: partsPerSecond, ms: 1_000 });
  const frame = await audience.lastFrame();
  const own = async () => {
    const [before, frames] = [cpuMs(server.pid), await audience.count()];
    await publisher.ask({ act: 'drafts', sessionIds: ids, perSecond: partsPerSecond, ms });
    await wait(300);
    const count = (await audience.count()) - frames;
    return { perFrame: ((cpuMs(server.pid) - before) * 1_000) / count, count };
  };
  const count = (ms / 1_000) * partsPerSecond * sessions;
  // The same bytes, written to all sockets at once: one wake-up of the receiver for 200 parts.
  const atOnce = async () => {
    const before = cpuMs(bare.pid);
    const [startedAt, ticks] = [performance.now(), (ms / 1_000) * partsPerSecond];
    for (let n = 1; n <= ticks; n++) {
      await bare.send(frame);
      await wait(Math.max(0, startedAt + (n * 1_000) / partsPerSecond - performance.now()));
    }
    return ((cpuMs(bare.pid) - before) * 1_000) / count;
  };
  // The same bytes, to each socket at its own times.
  const spread = async () => {
    const before = cpuMs(bare.pid);
    await bare.stream(frame, partsPerSecond, ms);
    return ((cpuMs(bare.pid) - before) * 1_000) / count;
  };
  for (const warmUp of [own, spread, atOnce]) await warmUp();
  const rounds: { ours: number; spread: number; atOnce: number }[] = [];
  let frames = 0;
  for (let n = 0; n < 3; n++) {
    const ours = await own();
    rounds.push({ ours: ours.perFrame, spread: await spread(), atOnce: await atOnce() });
    frames += ours.count;
  }
  const of = (key: 'ours' | 'spread' | 'atOnce') => median(rounds.map((round) => round[key]));
  if (bench.options.isProfiled) {
    await server.stop();
    for (const line of await topFunctions(folder, 40)) bench.progress(`  ${line}`);
  }
  const bares = `bare ws ${of('spread').toFixed(1)} µs, and ${of('atOnce').toFixed(1)} µs if it writes to all sockets at once`;
  const each = `${of('ours').toFixed(1)} µs for each part; ${bares}`;
  bench.progress(`  ${name}: ${each}`);
  return { name, value: of('ours') / of('spread'), note: `${each}; ${frames} parts of ${frame.length} bytes` };
}

/** The CPU of a worker for chunks of sessions that nobody watches. */
async function measureUnwatched(bench: Bench): Promise<Row> {
  const name = 'live/unwatched';
  const database = await bench.createDatabase();
  const server = await startStreaming(bench, database, 'api,worker');
  await createSessions(server, agents, `stream ${chunkMs} 600000`);
  const started = "select count(*)::int as count from log_entry where kind = 'TURN'";
  while ((await database.client.query(started)).rows[0].count < agents) await wait(200);
  await wait(2_000);
  const seconds = bench.options.isQuick ? 10 : 30;
  const before = cpuMs(server.pid);
  await wait(seconds * 1_000);
  const chunks = (agents * seconds * 1_000) / chunkMs;
  const perThousand = ((cpuMs(server.pid) - before) * 1_000) / chunks;
  bench.progress(`  ${name}: ${perThousand.toFixed(0)} ms for 1,000 chunks`);
  return { name, value: perThousand, note: `${chunks} chunks of ${agents} sessions; all work of the process` };
}
