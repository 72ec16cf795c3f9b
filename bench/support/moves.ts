import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  type MovingSessions,
  openMovingSessions,
  type SessionRow,
  type WorkerProcess,
} from '../../test/support/checkpoint-kills/moving-sessions.ts';
import { plainGit } from '../../test/support/forges/git-backend.ts';
import type { Bench } from './bench.ts';
import { installPackages } from './checkpoint-workspace.ts';
import { ensureRepository } from './git-repository.ts';
import { permitForge, startLocalForge } from './local-forge.ts';
import { type MovedAgentEntry, movedAgent } from './moved-agent.ts';
import { launchService, movingEnv } from './with-moving-sessions.ts';

const run = promisify(execFile);

/** The times of one move in ms. */
export interface Move {
  /** From the loss of the worker until another one claimed the session. */
  readonly claimMs: number;
  /** From there until the agent got its prompt. */
  readonly backMs: number;
}

/** The times of one fork in ms, from the start of its request. */
export interface Fork {
  /** Until the response. */
  readonly responseMs: number;
  /** Until the fork's agent got its prompt. */
  readonly promptMs: number;
}

/** A session in a repository of 100 MB with 20,000 ignored files, whose worker can be lost. */
export interface MovableSession {
  /** Loses its worker. `isWarm`: the next one has a mirror of the repository. */
  move(isWarm: boolean): Promise<Move>;
  /** Forks it to another worker, which has a mirror of the repository, while its agent works on. Not followed by a move. */
  fork(): Promise<Fork>;
  /** Creates the same files by hand: git clone, and tar with zstd for the ignored files. Returns ms; null: no zstd. */
  byHand(isWarm: boolean): Promise<number | null>;
}

const patienceMs = 180_000;

