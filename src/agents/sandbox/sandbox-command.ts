import { join } from 'node:path';
import type { AgentLaunch, AgentPaths, AgentProfile } from '../agent.ts';

/** How a launch becomes a process of the host. */
export interface SandboxCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** What changes in the variables that the agent is given. */
  readonly env: Readonly<Record<string, string>>;
  /** The inputs that the process reads from its descriptors 3, 4 and so on. */
  readonly inputs: readonly Buffer[];
  /** How the agent sees its directories. */
  readonly paths: AgentPaths;
  /** Whether the process is only the wall: the agent is a process below it, and ends with it. */
  readonly isWrapped: boolean;
  /** What is run when it has ended; empty: nothing. */
  readonly stopCommand: readonly string[];
}

/** What a driver looks at in a launch. */
export interface SandboxedLaunch extends Pick<AgentLaunch, 'workspaceDir' | 'homeDir' | 'runtimeDir' | 'runId'> {
  readonly profile: Pick<AgentProfile, 'command' | 'sandbox'>;
}

/** What a driver makes a {@link SandboxCommand} of. */
export interface SandboxRequest {
  readonly launch: SandboxedLaunch;
  /** The variables that the agent is given, with those of its profile. */
  readonly env: Readonly<Record<string, string>>;
  /** The gateway's socket, where the agent is to reach its model through that and nothing else. */
  readonly gatewaySocket: string | null;
}

/** Where an agent without a network of its own finds the gateway: a port that nothing else is likely to want. */
export const gatewayPort = 47_001;

/** The gateway's socket, in a run's runtime directory as it is seen here or there. */
export function gatewaySocketIn(runtimeDir: string): string {
  return join(runtimeDir, 'llm.sock');
}

/** The three directories as they are on the host. */
export function hostPaths(launch: SandboxedLaunch): AgentPaths {
  return { workspace: launch.workspaceDir, home: launch.homeDir, runtime: launch.runtimeDir };
}
