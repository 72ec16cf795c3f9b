import { fileURLToPath } from 'node:url';

/** The key of a provider as the agent sees it behind the gateway, and the gateway's address (see ProviderGateway). */
const key = '{key}';
const url = '{url}';

const openai = { variables: ['OPENAI_API_KEY'], api: 'openai', 'base_url': 'https://api.openai.com/v1' } as const;

const qwenUrl = 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1';

// opencode reads its whole configuration from one variable. It must not replace itself by a newer version.
const opencodeConfig = { autoupdate: false, share: 'disabled', permission: { edit: 'allow', bash: 'allow' } };

/**
 * Agents that are known without being described: in the words of AGENTS_CONFIG, by their ids. An entry there with the same
 * id, or that `extends` one, builds on it. Their programs have to be installed. Tried with the versions in docs/agents.md.
 */
export const readyEntries: Readonly<Record<string, ReadyEntry>> = {
  demo: { id: 'demo', name: 'Demo agent', command: demoCommand(), 'memory_mb': 100 },
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
    // Else it starts itself anew for more memory, and the first process is none that could be spoken to.
    env: { GEMINI_CLI_NO_RELAUNCH: 'true' },
    'auth_method': 'gemini-api-key',
    // It keeps every tool called "ask_user" from its model, its own and any server's.
    'ask_tool': 'ask_the_user',
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
    // Its own sandbox gets in the way of its own tools here: it is kept apart by ours.
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
    // Without them it does not start a session; another model or server is named by the same variables.
    env: { OPENAI_BASE_URL: qwenUrl, OPENAI_MODEL: 'qwen3-coder-plus' },
    provider: {
      variables: ['OPENAI_API_KEY'],
      api: 'openai',
      'base_url': qwenUrl,
      'gateway_env': { OPENAI_API_KEY: key, OPENAI_BASE_URL: url },
    },
    // It offers to resume and then does not know the method.
    'resume_order': ['load', 'new'],
    'memory_mb': 500,
  },
  cline: {
    id: 'cline',
    name: 'Cline',
    command: ['cline', '--acp'],
    provider: { variables: ['CLINE_API_KEY'] },
    // It takes no notice of the MCP servers that it is given.
    mcp: false,
    'memory_mb': 350,
  },
};

/** What the ACP registry calls those that have another id there. */
export const registryIds: Readonly<Record<string, string>> = {
  'codex-acp': 'codex',
  'claude-acp': 'claude',
  'qwen-code': 'qwen',
};

/** The ids of the ready profiles. */
export const readyIds: readonly string[] = Object.keys(readyEntries);

/** An agent in the words of the file. */
export interface ReadyEntry {
  readonly id: string;
  readonly [field: string]: unknown;
}

// From sources (tests, development) the demo agent needs the loader that runs them.
function demoCommand(): string[] {
  const isSource = import.meta.url.endsWith('.ts');
  const program = fileURLToPath(new URL(`../demo/main.${isSource ? 'ts' : 'js'}`, import.meta.url));
  return [process.execPath, ...(isSource ? ['--import', import.meta.resolve('tsx')] : []), program];
}
