import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { pid } from 'node:process';

/** Identifies a process uniquely, even if its id is reused. */
export interface ProcessName {
  readonly pid: number;
  /**
   * Clock ticks since boot at which the process started; null if the system does not provide it. Process ids are
   * reused.
   */
  readonly startedAt: string | null;
  /** The scope of the process id: see {@link currentHost}. */
  readonly host: string;
}

/** This process. */
export function ownProcess(): ProcessName {
  return { pid, startedAt: startOf(pid), host: currentHost() };
}

/** Tells if a process in the same scope is still running. */
export function isAlive(name: ProcessName): boolean {
  try {
    process.kill(name.pid, 0);
  } catch (error) {
    // EPERM: the process exists, and belongs to another user.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return name.startedAt === null || name.startedAt === startOf(name.pid);
}

/** Returns null without /proc, and for a process that has ended but not been reaped. */
function startOf(id: number): string | null {
  try {
    const text = readFileSync(`/proc/${id}/stat`, 'utf8');
    // The second field, the command, may contain spaces and parentheses.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

/**
 * Returns the scope in which a process id is unique: the host, its current boot and the process namespace (a
 * container's own).
 */
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
