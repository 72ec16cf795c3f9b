import { fileURLToPath } from 'node:url';
import { gatewayKey as key, opencodeConfig, gatewayUrl as url } from './routes.ts';

const openai = { variables: ['OPENAI_API_KEY'], api: 'openai', 'base_url': 'https://api.openai.com/v1' } as const;

const qwenUrl = 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1';

/**
 * Predefined agents by id, in the form of AGENTS_CONFIG. An entry there with the same id, or that `extends` one, builds
 * on it. Their programs must be installed. Tested with the versions in docs/agents.md.
 */
export const readyEntries: Readonly<Record<string, ReadyEntry>> = {
  demo: { id: 'demo', name: 'Demo agent', command: demoCommand(), instructions: 'service', 'memory_mb': 100 },
  opencode: {
    id: 'opencode',
    name: 'opencode',
    command: ['opencode', 'acp'],
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeConfig) },
    provider: {
      ...openai,
      variables: ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY', 'OPENCODE_API_KEY'],
      'gateway_env': {
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_CONFIG_CONTENT: JSON.stringify({
          ...opencodeConfig,
          provider: { openai: { options: { baseURL: url, apiKey: key } } },
        }),
      },
    },
    'memory_mb': 700,
  },
  gemini: {
    id: 'gemini',
    name: 'Gemini CLI',
    command: ['gemini', '--acp', '--skip-trust'],
    // Otherwise it restarts itself to get more memory, and the first process does not speak ACP.
    env: { GEMINI_CLI_NO_RELAUNCH: 'true' },
    'auth_method': 'gemini-api-key',
    // It hides every tool named "ask_user" from its model: its own and those of servers.
    'ask_tool': 'ask_the_user',
    // Its commands have an empty system configuration of Git.
    'git_identity': 'variables',
    // It reads GEMINI.md.
    instructions: 'service',
    provider: {
      variables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
      api: 'gemini',
      'base_url': 'https://generativelanguage.googleapis.com',
      'gateway_env': { GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: url },
    },
    'memory_mb': 300,
  },
  codex: {
    id: 'codex',
    name: 'Codex',
    command: ['codex-acp'],
    // Its own sandbox interferes with its tools here; Switchyard's sandbox isolates it.
    env: { INITIAL_AGENT_MODE: 'agent-full-access', NO_BROWSER: '1' },
    'auth_method': 'api-key',
    provider: {
      ...openai,
      variables: ['CODEX_API_KEY', 'OPENAI_API_KEY'],
      'gateway_env': { CODEX_API_KEY: key, CODEX_CONFIG: JSON.stringify({ 'openai_base_url': url }) },
    },
    'memory_mb': 300,
  },
  claude: {
    id: 'claude',
    name: 'Claude Code',
    command: ['claude-agent-acp'],
    // It reads CLAUDE.md.
    instructions: 'service',
    env: { DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
    provider: {
      variables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
      api: 'anthropic',
      'base_url': 'https://api.anthropic.com',
      'gateway_env': { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: url },
    },
    'memory_mb': 300,
  },
  qwen: {
    id: 'qwen',
    name: 'Qwen Code',
    command: ['qwen', '--acp'],
    'auth_method': 'openai',
    // It does not start a session without them; the same variables select another model or server.
    env: { OPENAI_BASE_URL: qwenUrl, OPENAI_MODEL: 'qwen3-coder-plus' },
    provider: {
      variables: ['OPENAI_API_KEY'],
      api: 'openai',
      'base_url': qwenUrl,
      'gateway_env': { OPENAI_API_KEY: key, OPENAI_BASE_URL: url },
    },
    // It advertises resume but does not implement the method.
    'resume_order': ['load', 'new'],
    'memory_mb': 500,
  },
  cline: {
    id: 'cline',
    name: 'Cline',
    command: ['cline', '--acp'],
    provider: { variables: ['CLINE_API_KEY'] },
    // It ignores the MCP servers that it is given.
    mcp: false,
    'memory_mb': 350,
  },
};

/** The ACP registry's ids of agents that have another id here. */
export const registryIds: Readonly<Record<string, string>> = {
  'codex-acp': 'codex',
  'claude-acp': 'claude',
  'qwen-code': 'qwen',
};

/** The ids of the predefined profiles. */
export const readyIds: readonly string[] = Object.keys(readyEntries);

/** An agent in the form of the file. */
export interface ReadyEntry {
  readonly id: string;
  readonly [field: string]: unknown;
}

// When run from sources (tests, development), the demo agent needs the loader that runs them.
function demoCommand(): string[] {
  const isSource = import.meta.url.endsWith('.ts');
  const program = fileURLToPath(new URL(`../demo/main.${isSource ? 'ts' : 'js'}`, import.meta.url));
  return [process.execPath, ...(isSource ? ['--import', import.meta.resolve('tsx')] : []), program];
}
