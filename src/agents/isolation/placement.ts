import type { AgentLaunch, AgentPaths } from '../agent.ts';

/** How a launch becomes a process of the host. */
export interface Placement {
  readonly program: string;
  readonly args: readonly string[];
  /** What changes in the variables that the agent is given. */
  readonly env: Readonly<Record<string, string>>;
  /** How the agent sees its directories. */
  readonly paths: AgentPaths;
  /** Whether the process is only the wall: the agent is a process below it, and ends with it. */
  readonly isWrapped: boolean;
  /** What is run when it has ended; empty: nothing. */
  readonly stopCommand: readonly string[];
}

/** What a driver makes a {@link Placement} of. */
export interface PlacementRequest {
  readonly launch: AgentLaunch;
  /** The variables that the agent is given, with those of its profile. */
  readonly env: Readonly<Record<string, string>>;
  /** The gateway's socket, where the agent is to reach its model through that and nothing else. */
  readonly gatewaySocket: string | null;
}

/** Where an agent without a network of its own finds the gateway: a port that nothing else is likely to want. */
export const gatewayPort = 47_001;

/** The gateway's socket in the runtime directory of a run. */
export const gatewaySocketName = 'llm.sock';

/** The three directories as they are on the host. */
export function hostPaths(launch: AgentLaunch): AgentPaths {
  return { workspace: launch.workspaceDir, home: launch.homeDir, runtime: launch.runtimeDir };
}
