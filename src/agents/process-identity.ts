import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/**
 * When a process started, as text that is only good for comparison; null when there is no such process. With it a process
 * id that was given to another process is told apart.
 */
export function processStart(pid: number): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Field 22; the second field, the command, may itself hold spaces and parentheses.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  } catch {
    return process.platform === 'linux' ? null : startByPs(pid);
  }
}

function startByPs(pid: number): string | null {
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || null;
  } catch {
    return null;
  }
}

/**
 * The living processes whose environment has all these variables, this one left out. Linux only, and only processes that
 * this user may look into; elsewhere none. It finds what left its process group.
 */
export function findByEnvironment(marks: Readonly<Record<string, string>>): number[] {
  const wanted = Object.entries(marks).map(([name, value]) => `${name}=${value}`);
  let names: string[];
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
  return names.map(Number).filter((pid) => {
    if (pid === process.pid) return false;
    try {
      const variables = new Set(readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0'));
      return wanted.every((mark) => variables.has(mark)) && processStart(pid) !== null;
    } catch {
      return false;
    }
  });
}

/** Sends a signal to a process, or to a group when negative; false when there is none. */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}
