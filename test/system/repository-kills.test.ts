import { existsSync, mkdirSync, readdirSync, watch } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { findByEnvironment } from '../../src/agents/sandbox/process-identity.ts';
import type { TestApp } from '../support/app.ts';
import { createRandom, type Random } from '../support/chaos/scenarios.ts';
import { giteaToken } from '../support/forges/gitea.ts';
import { type HeldAt, type HeldForge, type Hold, startHeldForge } from '../support/forges/held-forge.ts';
import { connectForgeAt } from '../support/git-webhooks.ts';
import { runMutation } from '../support/people.ts';
import { writeProfiles } from '../support/profiles.ts';
import { factor, seed } from '../support/property-runs.ts';
import { bootstrapToken, type ServerProcess, startServer } from '../support/server.ts';
import { makeServerEnv } from '../support/server-env.ts';
import { waitUntilEnded } from '../support/session-waits.ts';
import { createSession, firstOrganizationId } from '../support/sessions.ts';
import { shellAgent } from '../support/shell-agent.ts';
import { testDatabase } from '../support/test-store.ts';

/** Moments of a session at which its server is killed, in the order of a session's life. */
const moments = {
  'the refs of the clone are asked for': { at: 'refs' },
  'the objects of the clone are asked for': { at: 'fetch' },
  'a part of the pack of the clone has arrived': { at: 'half fetch' },
  'the clone is being checked out': { at: 'fetch' },
  'a part of the pack of the push is sent': { at: 'half push' },
  'the push is sent': { at: 'push' },
  'the forge has the push, without an answer': { at: 'pushed' },
  'the push is being written to the log': { at: 'pushed' },
  'the push is in the log': { at: null },
  'the pull request is searched': { at: 'find' },
  'the pull request is asked for': { at: 'create' },
  'the forge has created the pull request, without an answer': { at: 'created' },
  'the pull request is being written': { at: 'created' },
} as const satisfies Record<string, { readonly at: HeldAt | null }>;
type Moment = keyof typeof moments;
const allMoments = Object.keys(moments) as Moment[];

/** Moments at which a pull request is being opened. */
const isOpening = (moment: Moment) => ['find', 'create', 'created'].includes(moments[moment].at ?? '');
const isPushing = (moment: Moment) => moments[moment].at === 'half push' || moments[moment].at === 'push';
const isCloning = (moment: Moment) => allMoments.indexOf(moment) < 4;

const packBytes = 3_000_000;
const branch = 'work';

/** Commits once, however often it runs, and pushes. */
const prompt = [
  `[ -f page ] || { head -c ${packBytes} /dev/urandom >page; git add page; git commit -qm 'Add a page'; }`,
  'git push -q origin HEAD 2>&1',
  'git rev-parse HEAD',
].join('\n');

interface Killed {
  readonly moment: Moment;
  readonly path: string;
  readonly sessionId: string;
}

class Service {
  readonly database: pg.Pool;
  readonly env: Record<string, string>;
  server!: ServerProcess;
  test!: TestApp;

  constructor(env: Record<string, string>) {
    this.env = env;
    this.database = new pg.Pool({ connectionString: env.DATABASE_URL, max: 4 });
  }

  async start(): Promise<void> {
    this.server = await startServer(this.env);
    const organizationId = this.test?.organizationId ?? (await firstOrganizationId(this.server, bootstrapToken));
    this.test = { url: this.server.url, adminToken: bootstrapToken, organizationId } as TestApp;
  }

  async rows<T extends pg.QueryResultRow = Record<string, any>>(sql: string, ...values: unknown[]): Promise<T[]> {
    return (await this.database.query<T>(sql, values)).rows;
  }

  entries(sessionId: string, kind: string) {
    const sql = 'select data from log_entry where session_id = $1 and kind = $2 order by seq';
    return this.rows(sql, sessionId, kind).then((found) => found.map(({ data }) => data));
  }

  /** Locks a session, so that a transaction of the server waits for it. Returns the end of the lock. */
  async lock(sessionId: string): Promise<() => Promise<void>> {
    const client = new pg.Client(this.env.DATABASE_URL);
    await client.connect();
    await client.query('begin');
    await client.query('select 1 from session_head where session_id = $1 for update', [sessionId]);
    await client.query('select 1 from session where id = $1 for update', [sessionId]);
    return () => client.end();
  }

  /** Waits until this number of the server's transactions wait for locks. */
  async waitForLocks(count: number): Promise<void> {
    const sql = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await vi.waitUntil(async () => (await this.rows(sql)).length >= count, { timeout: 240_000 });
  }
}

async function startService(): Promise<Service> {
  // No warm agents, so that each run ends by itself.
  const own = { sandbox: 'none', mcp: false, warm_ttl_ms: 0 };
  const shell = { id: 'shell', command: [process.execPath, '-e', shellAgent], ...own };
  const service = new Service({
    ...(await makeServerEnv()),
    AGENTS_CONFIG: await writeProfiles({}, shell),
    GIT_ALLOW_HTTP: 'true',
    MAX_CONCURRENT_SESSIONS: '50',
    RATE_LIMIT_PROVIDER: '0',
  });
  onTestFinished(() => service.database.end());
  await service.start();
  return service;
}

