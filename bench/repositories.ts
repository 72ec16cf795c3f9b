import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openBwrap } from '../src/agents/sandbox/open-bwrap.ts';
import { plainGit } from '../test/support/forges/git-backend.ts';
import type { Bench, Server } from './support/bench.ts';
import { median } from './support/compare.ts';
import { ensureRepository } from './support/git-repository.ts';
import { askOnce, graphqlRequest } from './support/http.ts';
import { type LocalForge, nowMs, permitForge, startLocalForge } from './support/local-forge.ts';
import type { MeasureName, Row } from './support/measures.ts';
import { mutate } from './support/mutate.ts';
import { type AgentTimes, promptedAgent } from './support/prompted-agent.ts';

const run = promisify(execFile);

/** The steps of a start, in ms. */
interface Steps {
  /** From the request until the worker begins with the repository. */
  readonly queue: number;
  /** Until the last response of the forge. */
  readonly forge: number;
  /** Until the clone is complete. */
  readonly clone: number;
  /** Until the agent gets the first prompt. */
  readonly agent: number;
  readonly total: number;
}

const steps = ['queue', 'forge', 'clone', 'agent', 'total'] as const;

/**
 * The time from `createSession` until the agent has its first prompt, in a repository of 100 MB: with a warm mirror, with and
 * without a sandbox, and without a mirror. The baselines are clones by hand, in the same run.
 */
export async function measureRepositories(bench: Bench): Promise<Row[]> {
  const repository = await ensureRepository((text) => bench.progress(text));
  const forge = await startLocalForge(bench, repository);
  const noSandbox = await openBwrap({
    directory: await bench.createFolder(),
    path: process.env.PATH ?? '',
    hidden: [],
  }).then(
    () => null,
    (error: Error) => error.message,
  );
  const command = [process.execPath, '-e', promptedAgent];
  const common = { command, mcp: false, 'memory_mb': 50 };
  const agents = [
    { id: 'open', sandbox: { driver: 'none' }, ...common },
    ...(noSandbox === null ? [{ id: 'closed', sandbox: { driver: 'bwrap' }, ...common }] : []),
  ];
  const file = join(await bench.createFolder(), 'agents.json');
  await writeFile(file, JSON.stringify({ agents }));
  const env = { ROLES: 'api,worker', AGENTS_CONFIG: file, MAX_CONCURRENT_SESSIONS: '500', GIT_ALLOW_HTTP: 'true' };
  const server = await bench.startServer(await bench.createDatabase(), { env });
  await permitForge(forge, `org-${server.organizationId}`, (...args) => mutate(server, ...args));

  const cold = await compareCold(bench, server, forge);
  const path = await forge.newPath();
  await start(server, forge, { agent: 'open', path });
  // The other branches are fetched in the background.
  await untilQuiet(forge);
  const sessions = bench.options.isQuick ? 20 : 40;
  const found = {
    open: [] as Steps[],
    closed: [] as Steps[],
    second: [] as Steps[],
    none: [] as number[],
    shared: [] as number[],
  };
  for (let n = -1; n < sessions; n++) {
    await untilSpare(server, path);
    const open = await start(server, forge, { agent: 'open', path });
    await untilSpare(server, path);
    const closed = noSandbox === null ? [await start(server, forge, { agent: 'closed', path })] : [];
    await untilSpare(server, path);
    const both = await Promise.all([1, 2].map(() => start(server, forge, { agent: 'open', path })));
    const none = await start(server, forge, { agent: 'open', path: null });
    const shared = await cloneByHand(bench, ['--shared', repository]);
    // The first round warms up.
    if (n < 0) continue;
    found.open.push(open);
    found.closed.push(...closed);
    found.second.push(...both.toSorted((a, b) => b.total - a.total).slice(0, 1));
    found.none.push(none.total);
    found.shared.push(shared);
  }
  const [none, shared] = [at(found.none, 0.5), at(found.shared, 0.5)];
  const baselines = `without a repository p50 ${none.toFixed(0)} ms; git clone --shared by hand p50 ${shared.toFixed(0)} ms, p95 ${at(found.shared, 0.95).toFixed(0)} ms`;
  const row = (name: MeasureName, value: number | null, note: string): Row => {
    bench.progress(`  ${name}: ${note}`);
    return { name, value, note };
  };
  const warm = (name: MeasureName, list: readonly Steps[]) =>
    row(name, at(totalsOf(list), 0.95) / 1_000, `${describe(list)}; ${baselines}`);
  const ratio = at(totalsOf(found.open), 0.5) / shared;
  return [
    warm('repositories/warm', found.open),
    noSandbox === null
      ? warm('repositories/warm-sandbox', found.closed)
      : row('repositories/warm-sandbox', null, `Not measured: ${noSandbox}`),
    warm('repositories/second', found.second),
    row('repositories/warm-ratio', ratio, baselines),
    row('repositories/cold', cold.ratio, cold.note),
  ];
}

