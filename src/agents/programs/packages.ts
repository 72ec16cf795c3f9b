/** The npm package of a ready agent's program, in the version that was tested (docs/agents.md). */
export interface AgentPackage {
  readonly agentId: string;
  /** The program's name: the first word of the profile's `command`. */
  readonly program: string;
  /** The package's name for users. */
  readonly name: string;
  readonly version: string;
  /** The packages to install: one, or one for each platform. */
  readonly packages: readonly string[];
  /** The program's file in the installed package; it is below `bin` or where the package's `bin` field points. */
  readonly file: string;
  /** The approximate size of the download on Linux x64 in megabytes, from which the progress is calculated. */
  readonly downloadMb: number;
}

const opencodePlatforms = [
  ...[
    'linux-x64',
    'linux-x64-baseline',
    'linux-x64-musl',
    'linux-x64-baseline-musl',
    'linux-arm64',
    'linux-arm64-musl',
  ],
  ...['darwin-x64', 'darwin-x64-baseline', 'darwin-arm64'],
];

/** The packages of the ready agents that can be installed, by agent, in the order in which a default agent is chosen. */
export const agentPackages: Readonly<Record<string, AgentPackage>> = {
  claude: {
    agentId: 'claude',
    program: 'claude-agent-acp',
    name: '@agentclientprotocol/claude-agent-acp',
    version: '0.49.0',
    packages: ['@agentclientprotocol/claude-agent-acp'],
    file: 'dist/index.js',
    downloadMb: 180,
  },
  codex: {
    agentId: 'codex',
    program: 'codex-acp',
    name: '@agentclientprotocol/codex-acp',
    version: '2.6.0',
    packages: ['@agentclientprotocol/codex-acp'],
    file: 'dist/index.js',
    downloadMb: 350,
  },
  gemini: {
    agentId: 'gemini',
    program: 'gemini',
    name: '@google/gemini-cli',
    version: '0.61.0',
    packages: ['@google/gemini-cli'],
    file: 'bundle/gemini.js',
    downloadMb: 45,
  },
  opencode: {
    agentId: 'opencode',
    program: 'opencode',
    name: 'opencode-ai',
    version: '1.18.33',
    // The package opencode-ai only selects one of these, in an install script.
    packages: opencodePlatforms.map((platform) => `opencode-${platform}`),
    file: 'bin/opencode',
    downloadMb: 120,
  },
  qwen: {
    agentId: 'qwen',
    program: 'qwen',
    name: '@qwen-code/qwen-code',
    version: '0.15.10',
    packages: ['@qwen-code/qwen-code'],
    file: 'cli.js',
    downloadMb: 35,
  },
  cline: {
    agentId: 'cline',
    program: 'cline',
    name: 'cline',
    version: '3.0.65',
    packages: ['cline'],
    file: 'bin/cline',
    downloadMb: 210,
  },
};
