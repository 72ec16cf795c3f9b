import { type ChildProcessWithoutNullStreams, type StdioOptions, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { SandboxCommand } from './sandbox-command.ts';

/** Settings of a launch that do not come from its placement. */
export interface SpawnOptions {
  readonly cwd: string;
  /** All variables of the process; it gets none of this process. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Spawns a placed agent in a process group of its own. It gets stdin, stdout and stderr as pipes, the placement's inputs from
 * descriptor 3 on, and no descriptor of this process. Listen to the child's `error`, which comes instead of `spawn`.
 */
export function spawnAgent(command: SandboxCommand, { cwd, env }: SpawnOptions): ChildProcessWithoutNullStreams {
  const { program, args, inputs } = command;
  const nothing = openSync('/dev/null', 'r');
  try {
    const stdio = descriptors(inputs.length, nothing);
    const child = spawn(program, [...args], { cwd, env, detached: true, stdio });
    for (const [index, input] of inputs.entries()) {
      const pipe = child.stdio[firstInput + index] as Writable;
      // A program that ended before it read its input is reported by its exit.
      pipe.on('error', () => undefined).end(input);
    }
    return child as ChildProcessWithoutNullStreams;
  } finally {
    closeSync(nothing);
  }
}

const firstInput = 3;

// A child inherits what is not marked "close on exec". Node marks what it opens; whoever started the service may have left
// more open (`exec 200<file`), and Node can neither mark that nor close it in the child alone: closing it here could release
// the lock of a supervisor. So /dev/null takes its number in the child.
function descriptors(inputs: number, nothing: number): StdioOptions {
  const leaked = inheritableDescriptors().filter((number) => number >= firstInput + inputs);
  const stdio: ('pipe' | 'ignore' | number)[] = Array(Math.max(firstInput + inputs, ...leaked.map((n) => n + 1)));
  stdio.fill('ignore').fill('pipe', 0, firstInput + inputs);
  for (const number of leaked) stdio[number] = nothing;
  return stdio;
}

const closeOnExec = 0o2000000;

// Other systems than Linux have no such files. On macOS Node has the kernel close everything that is not named.
function inheritableDescriptors(): number[] {
  const directory = '/proc/self/fdinfo';
  return names(directory).flatMap((name) => {
    const flags = /^flags:\s*([0-7]+)$/m.exec(contents(`${directory}/${name}`))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0 ? [Number(name)] : [];
  });
}

function names(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

// Empty for one that is gone, as the one is by which the directory was read.
function contents(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
