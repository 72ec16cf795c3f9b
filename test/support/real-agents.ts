import { existsSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { findByEnvironment } from '../../src/agents/sandbox/process-identity.ts';

/** A third-party agent that is configured to use the test's model. */
export interface RealAgent {
  readonly id: 'opencode' | 'gemini' | 'codex' | 'claude';
  /** Null if it is not installed here. */
  readonly program: readonly string[] | null;
  /** True if it reports the output of commands; Gemini CLI does not. */
  readonly showsOutput: boolean;
  /** True if it reports its changes to files; Codex changes them with commands here. */
  readonly showsDiffs: boolean;
  /** Returns the line of a prompt with which its model runs a command that needs a permission. */
  askingLine(command: string): string;
  /** Additional variables with which it asks for permissions. */
  readonly askingEnv?: Readonly<Record<string, string>>;
  /** Additional members of its profile in AGENTS_CONFIG, for a model at `url` that accepts `apiKey`. */
  profile(url: string, apiKey: string): { readonly env: Readonly<Record<string, string>> };
  /** The same members with a gateway to the model, which reads the key from a file. */
  behindGateway(url: string, keyFile: string): object;
}

const installed = (path: string) => resolve(import.meta.dirname, '../real-agents/node_modules', path);

function find(variable: string, path: string): string | null {
  const program = process.env[variable] ?? installed(path);
  if (existsSync(program)) return program;
  const missing = `There is no ${program}: run "npm ci" in test/real-agents, or set ${variable}.`;
  // On CI a silently missing agent would look like success; where its package does not run, it is always missing.
  if (process.env.CI && process.platform === 'linux' && process.arch === 'x64') throw new Error(missing);
  process.stderr.write(`Skipping the tests of a real agent. ${missing}\n`);
  return null;
}

// It asks before it writes or runs anything, so that permissions are tested too.
const opencodeEnv = (baseURL: string, apiKey: string) => ({
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_CONFIG_CONTENT: JSON.stringify({
    autoupdate: false,
    share: 'disabled',
    model: 'fake/m',
    small_model: 'fake/m',
    permission: { edit: 'ask', bash: 'ask' },
    provider: {
      fake: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Fake',
        options: { baseURL, apiKey },
        models: {
          m: { name: 'm', limit: { context: 100_000, output: 8_000 }, cost: { input: 3, output: 15 } },
        },
      },
    },
  }),
});

/** opencode, with a provider in its configuration. */
export function findOpencode(): RealAgent {
  const program = find('OPENCODE_PROGRAM', 'opencode-linux-x64/bin/opencode');
  return {
    id: 'opencode',
    program: program === null ? null : [program, 'acp'],
    showsOutput: true,
    showsDiffs: true,
    askingLine: (command) => `do: shell ${command}`,
    profile: (url, apiKey) => ({ env: opencodeEnv(`${url}/v1`, apiKey) }),
    behindGateway: (url, keyFile) => ({
      provider: {
        variables: ['FAKE_API_KEY'],
        key_file: keyFile,
        base_url: `${url}/v1`,
        gateway_env: opencodeEnv('{url}', '{key}'),
      },
    }),
  };
}

/** Gemini CLI in its default mode, which asks too. */
export function findGemini(): RealAgent {
  const program = find('GEMINI_PROGRAM', '@google/gemini-cli/bundle/gemini.js');
  return {
    id: 'gemini',
    program: program === null ? null : [process.execPath, program, '--acp', '--skip-trust', '-m', 'gemini-2.5-flash'],
    showsOutput: false,
    showsDiffs: true,
    askingLine: (command) => `do: shell ${command}`,
    profile: (url, apiKey) => ({ env: { GEMINI_API_KEY: apiKey, GOOGLE_GEMINI_BASE_URL: url } }),
    behindGateway: (url, keyFile) => ({ provider: { key_file: keyFile, base_url: url } }),
  };
}

// Their packages are large: set their paths to run them.
function findOptional(variable: string): readonly string[] | null {
  const program = process.env[variable];
  if (program === undefined) process.stderr.write(`Skipping the tests of a real agent: ${variable} is not set.\n`);
  return program === undefined ? null : [process.execPath, realpathSync(program)];
}

/** Codex. For an unknown model, it offers plain tools. */
export function findCodex(): RealAgent {
  const settings = (url: string) => JSON.stringify({ model: 'fake-m', openai_base_url: url });
  return {
    id: 'codex',
    program: findOptional('CODEX_PROGRAM'),
    showsOutput: true,
    showsDiffs: false,
    askingLine: (cmd) =>
      `do: tool exec_command ${JSON.stringify({ cmd, 'sandbox_permissions': 'require_escalated', justification: 'A test.' })}`,
    askingEnv: { INITIAL_AGENT_MODE: 'read-only' },
    profile: (url, apiKey) => ({ env: { CODEX_API_KEY: apiKey, CODEX_CONFIG: settings(`${url}/v1`) } }),
    behindGateway: (url, keyFile) => ({
      provider: {
        key_file: keyFile,
        base_url: `${url}/v1`,
        gateway_env: { CODEX_API_KEY: '{key}', CODEX_CONFIG: settings('{url}') },
      },
    }),
  };
}

/** Claude Code. */
export function findClaude(): RealAgent {
  return {
    id: 'claude',
    program: findOptional('CLAUDE_PROGRAM'),
    showsOutput: true,
    showsDiffs: true,
    askingLine: (command) => `do: shell ${command}`,
    profile: (url, apiKey) => ({ env: { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL: url } }),
    behindGateway: (url, keyFile) => ({ provider: { key_file: keyFile, base_url: url } }),
  };
}

/** Writes an AGENTS_CONFIG file with these profiles of one agent, each with an id; the first is the default. Needs its program. */
export function writeRealProfiles(agent: RealAgent, profiles: readonly object[]): string {
  const agents = profiles.map((profile) => ({
    extends: agent.id,
    command: agent.program,
    retry_delays_ms: [0, 0, 0],
    // On a busy machine, an agent needs more than the default of 20 seconds.
    start_timeout_ms: 120_000,
    ...profile,
  }));
  const path = join(mkdtempSync(join(tmpdir(), 'switchyard-real-')), 'agents.json');
  writeFileSync(path, JSON.stringify({ agents }));
  return path;
}

/** Returns the processes of a session: process ids with their command lines. */
export function processesOf(sessionId: string): { pid: number; command: string }[] {
  return findByEnvironment({ SWITCHYARD_RUN: sessionId }).flatMap((pid) => {
    try {
      return [{ pid, command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() }];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
}
