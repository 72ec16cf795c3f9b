import { setTimeout as wait } from 'node:timers/promises';
import { followEvents, type MoveReport } from './followed-sessions.ts';
import type { MovingSessions, WorkerProcess } from './moving-sessions.ts';

/** Options of {@link killWorkers}. */
export interface KillOptions {
  readonly kills: number;
  /** The inputs of the sessions. */
  readonly sessions: readonly object[];
  /** The longest wait before a kill, in ms, after all agents are at work. */
  readonly delayMs: number;
  readonly random: () => number;
  onKill?(report: MoveReport, kills: number): void;
}

/** Runs sessions, and kills their worker again and again; another one continues. Returns when all have continued. */
export async function killWorkers(moving: MovingSessions, options: KillOptions): Promise<MoveReport> {
  let workers = [await moving.startWorker(), await moving.startWorker()];
  const sessions = await followEvents(moving, options.sessions);
  let starting: Promise<WorkerProcess> | null = null;
  try {
    for (let kills = 1; kills <= options.kills; kills++) {
      await sessions.waitUntil(sessions.areAtWork, 'The agents have not started:');
      await wait(options.random() * options.delayMs);
      if (starting !== null) workers.push(await starting);
      const [victim] = workers.toSorted(
        (a, b) => sessions.countAt(moving.workerId(b)) - sessions.countAt(moving.workerId(a)),
      );
      if (victim === undefined) throw new Error('There is no worker.');
      workers = workers.filter((worker) => worker !== victim);
      const id = moving.workerId(victim);
      await sessions.lost(id, await moving.lose(victim));
      starting = moving.startWorker();
      // It is awaited when the sessions have continued.
      starting.catch(() => undefined);
      await sessions.waitUntil(sessions.areAtWork, 'The sessions have not continued:');
      options.onKill?.(sessions.report, kills);
    }
  } finally {
    await sessions.close();
    await starting;
  }
  return sessions.report;
}

/** Options of {@link replaceWorkers}. */
export interface ReplaceOptions {
  readonly workers: number;
  /** The inputs of the sessions. */
  readonly sessions: readonly object[];
  /** The time between replacements in ms. */
  readonly pauseMs: number;
  onReplaced?(report: MoveReport, replaced: number): void;
}

/** Stops all workers one after the other with SIGTERM. Each is replaced before by one with an empty data directory. */
export async function replaceWorkers(moving: MovingSessions, options: ReplaceOptions): Promise<MoveReport> {
  const workers: WorkerProcess[] = [];
  for (let n = 0; n < options.workers; n++) workers.push(await moving.startWorker());
  const sessions = await followEvents(moving, options.sessions);
  try {
    await sessions.waitUntil(sessions.areAtWork, 'The agents have not started:');
    for (const [n, worker] of workers.entries()) {
      await wait(options.pauseMs);
      const id = moving.workerId(worker);
      await moving.startWorker();
      await moving.retire(worker);
      await sessions.waitUntil(
        () => sessions.countAt(id) === 0 && sessions.areAtWork(),
        'The sessions have not moved:',
      );
      options.onReplaced?.(sessions.report, n + 1);
    }
  } finally {
    await sessions.close();
  }
  return sessions.report;
}
