import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Store } from '../store/store.ts';
import { isDiskFull } from '../store/unavailable.ts';

/** The timeout of the checks of the database and the disks. */
const timeoutMs = 5_000;
/** The data of the write that checks for free disk space. */
const probeBytes = 65_536;
/** The time for which the result of the disk check is cached. */
const diskResultMs = 5_000;

/** Answers `/readyz`. */
export interface Readiness {
  /**
   * Returns the status and the text: 503 while the process starts or stops, and while the database or a disk is
   * unusable.
   */
  check(): Promise<[status: number, text: string]>;
  /** Sets the reason why the process is not ready; null: there is none. */
  setReason(reason: string | null): void;
}

/** Options of {@link createReadiness}. `directories`: the directories that the process writes to, by variable name. */
export interface ReadinessOptions {
  readonly store: Pick<Store, 'ping' | 'isFull'>;
  readonly directories: Readonly<Record<string, string>>;
  /** True if the process is in maintenance mode, in which it is ready all the same. */
  isMaintenance(): boolean;
}

/** Creates a {@link Readiness}. Concurrent requests share one check. */
export function createReadiness({ store, directories, isMaintenance }: ReadinessOptions): Readiness {
  let reason: string | null = 'starting';
  let pendingCheck: Promise<string | null> | null = null;
  let disks: { readonly problem: string | null; readonly at: number } | null = null;

  const findDiskProblem = async (): Promise<string | null> => {
    if (disks && performance.now() - disks.at < diskResultMs) return disks.problem;
    const found = await Promise.all(Object.entries(directories).map(([name, path]) => probeDirectory(name, path)));
    const problem = found.find((each) => each !== null) ?? null;
    disks = { problem, at: performance.now() };
    return problem;
  };
  const findProblem = async (): Promise<string | null> => {
    const [database, disk] = await Promise.all([
      inTime(store.ping()).then(
        () => (store.isFull() ? 'the disk of the database is full' : null),
        () => 'the database does not answer',
      ),
      inTime(findDiskProblem()).catch(() => 'a disk does not answer'),
    ]);
    return database ?? disk;
  };

  return {
    async check() {
      if (reason !== null) return [503, reason];
      pendingCheck ??= findProblem().finally(() => {
        pendingCheck = null;
      });
      const problem = await pendingCheck;
      if (reason !== null) return [503, reason];
      if (problem !== null) return [503, problem];
      return [200, isMaintenance() ? 'ready, in maintenance mode: nothing is run' : 'ready'];
    },
    setReason(newReason) {
      reason = newReason;
    },
  };
}

async function probeDirectory(name: string, path: string): Promise<string | null> {
  const file = join(path, `.ready-${randomBytes(6).toString('hex')}`);
  try {
    await writeFile(file, Buffer.alloc(probeBytes), { mode: 0o600, flush: true });
    return null;
  } catch (error) {
    return isDiskFull(error) ? `the disk of ${name} is full` : `${name} cannot be written to`;
  } finally {
    await rm(file, { force: true }).catch(() => undefined);
  }
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('The request timed out.')), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
