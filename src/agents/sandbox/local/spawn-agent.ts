import { type ChildProcessWithoutNullStreams, type StdioOptions, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { SandboxCommand } from './sandbox-command.ts';

/** Settings of a launch that do not come from its sandbox command. */
export interface SpawnOptions {
  readonly cwd: string;
  /** All variables of the process; it inherits none. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Spawns a sandboxed agent in its own process group. It gets stdin, stdout and stderr as pipes, the command's inputs
 * from descriptor 3 on, and no other descriptor of this process. Listen to the child's `error`, which comes instead of
 * `spawn`.
 */
export function spawnAgent(command: SandboxCommand, { cwd, env }: SpawnOptions): ChildProcessWithoutNullStreams {
  const { program, args, inputs } = command;
  const nothing = openSync('/dev/null', 'r');
  try {
    const stdio = descriptors(inputs.length, nothing);
    const child = spawn(program, [...args], { cwd, env, detached: true, stdio });
    for (const [index, input] of inputs.entries()) {
      const pipe = child.stdio[firstInput + index] as Writable;
      // The exit reports a program that ended before it read its input.
      pipe.on('error', () => undefined).end(input);
    }
    return child as ChildProcessWithoutNullStreams;
  } finally {
    closeSync(nothing);
  }
}

const firstInput = 3;

// A child inherits every descriptor that is not marked "close on exec". Node marks those that it opens, but the program
// that started the service may have left more open (`exec 200<file`). Node can neither mark them nor close them in the
// child alone: closing them here could release the lock of a supervisor. So /dev/null replaces them in the child.
function descriptors(inputs: number, nothing: number): StdioOptions {
  const leaked = inheritableDescriptors().filter((number) => number >= firstInput + inputs);
  const stdio: ('pipe' | 'ignore' | number)[] = Array(Math.max(firstInput + inputs, ...leaked.map((n) => n + 1)));
  stdio.fill('ignore').fill('pipe', 0, firstInput + inputs);
  for (const number of leaked) stdio[number] = nothing;
  return stdio;
}

const closeOnExec = 0o2000000;

// Only Linux has such files. On macOS, Node makes the kernel close all other descriptors.
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

// Empty for a descriptor that has closed, such as the one that read the directory.
function contents(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
