import { join, resolve } from 'node:path';

/** The directory to which build-programs.ts builds the tests' own programs. */
export const programsDir = resolve('node_modules/.cache/switchyard/programs');

/** The list of the sources that their build read, one on each line. */
export const programInputs = join(programsDir, 'inputs');

/** The tests' own programs, by the names of their sources in this folder. */
export const programs = [
  'scripted-agent',
  'option-agent',
  'probe-agent',
  'moved-clock',
  'remote-machine',
  'journal-agent',
] as const;

/** Returns the path of a program that `node` runs directly: the loader for sources costs more than the program itself. */
export function builtProgram(name: (typeof programs)[number]): string {
  return join(programsDir, `${name}.mjs`);
}

/** Returns the command of an agent that follows a script file, see scripted-agent.ts. */
export function scriptedCommand(scriptFile: string): string[] {
  return [process.execPath, builtProgram('scripted-agent'), scriptFile];
}

/** Returns the command of an agent whose options are in a file, see option-agent.ts. */
export function optionCommand(file: string): string[] {
  return [process.execPath, builtProgram('option-agent'), file];
}
