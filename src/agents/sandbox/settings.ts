/** Paths of an agent's directories: on the machine that runs it, or as the agent sees them. */
export interface AgentPaths {
  readonly workspace: string;
  readonly home: string;
  /** Sockets and files of one run. */
  readonly runtime: string;
}

/** The isolation of an agent from its host, as a profile sets it. */
export interface SandboxSettings {
  readonly driver: 'none' | 'bwrap' | 'command';
  /**
   * The command before the agent's own command, with the driver `command`; may contain placeholders. Otherwise empty.
   */
  readonly command: readonly string[];
  /** `gateway`: the agent can reach only the provider, through the gateway; nothing at all if there is no gateway. */
  readonly network: 'shared' | 'gateway';
  /** Absolute paths of the host that the agent may read in the sandbox. */
  readonly readOnly: readonly string[];
  /** The maximum size of each directory for temporary files with the driver `bwrap`, in MiB. */
  readonly tmpMb: number;
  /** The agent's paths to its directories with the driver `command`; null: the paths on the host. */
  readonly paths: AgentPaths | null;
  /**
   * The command to run after an agent of the driver `command` has ended or was killed, with the same placeholders. May
   * be empty.
   */
  readonly stopCommand: readonly string[];
}
