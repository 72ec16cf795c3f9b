import type { DriverDescription } from './driver.ts';
import type { SandboxCommand, WrapRequest } from './local/sandbox-command.ts';

/** The driver `none`: an agent is a process like any other, with the rights of the service's user. */
export const hostDescription: DriverDescription = {
  name: 'none',
  strictness: () => ({
    files: 'host',
    processes: 'host',
    network: 'host',
    limits: [],
    shownPaths: [],
    command: null,
  }),
  hostProgram: ([program = '']) => program,
  runsHostPrograms: true,
};

/** Runs a command as it is. */
export function hostCommand({ command }: WrapRequest): SandboxCommand {
  const [program = '', ...args] = command;
  return { program, args, env: {}, inputs: [], isWrapped: false, stopCommand: [] };
}
