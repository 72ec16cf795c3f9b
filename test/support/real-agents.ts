import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { findByEnvironment } from '../../src/agents/process-identity.ts';

/** A third-party agent, made to speak to a model of the test's. */
export interface RealAgent {
  readonly id: 'opencode' | 'gemini';
  /** Null: it is not installed here. */
  readonly program: readonly string[] | null;
  /** The profile, in the words of AGENTS_CONFIG, for a model at `url` that takes `apiKey`. */
  profile(url: string, apiKey: string): Record<string, unknown>;
}

const installed = (path: string) => resolve(import.meta.dirname, '../real-agents/node_modules', path);

function find(variable: string, path: string): string | null {
  const program = process.env[variable] ?? installed(path);
  if (existsSync(program)) return program;
  process.stderr.write(`Skipping what needs ${program}: run "npm ci" in test/real-agents, or set ${variable}.\n`);
  return null;
}

/** opencode asks before it writes or runs anything, so that the permission's way is gone too. */
export function findOpencode(): RealAgent {
  const program = find('OPENCODE_PROGRAM', 'opencode-linux-x64/bin/opencode');
  const model = { name: 'm', limit: { context: 100_000, output: 8_000 }, cost: { input: 3, output: 15 } };
  return {
    id: 'opencode',
    program: program === null ? null : [program, 'acp'],
    profile: (url, apiKey) => ({
      env: {
        OPENCODE_DISABLE_AUTOUPDATE: '1',
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
              options: { baseURL: `${url}/v1`, apiKey },
              models: { m: model },
            },
          },
        }),
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
    profile: (url, apiKey) => ({
      auth_method: 'gemini-api-key',
      env: { GEMINI_API_KEY: apiKey, GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_NO_RELAUNCH: 'true' },
    }),
  };
}

/** An AGENTS_CONFIG file with these profiles of one agent; the first is the default. Needs its program. */
export function writeRealProfiles(agent: RealAgent, profiles: readonly Record<string, unknown>[]): string {
  const graces = { cancel: 10_000, stdin: 3_000, term: 3_000 };
  const agents = profiles.map((profile) => ({
    id: agent.id,
    command: agent.program,
    stop_graces_ms: graces,
    retry_delays_ms: [0, 0, 0],
    ...profile,
  }));
  const path = join(mkdtempSync(join(tmpdir(), 'switchyard-real-')), 'agents.json');
  writeFileSync(path, JSON.stringify({ agents }));
  return path;
}

/** What runs of a session: process ids with their command lines. */
export function processesOf(sessionId: string): { pid: number; parent: number; command: string }[] {
  return findByEnvironment({ SWITCHYARD_RUN: sessionId }).flatMap((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      return [{ pid, parent, command }];
    } catch {
      // It has gone meanwhile.
      return [];
    }
  });
}
