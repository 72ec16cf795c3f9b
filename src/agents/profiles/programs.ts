import { access, constants } from 'node:fs/promises';
import { basename } from 'node:path';
import type { AgentProfile } from '../agent.ts';
import { describeDriver } from '../sandbox/descriptions.ts';
import { findProgram } from '../sandbox/program-files.ts';

/** The npm packages with the programs of the predefined profiles. */
const npmPackages: Readonly<Record<string, string>> = {
  opencode: 'opencode-ai',
  gemini: '@google/gemini-cli',
  'codex-acp': '@agentclientprotocol/codex-acp',
  'claude-agent-acp': '@agentclientprotocol/claude-agent-acp',
  qwen: '@qwen-code/qwen-code',
  cline: 'cline',
};

/** The path of an agent's program according to that PATH; null if there is no executable, or this host needs none. */
export async function locateProgram(profile: AgentProfile, path: string): Promise<string | null> {
  const program = programOf(profile);
  const programPath = program === null ? null : findProgram(program, path);
  if (programPath === null) return null;
  return access(programPath, constants.X_OK).then(
    () => programPath,
    () => null,
  );
}

/** The program on this host that starts an agent: its own, or that of its sandbox. Null: it runs on another machine. */
export function programOf({ command, sandbox }: AgentProfile): string | null {
  return describeDriver(sandbox).hostProgram(command, sandbox);
}

/**
 * Installation instructions for the program of a predefined profile: a sentence with a leading space; empty for others.
 */
export function howToInstall(program: string | null): string {
  const name = basename(program ?? '');
  const source = Object.hasOwn(npmPackages, name) ? npmPackages[name] : undefined;
  return source === undefined ? '' : ` Install it (npm install -g ${source}), or name it in the profile's "command".`;
}

/**
 * A sentence for each profile whose program is missing. This is not an error: the program may be installed while the
 * service runs.
 */
export async function missingPrograms(profiles: Iterable<AgentProfile>, path: string): Promise<string[]> {
  const sentences: string[] = [];
  for (const profile of profiles) {
    const program = programOf(profile);
    if (program === null || (await locateProgram(profile, path)) !== null) continue;
    const problem = program.includes('/') ? 'does not exist or may not be run' : 'is not in PATH';
    sentences.push(
      `The agent "${profile.id}" cannot work here: its program "${program}" ${problem}.${howToInstall(program)}`,
    );
  }
  return sentences;
}
