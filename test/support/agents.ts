import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { type AgentsOptions, createAgents } from '../../src/agents/acp/agents.ts';
import {
  AgentCrash,
  type AgentProcess,
  type AgentProfile,
  type Agents,
  type AgentUpdate,
} from '../../src/agents/agent.ts';
import { loadProfiles } from '../../src/agents/profiles.ts';
import type { Sandbox } from '../../src/agents/sandbox/driver.ts';
import { type DriversOptions, openDrivers, type SandboxDrivers } from '../../src/agents/sandbox/drivers.ts';
import { homeIn, sessionIn, workspaceIn } from '../../src/agents/sandbox/local/session-directories.ts';
import { scriptedCommand } from './programs.ts';
import type { Script } from './scripted-agent.ts';

/** A launched agent and all updates that it reported. */
export interface LaunchedAgent {
  readonly agent: AgentProcess;
  /** The id of its process on this machine; 0: it runs elsewhere. */
  readonly pid: number;
  readonly sandbox: Sandbox;
  readonly agents: Agents;
  readonly updates: AgentUpdate[];
  readonly workspaceDir: string;
  /** The agent's messages, without updates of tools and plans. */
  messages(): string[];
  /** The number of updates that arrived before the previous one was handled. */
  overlaps(): number;
  /** Resolves with the first past or future update of a type. */
  next<T extends AgentUpdate['type']>(type: T): Promise<Extract<AgentUpdate, { type: T }>>;
}

/** The directories of an agent on this machine. */
export interface TestDirs {
  readonly dataDir: string;
  readonly sessionId: string;
  readonly workspaceDir: string;
  readonly homeDir: string;
  /** The records of processes. */
  readonly spoolDir: string;
  /** A short path for sockets. */
  readonly runtimeDir: string;
}

/** Creates the directories of an agent for one test. They survive a relaunch, so that sessions can be resumed. */
export function makeDirs(): TestDirs {
  const root = mkdtempSync(join(tmpdir(), 'switchyard-agents-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const sessionId = randomUUID().replaceAll('-', '');
  const session = sessionIn(root, sessionId);
  const dirs = {
    workspaceDir: workspaceIn(session),
    homeDir: homeIn(session),
    spoolDir: join(root, 'agents'),
    runtimeDir: join(root, 'run'),
  };
  for (const dir of Object.values(dirs)) mkdirSync(dir, { recursive: true });
  return { dataDir: root, sessionId, ...dirs };
}

/** Options of a launch. */
export interface LaunchOptions {
  readonly dirs?: TestDirs;
  readonly env?: Record<string, string>;
  readonly timeouts?: NonNullable<AgentsOptions['timeouts']>;
  /** Default: those of this machine, without bubblewrap. */
  readonly drivers?: SandboxDrivers;
  readonly safeLength?: (text: string) => number;
  /** The agents of an earlier launch. */
  readonly agents?: Agents;
  /** Delays the handling of every update until it resolves. */
  readonly gate?: Promise<unknown>;
}

/** Opens the drivers of this machine as a worker does. */
export function openTestDrivers({ dirs, ...options }: TestDrivers): Promise<SandboxDrivers> {
  const { dataDir } = dirs ?? makeDirs();
  const log = { info: () => undefined, warn: () => undefined };
  // A separate id: an agent of an earlier launch in this test is not an orphan.
  const workerId = `test-${randomUUID()}`;
  const path = process.env.PATH ?? '';
  return openDrivers({ dataDir, workerId, baseEnv: { PATH: path }, path, hidden: [], log, ...options });
}

/** Options of {@link openTestDrivers}. */
export type TestDrivers = Pick<DriversOptions, 'choice'> &
  Partial<Pick<DriversOptions, 'baseEnv' | 'path' | 'hidden' | 'log'>> & { readonly dirs?: TestDirs };

/** Launches the demo agent, or a profile derived from it, as a real child process; the test's end stops it. */
export async function launchAgent(
  profile: Partial<AgentProfile> = {},
  options: LaunchOptions = {},
): Promise<LaunchedAgent> {
  const { profiles } = await loadProfiles(null);
  const dirs = options.dirs ?? makeDirs();
  const graces = { cancelMs: 2_000, stdinMs: 1_000, termMs: 300, interruptMs: 300 };
  const demo = { ...(profiles.get('demo') as AgentProfile), stopGraces: graces, ...profile };
  const agents =
    options.agents ??
    createAgents({
      drivers: options.drivers ?? (await openTestDrivers({ choice: 'none', path: '', dirs })),
      timeouts: options.timeouts ?? {},
    });
  const sandbox = await agents.openSandbox({ profile: demo, sessionId: dirs.sessionId, isNew: false });
  onTestFinished(() => sandbox.close());
  let pid = 0;
  const observed: Sandbox = {
    ...sandbox,
    async start(launch) {
      const process = await sandbox.start(launch);
      pid = 'pid' in process ? Number(process.pid) : 0;
      return process;
    },
  };
  const updates: AgentUpdate[] = [];
  const waiting = new Set<() => void>();
  let isBusy = false;
  let overlaps = 0;
  const agent = await agents.launch({
    sandbox: observed,
    profile: demo,
    env: options.env ?? {},
    ...(options.safeLength && { safeLength: options.safeLength }),
    onUpdate: async (update) => {
      if (isBusy) overlaps++;
      isBusy = true;
      updates.push(update);
      for (const check of waiting) check();
      await (options.gate ?? setImmediate());
      isBusy = false;
    },
  });
  onTestFinished(() => agent.stop());
  return {
    agent,
    pid,
    sandbox,
    agents,
    updates,
    workspaceDir: dirs.workspaceDir,
    overlaps: () => overlaps,
    messages: () => updates.flatMap((update) => (update.type === 'message' ? [update.text] : [])),
    next: (type) =>
      new Promise((resolve) => {
        const check = () => {
          const found = updates.find((update) => update.type === type);
          if (found) resolve(found as never);
        };
        waiting.add(check);
        check();
      }),
  };
}

/** Launches an agent that follows a script, see scripted-agent.ts. */
export function launchScripted(
  script: Script,
  profile: Partial<AgentProfile> = {},
  options: LaunchOptions = {},
): Promise<LaunchedAgent> {
  const dirs = options.dirs ?? makeDirs();
  const file = join(dirs.homeDir, 'script.json');
  writeFileSync(file, JSON.stringify(script));
  return launchAgent({ command: scriptedCommand(file), ...profile }, { ...options, dirs });
}

/** Returns one text block. */
export const text = (body: string) => [{ type: 'text' as const, text: body }];

/** Launches a scripted agent and opens its session. */
export async function launchOpened(...how: Parameters<typeof launchScripted>): ReturnType<typeof launchScripted> {
  const launched = await launchScripted(...how);
  await launched.agent.open(null);
  return launched;
}

/** Returns the crash with which a promise must reject. */
export async function crashOf(promise: Promise<unknown>): Promise<AgentCrash> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AgentCrash);
  return error as AgentCrash;
}