const open = ({ test }: Service, { sessionId }: Pick<Killed, 'sessionId'>) =>
  runMutation(test, 'openPullRequest', 'pullRequest { url }', { sessionId, title: 'Add a page', body: '' });

interface Reached {
  readonly killed: Killed;
  readonly hold: Hold | null;
  readonly unlock: (() => Promise<void>) | null;
}

const start = (service: Service, path: string) =>
  createSession(service.test, { prompt, agent: 'shell', repositories: [{ repository: path, branch }] });

type Wanted = Pick<Killed, 'moment' | 'path'> & { readonly bytes: number };

/**
 * Starts sessions, and returns when all have come to their moments. The service gives up a forge that is silent for 20 to 30
 * seconds, so the sessions with the longest way to their moments go first, and the others are held for a short time.
 */
async function reachAll(service: Service, forge: HeldForge, wanted: readonly Wanted[]): Promise<Reached[]> {
  const those = (isWanted: (moment: Moment) => boolean) => wanted.filter(({ moment }) => isWanted(moment));
  const isUnheld = (moment: Moment) => moments[moment].at === null;
  const opening = await Promise.all(
    those(isOpening).map(async ({ moment, path }) => {
      const sessionId = await start(service, path);
      await waitUntilEnded(service.test, sessionId);
      return { moment, path, sessionId };
    }),
  );
  const reachThose = (isWanted: (moment: Moment) => boolean) =>
    Promise.all(those(isWanted).map((each) => reach(service, forge, each)));
  const pushing = await reachThose((moment) => !isOpening(moment) && !isUnheld(moment) && !isCloning(moment));
  const logged = await Promise.all(
    those(isUnheld).map(async ({ moment, path }) => {
      const sessionId = await start(service, path);
      const isLogged = async () => (await service.entries(sessionId, 'PUSH')).length > 0;
      await vi.waitUntil(isLogged, { timeout: 240_000 });
      return { killed: { moment, path, sessionId }, hold: null, unlock: null };
    }),
  );
  const cloning = await reachThose(isCloning);
  const opened = await Promise.all(opening.map((killed) => reachOpening(service, forge, killed)));
  return [...pushing, ...logged, ...cloning, ...opened];
}

async function reach(service: Service, forge: HeldForge, { moment, path, bytes }: Wanted): Promise<Reached> {
  const hold = forge.hold(path, moments[moment].at as HeldAt, bytes);
  return stopAt(service, hold, { moment, path, sessionId: await start(service, path) });
}

async function reachOpening(service: Service, forge: HeldForge, killed: Killed): Promise<Reached> {
  const hold = forge.hold(killed.path, moments[killed.moment].at as HeldAt);
  void open(service, killed).catch(() => null);
  return stopAt(service, hold, killed);
}

async function stopAt(service: Service, hold: Hold, killed: Killed): Promise<Reached> {
  const { moment, sessionId } = killed;
  await hold.reached;
  const isWriting = moment === 'the push is being written to the log' || moment === 'the pull request is being written';
  if (!isWriting) return { killed, hold, unlock: null };
  const unlock = await service.lock(sessionId);
  hold.release();
  return { killed, hold, unlock };
}

/** Kills the server shortly after a checkout has begun. */
async function killInCheckout(service: Service, hold: Hold, delayMs: number): Promise<void> {
  const directory = join(service.env.DATA_DIR as string, 'repositories', '.clones');
  mkdirSync(directory, { recursive: true });
  const watcher = watch(directory);
  // Not the end of the clone that filled the mirror.
  const begun = new Promise<void>((resolve) => {
    watcher.on('change', (_, name) => existsSync(join(directory, String(name))) && resolve());
  });
  hold.release();
  await begun;
  watcher.close();
  await wait(delayMs);
  await service.server.kill();
}

/** Returns the files below a directory that only a killed process leaves. */
function findLeftovers(directory: string): string[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /\.lock$|\/\.new-|^\.snapshots\/|\/objects\/.*(?:tmp_|incoming-)/.test(name));
}

