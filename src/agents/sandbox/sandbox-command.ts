import { join } from 'node:path';
import type { AgentLaunch, AgentPaths, AgentProfile } from '../agent.ts';

/** The process of the host that a launch becomes. */
export interface SandboxCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** Changes to the agent's variables. */
  readonly env: Readonly<Record<string, string>>;
  /** The inputs that the process reads from descriptors 3, 4 and so on. */
  readonly inputs: readonly Buffer[];
  /** The agent's paths to its directories. */
  readonly paths: AgentPaths;
  /** True if the process is only the sandbox: the agent is a process below it, and ends with it. */
  readonly isWrapped: boolean;
  /** The command to run after it has ended; empty: none. */
  readonly stopCommand: readonly string[];
}

/** The parts of a launch that a driver reads. */
export interface SandboxedLaunch extends Pick<AgentLaunch, 'workspaceDir' | 'homeDir' | 'runtimeDir' | 'runId'> {
  readonly profile: Pick<AgentProfile, 'command' | 'sandbox'>;
}

/** The input from which a driver creates a {@link SandboxCommand}. */
export interface SandboxRequest {
  readonly launch: SandboxedLaunch;
  /** The agent's variables, including those of its profile. */
  readonly env: Readonly<Record<string, string>>;
  /** The gateway's socket, if the agent may reach only its model, through the gateway. */
  readonly gatewaySocket: string | null;
}

/** The port of the gateway for an agent without its own network: a port that hardly any other program uses. */
export const gatewayPort = 47_001;

/** The gateway's socket in a run's runtime directory, for either path of the directory. */
export function gatewaySocketIn(runtimeDir: string): string {
  return join(runtimeDir, 'llm.sock');
}

/** The three directories on the host. */
export function hostPaths(launch: SandboxedLaunch): AgentPaths {
  return { workspace: launch.workspaceDir, home: launch.homeDir, runtime: launch.runtimeDir };
}
