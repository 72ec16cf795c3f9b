import { randomBytes } from 'node:crypto';
import type { SandboxSettings } from '../agent.ts';
import { hostPaths, type SandboxCommand, type SandboxRequest } from './sandbox-command.ts';

/** Variables that make no sense outside the host. */
const hostVariables = new Set(['PATH', 'TMPDIR']);

/**
 * Wraps an agent in the operator's command (`docker run -i --rm …`). In its arguments, `{workspace}`, `{home}` and
 * `{runtime}` stand for the directories on the host, and `{id}` for a name unique to the run. An argument with `{env}`
 * is repeated for the name of each variable. The values of the variables are in the command's own environment, not in
 * its arguments, which every user of the host can read.
 */
export function wrapWithCommand(settings: SandboxSettings, request: SandboxRequest): SandboxCommand {
  const { launch, env } = request;
  const id = `switchyard-${launch.runId}-${randomBytes(4).toString('hex')}`.toLowerCase().replace(/[^a-z0-9-]/g, '-');
  const host = hostPaths(launch);
  const names = Object.keys(env).filter((name) => !hostVariables.has(name));
  const placeholders: Record<string, string> = {
    '{workspace}': host.workspace,
    '{home}': host.home,
    '{runtime}': host.runtime,
    '{id}': id,
  };
  const fill = (word: string) =>
    word.replaceAll(/\{(workspace|home|runtime|id)\}/g, (found) => placeholders[found] as string);
  const expand = (command: readonly string[]) =>
    command.flatMap((word) =>
      word.includes('{env}') ? names.map((name) => fill(word).replaceAll('{env}', name)) : [fill(word)],
    );
  const [program = '', ...args] = expand(settings.command);
  return {
    program,
    args: [...args, ...launch.profile.command],
    env: {},
    inputs: [],
    paths: settings.paths ?? host,
    isWrapped: false,
    stopCommand: expand(settings.stopCommand),
  };
}
