import { randomBytes } from 'node:crypto';
import type { DriverDescription } from './driver.ts';
import type { SandboxCommand, WrapRequest } from './local/sandbox-command.ts';

/** The driver `command`: a command of the operator, such as `docker run`, starts the agent. */
export const commandDescription: DriverDescription = {
  name: 'command',
  strictness: (settings) => ({
    files: 'unknown',
    processes: 'unknown',
    network: settings?.network === 'gateway' ? 'services' : 'host',
    limits: [],
    shownPaths: settings?.readOnly ?? [],
    command: settings?.command ?? [],
  }),
  hostProgram: (_, settings) => settings?.command[0] ?? '',
  runsHostPrograms: false,
};

/** Variables that make no sense outside the host. */
const hostVariables = new Set(['PATH', 'TMPDIR']);

/**
 * Wraps an agent in the operator's command (`docker run -i --rm …`). In its arguments, `{workspace}`, `{home}` and
 * `{runtime}` stand for the directories on the host, and `{id}` for a name unique to the run. An argument with `{env}`
 * is repeated for the name of each variable. The values of the variables are in the command's own environment, not in
 * its arguments, which every user of the host can read.
 */
export function wrapWithCommand({ settings, sessionId, ...request }: WrapRequest): SandboxCommand {
  const { env, directories: host } = request;
  const id = `switchyard-${sessionId}-${randomBytes(4).toString('hex')}`.toLowerCase().replace(/[^a-z0-9-]/g, '-');
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
  const [program = '', ...args] = expand(settings?.command ?? []);
  return {
    program,
    args: [...args, ...request.command],
    env: {},
    inputs: [],
    isWrapped: false,
    stopCommand: expand(settings?.stopCommand ?? []),
  };
}
