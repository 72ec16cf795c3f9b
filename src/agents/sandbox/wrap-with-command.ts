import { randomBytes } from 'node:crypto';
import type { SandboxSettings } from '../agent.ts';
import { hostPaths, type SandboxCommand, type SandboxRequest } from './sandbox-command.ts';

/** Variables of the host that mean nothing elsewhere. */
const hostVariables = new Set(['PATH', 'TMPDIR']);

/**
 * An agent behind a command of the operator's (`docker run -i --rm …`). In its words `{workspace}`, `{home}` and `{runtime}`
 * stand for the directories on the host, `{id}` for a name that no other run has, and a word with `{env}` is repeated for
 * the name of each variable; their values are in the command's own environment, not in its words, which everybody may read.
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
