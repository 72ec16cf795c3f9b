import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createAgents } from '../../src/agents/acp/agents.ts';
import type { AgentProcess, AgentProfile, AgentUpdate } from '../../src/agents/agent.ts';
import { loadProfiles } from '../../src/agents/profiles.ts';

/** A launched agent and everything that it reported. */
export interface LaunchedAgent {
  readonly agent: AgentProcess;
  readonly updates: AgentUpdate[];
  readonly workspaceDir: string;
  /** The updates without tool and plan noise: what was said. */
  said(): string[];
  /** Resolves with the first update, past or coming, of a type. */
  next<T extends AgentUpdate['type']>(type: T): Promise<Extract<AgentUpdate, { type: T }>>;
}

/** Where agents of one test live; survives a relaunch, so that sessions can be taken up. */
export function makeDirs(): { workspaceDir: string; homeDir: string; spoolDir: string } {
  const root = mkdtempSync(join(tmpdir(), 'switchyard-agents-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const dirs = { workspaceDir: join(root, 'ws'), homeDir: join(root, 'home'), spoolDir: join(root, 'spool') };
  for (const dir of Object.values(dirs)) mkdirSync(dir);
  return dirs;
}

/** Launches the demo agent, or a profile made from it, as a real child process; stopped at the test's end. */
export async function launchAgent(
  profile: Partial<AgentProfile> = {},
  options: { dirs?: ReturnType<typeof makeDirs>; env?: Record<string, string>; workerId?: string } = {},
): Promise<LaunchedAgent> {
  const { profiles } = await loadProfiles(null);
  const dirs = options.dirs ?? makeDirs();
  const graces = { cancelMs: 2_000, stdinMs: 1_000, termMs: 300 };
  const demo = { ...(profiles.get('demo') as AgentProfile), stopGraces: graces, ...profile };
  const log = { info: () => undefined, debug: () => undefined };
  const baseEnv = { PATH: process.env.PATH ?? '' };
  const agents = await createAgents({
    profiles,
    baseEnv,
    workerId: options.workerId ?? `test-${process.pid}`,
    spoolDir: dirs.spoolDir,
    log,
  });
  const updates: AgentUpdate[] = [];
  const waiting = new Set<() => void>();
  const agent = await agents.launch({
    ...dirs,
    profile: demo,
    env: options.env ?? {},
    runId: `run-${Math.random()}`,
    onUpdate: async (update) => {
      updates.push(update);
      for (const look of waiting) look();
    },
  });
  onTestFinished(() => agent.stop());
  return {
    agent,
    updates,
    workspaceDir: dirs.workspaceDir,
    said: () => updates.flatMap((update) => (update.type === 'message' ? [update.text] : [])),
    next: (type) =>
      new Promise((resolve) => {
        const look = () => {
          const found = updates.find((update) => update.type === type);
          if (found) resolve(found as never);
        };
        waiting.add(look);
        look();
      }),
  };
}

/** One text block. */
export const text = (words: string) => [{ type: 'text' as const, text: words }];
