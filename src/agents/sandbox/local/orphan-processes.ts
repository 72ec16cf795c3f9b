import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { uptime } from 'node:os';
import { sep } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Period } from '../driver.ts';
import { processStart, signalProcess } from '../process-identity.ts';

/** A process, distinguishable from a later one with the same id. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startedAt: string;
}

interface TableRow extends ProcessIdentity {
  readonly parent: number;
  readonly group: number;
  readonly hasTerminal: boolean;
}

/** All descendants of a process, including those in other groups and sessions. Linux only; elsewhere empty. */
export function descendantsOf(pid: number): ProcessIdentity[] {
  return descendantsIn(readTable(), pid);
}

/** The kernel's unit of start times. */
const tickMs = 10;

/**
 * The descendants of a process that started in a period, except those in a process group whose leader is older. A shell
 * tool starts each command in a group of its own, to be able to kill it. Linux only; elsewhere empty.
 */
export function commandsOf(pid: number, { fromMs, untilMs }: Period): ProcessIdentity[] {
  const table = readTable();
  const bootMs = performance.now() - uptime() * 1_000;
  const startOf = ({ startedAt }: ProcessIdentity) => bootMs + Number(startedAt) * tickMs;
  const old = new Set(table.filter((row) => startOf(row) < fromMs).map((row) => row.pid));
  return descendantsIn(table, pid).filter(
    (row) => !old.has(row.pid) && !old.has(row.group) && startOf(row) <= untilMs + tickMs,
  );
}

function descendantsIn(table: readonly TableRow[], pid: number): TableRow[] {
  const children = new Map<number, TableRow[]>();
  for (const row of table) children.set(row.parent, [...(children.get(row.parent) ?? []), row]);
  const found: TableRow[] = [];
  const open = [pid];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const below = children.get(next) ?? [];
    found.push(...below);
    open.push(...below.map((row) => row.pid));
  }
  return found;
}

/**
 * Finds processes whose working directory is one of these, which belong to one session alone. They have no terminal,
 * and started no earlier than `since` (of {@link processStart}). A process that removed the marks from its environment
 * and left its parent is usually still there. Linux only.
 */
export function findInDirectories(directories: readonly string[], since: string): ProcessIdentity[] {
  const roots = directories.map(realPath);
  return readTable().filter(({ pid, startedAt, hasTerminal }) => {
    if (pid === process.pid || hasTerminal || Number(startedAt) < Number(since)) return false;
    const cwd = cwdOf(pid);
    return cwd !== null && roots.some((root) => cwd === root || cwd.startsWith(root + sep));
  });
}

/**
 * Sends SIGKILL to each process that is still the same, and waits for their end, at most one second: the kernel ends a
 * process some time after the signal.
 */
export async function killProcesses(processes: readonly ProcessIdentity[]): Promise<void> {
  const running = () => processes.filter(({ pid, startedAt }) => processStart(pid) === startedAt);
  for (const { pid } of running()) signalProcess(pid, 'SIGKILL');
  for (let rounds = 0; rounds < 200 && running().length > 0; rounds++) await wait(5);
}

function readTable(): TableRow[] {
  let names: string[];
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8');
      // From the third field on: the second, the command, may contain spaces and parentheses.
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      const [parent, group, terminal, startedAt] = [fields[1], fields[2], fields[4], fields[19]];
      if (startedAt === undefined || fields[0] === 'Z') return [];
      const hasTerminal = terminal !== '0';
      return [{ pid: Number(name), parent: Number(parent), group: Number(group), hasTerminal, startedAt }];
    } catch {
      return [];
    }
  });
}

function cwdOf(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
