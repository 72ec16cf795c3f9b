import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { pid } from 'node:process';

/** A process, told apart from all others that had, have or will have its id. */
export interface ProcessName {
  readonly pid: number;
  /** Clock ticks since boot at which the process started; null where the system does not tell. Process ids come again. */
  readonly startedAt: string | null;
  /** Where that process id means something: see {@link currentHost}. */
  readonly place: string;
}

/** This process. */
export function ownProcess(): ProcessName {
  return { pid, startedAt: startOf(pid), place: currentHost() };
}

/** Whether a process of this place is running still. */
export function isAlive(name: ProcessName): boolean {
  try {
    process.kill(name.pid, 0);
  } catch (error) {
    // EPERM: there is one, and it belongs to somebody else.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return name.startedAt === null || name.startedAt === startOf(name.pid);
}

/** Null where there is no /proc, and for a process that has ended and is only waiting to be noticed by its parent. */
function startOf(id: number): string | null {
  try {
    const text = readFileSync(`/proc/${id}/stat`, 'utf8');
    // The second field, the command, may itself hold spaces and parentheses.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

/** The host, this boot of it and the process namespace (a container's own): where a process id names one process. */
function currentHost(): string {
  const parts = [hostname(), firstOf('/proc/sys/kernel/random/boot_id'), namespaceOf('/proc/self/ns/pid')];
  return parts.filter((part) => part !== '').join(' ');
}

function firstOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim().slice(0, 8);
  } catch {
    return '';
  }
}

function namespaceOf(path: string): string {
  try {
    return readlinkSync(path).replaceAll(/\D/g, '');
  } catch {
    return '';
  }
}
