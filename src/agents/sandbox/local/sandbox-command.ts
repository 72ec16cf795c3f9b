import type { AgentPaths, SandboxSettings } from '../settings.ts';

/** The process of the host that a command in a sandbox becomes. */
export interface SandboxCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** Changes to the command's variables. */
  readonly env: Readonly<Record<string, string>>;
  /** The inputs that the process reads from descriptors 3, 4 and so on. */
  readonly inputs: readonly Buffer[];
  /** True if the process is only the sandbox: the command is a process below it, and ends with it. */
  readonly isWrapped: boolean;
  /** The command to run after it has ended; empty: none. */
  readonly stopCommand: readonly string[];
}

/** A port of the sandbox's loopback that leads to a socket in the runtime directory. */
export interface PortForward {
  readonly port: number;
  /** The name of the socket's file. */
  readonly socketName: string;
}

/** The input from which a local driver creates a {@link SandboxCommand}. */
export interface WrapRequest {
  /** Program and arguments. */
  readonly command: readonly string[];
  /** All variables of the command. */
  readonly env: Readonly<Record<string, string>>;
  readonly settings: SandboxSettings | null;
  readonly sessionId: string;
  /** The three directories on the host. */
  readonly directories: AgentPaths;
  /** Directories of the host that the process may read: objects of the session's repositories. */
  readonly borrowed: readonly string[];
  /** For a sandbox without a network. */
  readonly forwards: readonly PortForward[];
}

/**
 * The port of the first HTTP service for an agent without its own network; further services have the next ones. Hardly
 * any other program uses them.
 */
export const firstForwardedPort = 47_001;

/** The file name of a service's socket in the runtime directory. */
export function socketNameOf(service: string): string {
  return `${service}.sock`;
}
