import { join, resolve } from 'node:path';

/** Where build-programs.ts puts the tests' own programs. */
export const programsDir = resolve('node_modules/.cache/switchyard/programs');

/** The tests' own programs, by the names of their sources beside this file. */
export const programs = ['scripted-agent', 'probe-agent', 'moved-clock'] as const;

/** A program that can be given to `node` as it is: without the loader that sources need, which costs more than what it does. */
export function builtProgram(name: (typeof programs)[number]): string {
  return join(programsDir, `${name}.mjs`);
}

/** The command of an agent that does what a file says, see scripted-agent.ts. */
export function scriptedCommand(scriptFile: string): string[] {
  return [process.execPath, builtProgram('scripted-agent'), scriptFile];
}