/** Starts the service, and a session that has been saved completely. */
export async function openMovableSession(bench: Bench): Promise<MovableSession> {
  const repository = await ensureRepository((text) => bench.progress(text));
  const forge = await startLocalForge(bench, repository);
  const root = await bench.createFolder();
  const packages = join(root, 'packages');
  await mkdir(packages);
  await installPackages(packages);
  const archive = join(root, 'packages.tar.zst');
  const hasArchive = await run('sh', [
    '-c',
    'tar -C "$1" -cf - node_modules | zstd -q -o "$2"',
    'sh',
    packages,
    archive,
  ]).then(
    () => true,
    () => false,
  );
  const prompts = join(root, 'prompts.ndjson');
  await writeFile(prompts, '');
  const command = [process.execPath, '-e', movedAgent, prompts, join(packages, 'node_modules')];
  const agents = [{ id: 'moved', command, mcp: false, 'memory_mb': 50, sandbox: { driver: 'none' } }];
  const config = join(root, 'agents.json');
  await writeFile(config, JSON.stringify({ agents, default: 'moved' }));
  const { url } = await bench.createDatabase();
  const moving = await openMovingSessions({
    root: join(root, 'service'),
    databaseUrl: url,
    // One session for each worker: a second one runs on the worker that is free.
    env: { AGENTS_CONFIG: config, MAX_CONCURRENT_SESSIONS: '1', GIT_ALLOW_HTTP: 'true', ...movingEnv },
    launch: (env) => launchService(bench, env),
  });
  bench.defer(moving.close);
  await permitForge(forge, moving.organizationId, moving.mutate);
  const repositories = [{ repository: `${forge.host}/${await forge.newPath()}` }];
  const readPrompts = async () =>
    (await readFile(prompts, 'utf8'))
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as MovedAgentEntry);

  let holder: WorkerProcess = await moving.startWorker();
  const id = await moving.createSession({ prompt: 'Install.', repositories });
  await waitForRow(moving, id, ({ isTurnOpen, isQueued }) => !isTurnOpen && !isQueued);
  await waitForCheckpoint(moving, id, `content->'ignored' is not null and content->>'ignored' is not null`);
  await moving.sendMessage(id, 'Work.');
  await waitForPrompt(readPrompts, 1);

  const warmUp = async () => {
    const other = await moving.createSession({ prompt: 'Answer.', repositories });
    await waitForRow(moving, other, ({ isTurnOpen, isQueued }) => !isTurnOpen && !isQueued);
    await moving.mutate('terminateSession', 'session { sessionId }', { sessionId: other });
    await waitForRow(moving, other, ({ isLeased }) => !isLeased);
  };

  let hasSpare = false;
  return {
    async move(isWarm) {
      const next = await moving.startWorker();
      if (isWarm) await warmUp();
      const { generation } = await waitForRow(moving, id, ({ isTurnOpen }) => isTurnOpen);
      const count = (await readPrompts()).length;
      // The last change is saved by then.
      await wait(5_000);
      const lostAt = await moving.lose(holder);
      holder = next;
      await waitForRow(moving, id, (row) => row.generation > generation);
      const claimedAt = Date.now();
      const { at, packages: found } = await waitForPrompt(readPrompts, count);
      if (found === 0) throw new Error('The agent continues without its ignored files.');
      return { claimMs: claimedAt - lostAt, backMs: at - claimedAt };
    },
    async fork() {
      if (!hasSpare) {
        await moving.startWorker();
        await warmUp();
        hasSpare = true;
      }
      const count = (await readPrompts()).length;
      const from = Date.now();
      const { session } = await moving.mutate('forkSession', 'session { sessionId }', {
        sessionId: id,
        point: { turn: 1 },
        prompt: 'Answer.',
      });
      const responseMs = Date.now() - from;
      const { at, packages: found } = await waitForPrompt(readPrompts, count);
      if (found === 0) throw new Error('The fork starts without its ignored files.');
      await moving.mutate('terminateSession', 'session { sessionId }', { sessionId: session.sessionId });
      await waitForRow(moving, session.sessionId.replace('devin-', ''), ({ isLeased }) => !isLeased);
      return { responseMs, promptMs: at - from };
    },
    async byHand(isWarm) {
      if (!hasArchive) return null;
      const target = await bench.createFolder();
      const from = performance.now();
      const source = isWarm
        ? ['--shared', repository]
        : [`${forge.url}/${repositories[0]?.repository.split('/').slice(1).join('/')}.git`];
      await run('git', ['clone', '-q', ...source, join(target, 'clone')], { env: plainGit });
      await run('sh', ['-c', 'zstd -qdc "$1" | tar -C "$2" -xf -', 'sh', archive, join(target, 'clone')]);
      return performance.now() - from;
    },
  };
}

async function waitForRow(moving: MovingSessions, id: string, isWanted: (row: SessionRow) => boolean) {
  for (const until = Date.now() + patienceMs; ; await wait(15)) {
    const row = (await moving.readSessions()).get(id);
    if (row?.status === 'error') throw new Error('A session has failed.');
    if (row !== undefined && isWanted(row)) return row;
    if (Date.now() > until) throw new Error(`A session does not continue: ${JSON.stringify(row)}`);
  }
}

async function waitForCheckpoint({ database }: MovingSessions, id: string, condition: string): Promise<void> {
  const sql = `select 1 from run r join checkpoint c on c.id = r.checkpoint_id where r.session_id = $1 and ${condition}`;
  for (const until = Date.now() + patienceMs; ; await wait(100)) {
    if ((await database.query(sql, [id])).rowCount === 1) return;
    if (Date.now() > until) throw new Error('The session is not saved.');
  }
}

async function waitForPrompt(
  readPrompts: () => Promise<readonly MovedAgentEntry[]>,
  count: number,
): Promise<MovedAgentEntry> {
  for (const until = Date.now() + patienceMs; ; await wait(15)) {
    const entry = (await readPrompts())[count];
    if (entry !== undefined) return entry;
    if (Date.now() > until) throw new Error('The agent gets no prompt.');
  }
}
