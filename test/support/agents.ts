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
import type { Sandbox } from '../../src/agents/sandbox/sandbox.ts';
import { scriptedCommand } from './programs.ts';
import type { Script } from './scripted-agent.ts';

/** A launched agent and all updates that it reported. */
export interface LaunchedAgent {
  readonly agent: AgentProcess;
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

/** Creates the directories of an agent for one test. They survive a relaunch, so that sessions can be resumed. */
export function makeDirs(): { workspaceDir: string; homeDir: string; runtimeDir: string; spoolDir: string } {
  const root = mkdtempSync(join(tmpdir(), 'switchyard-agents-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const inRoot = (name: string) => join(root, name);
  const dirs = {
    workspaceDir: inRoot('ws'),
    homeDir: inRoot('home'),
    runtimeDir: inRoot('run'),
    spoolDir: inRoot('spool'),
  };
  for (const dir of Object.values(dirs)) mkdirSync(dir);
  return dirs;
}

/** Options of a launch. */
export interface LaunchOptions {
  readonly dirs?: ReturnType<typeof makeDirs>;
  readonly env?: Record<string, string>;
  readonly timeouts?: NonNullable<AgentsOptions['timeouts']>;
  /** Default: no sandbox. */
  readonly isolation?: Sandbox;
  readonly safeLength?: (text: string) => number;
  /** The agents of an earlier launch. */
  readonly agents?: Agents;
  /** Delays the handling of every update until it resolves. */
  readonly gate?: Promise<unknown>;
}

/** Launches the demo agent, or a profile derived from it, as a real child process; the test's end stops it. */
export async function launchAgent(
  profile: Partial<AgentProfile> = {},
  options: LaunchOptions = {},
): Promise<LaunchedAgent> {
  const { profiles } = await loadProfiles(null);
  const dirs = options.dirs ?? makeDirs();
  const graces = { cancelMs: 2_000, stdinMs: 1_000, termMs: 300 };
  const demo = { ...(profiles.get('demo') as AgentProfile), stopGraces: graces, ...profile };
  const log = { info: () => undefined, debug: () => undefined, warn: () => undefined };
  const baseEnv = { PATH: process.env.PATH ?? '' };
  const agents =
    options.agents ??
    (await createAgents({
      baseEnv,
      // A separate id: an agent of an earlier launch in this test is not an orphan.
      workerId: `test-${randomUUID()}`,
      spoolDir: dirs.spoolDir,
      timeouts: options.timeouts ?? {},
      ...(options.isolation && { sandbox: options.isolation }),
      log,
    }));
  const updates: AgentUpdate[] = [];
  const waiting = new Set<() => void>();
  let isBusy = false;
  let overlaps = 0;
  const agent = await agents.launch({
    ...dirs,
    profile: demo,
    env: options.env ?? {},
    runId: randomUUID(),
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