/** Compares the first session of a repository with clones by hand, in turn. */
async function compareCold(bench: Bench, server: Server, forge: LocalForge): Promise<{ ratio: number; note: string }> {
  const found = { ours: [] as Steps[], plain: [] as number[], checking: [] as number[], reference: [] as number[] };
  const mirror = join(await bench.createFolder(), 'mirror.git');
  await run('git', ['clone', '-q', '--mirror', `${forge.url}/${await forge.newPath()}.git`, mirror], { env: plainGit });
  for (let n = 0; n < (bench.options.isQuick ? 3 : 5); n++) {
    const path = await forge.newPath();
    const url = `${forge.url}/${path}.git`;
    found.plain.push(await cloneByHand(bench, [url]));
    found.checking.push(await cloneByHand(bench, ['-c', 'fetch.fsckObjects=true', url]));
    found.reference.push(await cloneByHand(bench, ['--reference', mirror, url]));
    found.ours.push(await start(server, forge, { agent: 'open', path }));
    await untilSpare(server, path);
  }
  const [ours, plain, checking, reference] = [
    median(totalsOf(found.ours)),
    median(found.plain),
    median(found.checking),
    median(found.reference),
  ];
  const note = `${describe(found.ours)}; git clone ${plain.toFixed(0)} ms, with fetch.fsckObjects ${checking.toFixed(0)} ms (ours ${(ours / checking).toFixed(2)} ×), with --reference ${reference.toFixed(0)} ms; medians of ${found.ours.length}`;
  return { ratio: ours / plain, note };
}

/**
 * Clones into a new folder, which stays until the end of the measurement: ext4 without a journal does not use the inodes of
 * deleted files again for a minute, and searching for others slows down the next checkout by seconds.
 */
async function cloneByHand(bench: Bench, args: readonly string[]): Promise<number> {
  const target = await bench.createFolder();
  await flushDisk();
  const from = nowMs();
  await run('git', ['clone', '-q', ...args, target], { env: plainGit });
  return nowMs() - from;
}

/** Writes what earlier runs left to write, so that it does not slow down the next one. */
async function flushDisk(): Promise<void> {
  await run('sync');
}

const sessionDocument = `query($id: ID!) { session(id: $id) { status events(last: 50) { nodes { __typename createdAt
  ... on SessionMessage { type body } ... on RepositoryEvent { state: repositoryState } } } } }`;

/** Starts a session, and waits until its agent has answered. */
async function start(
  server: Server,
  forge: LocalForge,
  { agent, path }: { readonly agent: string; readonly path: string | null },
): Promise<Steps> {
  const repositories = path === null ? [] : [{ repository: `${forge.host}/${path}` }];
  const input = { organizationId: `org-${server.organizationId}`, agent, prompt: 'Go.', repositories };
  await flushDisk();
  const from = nowMs();
  const { session } = await mutate(server, 'createSession', 'session { sessionId }', input);
  const id = session.sessionId as string;
  for (;;) {
    await wait(100);
    const { data } = await askOnce(server.url, graphqlRequest(server.token, sessionDocument, { id }));
    const entries = data.session.events.nodes as { createdAt: string; state?: string; type?: string; body?: string }[];
    const answer = entries.find(({ type }) => type === 'AGENT_MESSAGE');
    if (answer === undefined) {
      if (data.session.status === 'ERROR') throw new Error(`A session failed: ${JSON.stringify(entries)}`);
      continue;
    }
    const { prompt, files } = JSON.parse(answer.body ?? '') as AgentTimes;
    if (path !== null && files === 0) throw new Error('The agent started without the files of its repository.');
    // Log entries have the time of day.
    const offset = nowMs() - Date.now();
    const timeOf = (state: string) => {
      const entry = entries.find((each) => each.state === state);
      return entry === undefined ? prompt : Date.parse(entry.createdAt) + offset;
    };
    const [cloning, ready] = [timeOf('CLONING'), timeOf('READY')];
    const ends = forge.requests.filter((each) => each.from >= cloning && each.until <= ready).map(({ until }) => until);
    const fetched = path === null ? cloning : Math.max(cloning, ...ends);
    return {
      queue: cloning - from,
      forge: fetched - cloning,
      clone: ready - fetched,
      agent: prompt - ready,
      total: prompt - from,
    };
  }
}

/** Waits until the worker has made a spare clone of the repository: git writes its index last. */
async function untilSpare({ dataDir }: Server, path: string): Promise<void> {
  const clones = join(dataDir, 'repositories', '.clones');
  const isSpare = async (name: string) => {
    const config = await readFile(join(clones, name, '.git/config'), 'utf8').catch(() => '');
    return config.includes(`/${path}.git`) && existsSync(join(clones, name, '.git/index'));
  };
  for (const until = nowMs() + 120_000; ; await wait(200)) {
    const names = await readdir(clones).catch(() => []);
    if ((await Promise.all(names.map(isSpare))).includes(true)) return;
    if (nowMs() > until) throw new Error('The worker has made no spare clone.');
  }
}

async function untilQuiet(forge: LocalForge): Promise<void> {
  let seen = -1;
  while (seen !== forge.requests.length || forge.requests.some(({ until }) => Number.isNaN(until))) {
    seen = forge.requests.length;
    await wait(1_500);
  }
}

function totalsOf(list: readonly Steps[]): number[] {
  return list.map(({ total }) => total);
}

function at(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(part * values.length) - 1] ?? Number.NaN;
}

function describe(list: readonly Steps[]): string {
  const each = steps.map((step) => {
    const values = list.map((one) => one[step]);
    return `${step} ${at(values, 0.5).toFixed(0)} / ${at(values, 0.95).toFixed(0)}`;
  });
  return `${each.join(', ')} ms (p50 / p95 of ${list.length})`;
}
