import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  journalsOf,
  type MovingSessions,
  openMovingSessions,
  type ServiceProcess,
} from '../../test/support/checkpoint-kills/moving-sessions.ts';
import type { JournalAgentSettings } from '../../test/support/journal-agent.ts';
import { builtProgram } from '../../test/support/programs.ts';
import { type Bench, createBench, openCluster } from './bench.ts';
import { readOptions } from './options.ts';
import { start } from './processes.ts';

type AgentSettings = Pick<JournalAgentSettings, 'packages'> & Partial<JournalAgentSettings>;

/** Options of {@link withMovingSessions}. */
export interface MovingOptions {
  /** The directory in which data directories are made. */
  readonly directory: string;
  /** True: the data directories are not deleted. */
  readonly keep: boolean;
}

/**
 * Starts a service whose workers come and go for `work`, with two agents that keep journals: `small`, and `installing`, in which
 * npm installs packages, too.
 */
export async function withMovingSessions<T>(
  { directory, keep }: MovingOptions,
  agent: AgentSettings,
  work: (moving: MovingSessions) => Promise<T>,
): Promise<T> {
  const options = readOptions([]);
  if (options === null) throw new Error('There are no options.');
  process.setMaxListeners(1_000);
  const cluster = await openCluster();
  const { bench, end } = createBench(cluster.url, options);
  const root = await mkdtemp(join(directory, 'switchyard-moving-'));
  try {
    return await work(await openJournaledSessions(bench, root, agent));
  } finally {
    await end();
    await cluster.stop();
    if (!keep) await rm(root, { recursive: true, force: true });
  }
}

/** Starts the service of {@link withMovingSessions} for a measurement, with its files below `root`. */
export async function openJournaledSessions(bench: Bench, root: string, agent: AgentSettings): Promise<MovingSessions> {
  const agentOf = (id: string, more: object) => {
    const settings = { journals: journalsOf(root), steps: [4, 20], pauseMs: [20, 800], ...agent, ...more };
    const command = [process.execPath, builtProgram('journal-agent'), JSON.stringify(settings)];
    return { id, command, mcp: false, 'memory_mb': 50, sandbox: { driver: 'none' } };
  };
  const config = join(root, 'agents.json');
  const agents = [agentOf('small', { packages: null }), agentOf('installing', {})];
  await writeFile(config, JSON.stringify({ agents, default: 'small' }));
  const env = { AGENTS_CONFIG: config, MAX_CONCURRENT_SESSIONS: '100', ...movingEnv };
  const { url } = await bench.createDatabase();
  const launch = (each: Record<string, string>) => launchService(bench, each);
  const moving = await openMovingSessions({ root, databaseUrl: url, env, launch });
  bench.defer(moving.close);
  return moving;
}

/** The variables with which a lost worker is noticed soon. */
export const movingEnv = { LEASE_SECONDS: '4', WORKSPACE_AFFINITY_SECONDS: '0' } as const;

/** Starts a process of the service with the variables. */
export async function launchService(bench: Bench, env: Record<string, string>): Promise<ServiceProcess> {
  const main = join(bench.options.dist ?? 'dist', 'main.js');
  const running = start(process.execPath, [main], { env: { PATH: process.env.PATH ?? '', ...env } });
  bench.defer(running.stop);
  const [, url = ''] = await running.waitForOutput(/Switchyard is at (http:\S+?)\.\s/);
  return { ...running, url };
}
