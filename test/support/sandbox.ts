import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentProfile } from '../../src/agents/agent.ts';
import { openBwrap } from '../../src/agents/sandbox/open-bwrap.ts';
import type { SandboxSettings } from '../../src/agents/sandbox/settings.ts';
import { type LaunchedAgent, type LaunchOptions, launchAgent, makeDirs, openTestDrivers, text } from './agents.ts';
import { builtProgram } from './programs.ts';

/** The reason why there is no sandbox on this machine; null: there is one. */
export async function whyNoSandbox(): Promise<string | null> {
  const directory = mkdtempSync(join(tmpdir(), 'switchyard-sandbox-'));
  try {
    await openBwrap({ directory, path: process.env.PATH ?? '', hidden: [] });
    return null;
  } catch (error) {
    return `SANDBOX is "bwrap", and that does not work: ${(error as Error).message}`;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Creates a bubblewrap sandbox with other settings. */
export function sandbox(settings: Partial<SandboxSettings> = {}): SandboxSettings {
  const defaults = {
    driver: 'bwrap',
    command: [],
    network: 'shared',
    readOnly: [],
    tmpMb: 1_024,
    paths: null,
    stopCommand: [],
  } as const;
  return { ...defaults, ...settings };
}

/** An agent that explores its surroundings: see probe-agent.ts. */
export interface Probe extends LaunchedAgent {
  /** Runs the body of an asynchronous function inside, which has `require`; returns its result, or `{failed: code}`. */
  inspect(body: string): Promise<any>;
}

/** The command of a probe. */
export const probeCommand = (): string[] => [process.execPath, builtProgram('probe-agent')];

/** Launches a probe, by default in a sandbox. */
export async function launchProbe(
  profile: Partial<AgentProfile> = {},
  { hidden = [], ...options }: LaunchOptions & { hidden?: readonly string[] } = {},
): Promise<Probe> {
  const dirs = options.dirs ?? makeDirs();
  const drivers = options.drivers ?? (await openTestDrivers({ choice: 'auto', dirs, hidden }));
  const launched = await launchAgent(
    {
      command: probeCommand(),
      sandbox: sandbox(),
      stopGraces: { cancelMs: 1_000, stdinMs: 50, termMs: 5_000, interruptMs: 700 },
      ...profile,
    },
    { ...options, dirs, drivers },
  );
  await launched.agent.open(null);
  return {
    ...launched,
    async inspect(body) {
      await launched.agent.prompt(text(body));
      return JSON.parse(launched.messages().at(-1) ?? '');
    },
  };
}