async function check(service: Service, forge: HeldForge, { moment, path, sessionId }: Killed): Promise<void> {
  const about = `killed when ${moment}`;
  expect(await service.entries(sessionId, 'ERROR'), about).toEqual([]);
  const head = await forge.git.git(path, 'rev-parse', branch);
  expect(await forge.git.git(path, 'for-each-ref', '--format=%(refname:short)'), about).toBe(`main\n${branch}`);
  expect(await forge.git.git(path, 'log', '--format=%s', `main..${branch}`), about).toBe('Add a page');

  const pushes = await service.entries(sessionId, 'PUSH');
  const accepted = { old: null, new: head, outcome: 'ACCEPTED', subjects: ['Add a page'], refusal: null };
  const lost = { old: null, new: head, outcome: 'UNKNOWN', refusal: expect.stringContaining('was lost') };
  expect(pushes, about).toMatchObject(isPushing(moment) ? [lost, accepted] : [accepted]);
  const audited = `select 1 from audit_entry where session_id = $1 and action = 'push_commits'`;
  expect(await service.rows(audited, sessionId), about).toHaveLength(1);
  const [repository] = await service.rows('select * from session_repository where session_id = $1', sessionId);
  expect(repository, about).toMatchObject({ state: 'READY', base_ref: 'main', pending_pushes: {} });

  const steps = (await service.entries(sessionId, 'REPOSITORY')).map(({ state, percent }) => (percent ? null : state));
  const begun = ['CLONING', ...(isCloning(moment) ? ['CLONING'] : [])];
  expect(steps.filter(Boolean), about).toEqual([...begun, 'READY']);

  const pulls = forge.pulls.filter((pull) => pull.path === path);
  expect(pulls, about).toMatchObject([{ head: branch, base: 'main', state: 'open' }]);
  expect(await service.entries(sessionId, 'PULL_REQUEST'), about).toHaveLength(1);
  const rows = await service.rows(
    'select number, is_opened_by_service from pull_request where session_id = $1',
    sessionId,
  );
  expect(rows, about).toEqual([{ number: pulls[0]?.number, is_opened_by_service: true }]);
  expect(await service.rows('select id from pull_request_intent where session_id = $1', sessionId), about).toEqual([]);
}

// PGlite has no second connection, which holds back a transaction.
describe.skipIf(testDatabase !== 'postgres')('sessions in repositories whose server is killed', () => {
  const rounds = Math.max(1, Math.round(factor));
  it('continue with one branch, one pull request and a true log', { timeout: rounds * 480_000 }, async () => {
    const random = createRandom(seed);
    const paths = Array.from({ length: rounds * allMoments.length }, (_, n) => `acme/site-${n}`);
    const forge = await startHeldForge(paths);
    const files = Array.from({ length: 300 }, (_, n) => [`file-${n}`, 'abcdefgh'.repeat(random.below(100))] as const);
    await forge.git.addRepository('acme/seed', { ...Object.fromEntries(files), noise: noise(random, 1_000_000) });
    const service = await startService();
    await connectForgeAt(service.test, forge.url, { providerType: 'GITEA_TOKEN', token: giteaToken });
    const all: Killed[] = [];
    for (let round = 0; round < rounds; round++) {
      const wanted = allMoments.map((moment, n) => ({
        moment,
        path: paths[round * allMoments.length + n] as string,
        bytes: random.below(900_000),
      }));
      for (const { path } of wanted)
        await cp(forge.git.directoryOf('acme/seed'), forge.git.directoryOf(path), { recursive: true });
      const found = await reachAll(service, forge, wanted);
      await service.waitForLocks(found.filter(({ unlock }) => unlock !== null).length);
      const checkout = found.find(({ killed }) => killed.moment === 'the clone is being checked out');
      await killInCheckout(service, checkout?.hold as Hold, random.below(100));
      for (const { unlock } of found) await unlock?.();
      // As if the time had passed in which the killed process could have opened them.
      await service.rows('update pull_request_intent set claimed_until_at = now()');
      await service.start();
      for (const { hold } of found) hold?.release();
      const killed = found.map((each) => each.killed);
      await Promise.all(killed.map(({ sessionId }) => waitUntilEnded(service.test, sessionId)));
      const isResumed = async () => (await service.rows('select 1 from pull_request_intent')).length === 0;
      await vi.waitUntil(isResumed, { timeout: 240_000 });
      for (const each of killed.filter(({ moment }) => !isOpening(moment)))
        expect(await open(service, each)).toMatchObject({ userErrors: [] });
      all.push(...killed);
      for (const each of all) await check(service, forge, each);
    }
    const [worker] = await service.rows('select id from worker');
    // A stop waits for the last saves of all runs, at most 30 seconds, which a busy machine may exceed.
    const isIdle = async () => (await service.rows('select 1 from lease')).length === 0;
    await vi.waitUntil(isIdle, { timeout: 240_000 });
    const code = await service.server.stop();
    expect(code, service.server.output().slice(-3_000)).toBe(0);
    expect(findByEnvironment({ SWITCHYARD_WORKER: worker?.id })).toEqual([]);
    const dataDir = service.env.DATA_DIR as string;
    expect(findLeftovers(join(dataDir, 'repositories'))).toEqual([]);
    expect(findLeftovers(join(dataDir, 'sessions'))).toEqual([]);
    if (process.env.TEST_LOG) process.stderr.write(`${all.length} sessions, ${rounds} kills\n`);
  });
});

/** Text that does not compress well, so that a pack has its size. */
function noise(random: Random, length: number): string {
  return Array.from({ length }, () => String.fromCharCode(33 + random.below(94))).join('');
}
