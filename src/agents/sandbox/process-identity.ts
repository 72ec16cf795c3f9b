import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * The start time of a process, as text for comparison only; null if there is no such process. It detects that a process
 * id was reused.
 */
export function processStart(pid: number): string | null {
  if (process.platform !== 'linux') return startByPs(pid);
  const fields = statFields(pid);
  return fields === null || fields[0] === 'Z' ? null : (fields[19] ?? null);
}

/** Returns true if this process is in the process group of that id. False if that cannot be determined. */
export function isOwnGroup(group: number): boolean {
  return statFields(process.pid)?.[2] === String(group);
}

// From the third field on: the second, the command, may contain spaces and parentheses.
function statFields(pid: number): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

function startByPs(pid: number): string | null {
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || null;
  } catch {
    return null;
  }
}

/** A process's environment as `NAME=value`; null if it cannot be read: not Linux, or another user's process. */
function readEnvironment(pid: number): Set<string> | null {
  try {
    return new Set(readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0'));
  } catch {
    return null;
  }
}

function hasAll(environment: Set<string>, marks: Readonly<Record<string, string>>): boolean {
  return Object.entries(marks).every(([name, value]) => environment.has(`${name}=${value}`));
}

/** Returns true if a process was started with all these variables; null if that cannot be determined. */
export function hasEnvironment(pid: number, marks: Readonly<Record<string, string>>): boolean | null {
  const environment = readEnvironment(pid);
  return environment && hasAll(environment, marks);
}

/**
 * Finds the running processes that were started with all `marks` and none of `unless`, except this one. Linux only, and
 * only processes that this user may inspect; elsewhere empty. It finds processes that left their process group.
 */
export function findByEnvironment(
  marks: Readonly<Record<string, string>>,
  unless: readonly Readonly<Record<string, string>>[] = [],
): number[] {
  let names: string[];
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
  return names.map(Number).filter((pid) => {
    const environment = pid === process.pid ? null : readEnvironment(pid);
    if (!environment || !hasAll(environment, marks) || unless.some((others) => hasAll(environment, others)))
      return false;
    return processStart(pid) !== null;
  });
}

/**
 * Kills the processes of {@link findByEnvironment} until there are none: a killed process may just have started
 * another.
 */
export async function killByEnvironment(...search: Parameters<typeof findByEnvironment>): Promise<number[]> {
  const killed = new Set<number>();
  for (let rounds = 0; rounds < 20; rounds++) {
    const found = findByEnvironment(...search);
    if (found.length === 0) break;
    for (const pid of found) {
      signalProcess(pid, 'SIGKILL');
      killed.add(pid);
    }
    await wait(5);
  }
  return [...killed];
}

/** The running children of a process. Linux only; elsewhere empty. */
export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Sends a signal to a process, or to a group if the id is negative; false if there is none. */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}
