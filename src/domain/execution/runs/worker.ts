import type { Agents } from '../../../agents/agent.ts';
import type { Context } from '../../context.ts';
import { createCheckpointMetrics } from '../checkpoints/checkpoint-metrics.ts';
import { type MonotonicClock, processClock } from '../checkpoints/monotonic-clock.ts';
import { createWatchedSessions } from '../drafts/watched-sessions.ts';
import { continueAfterBudgets } from '../provider-keys/continue-sessions.ts';
import { createReservations } from '../provider-keys/reservations.ts';
import type { WorkspaceTimes } from '../workspaces/deletable.ts';
import { releaseStored } from '../workspaces/release.ts';
import { batchesOf } from '../workspaces/sweep.ts';
import { createSweeper } from '../workspaces/sweeper.ts';
import { claimRuns, countWaiting, leaveQueue, renewLeases, voidOwnLeases } from './claims.ts';
import { clearLeftSecrets } from './left-secrets.ts';
import { type ActiveRun, runSession } from './run-session.ts';
import { reportWorker } from './worker-reports.ts';

/** Options of a worker. */
export interface WorkerOptions {
  /** Stored in the worker's locked data directory. */
  readonly workerId: string;
  readonly agents: Agents;
  /** Number of concurrent sessions with an agent process, including warm ones. */
  readonly slots: number;
  /** Memory for all their agents, by their profiles. */
  readonly memoryMb: number;
  /** Time that a session waits for the worker with its workspace. */
  readonly affinityMs: number;
  /** The same if a checkpoint can be restored. */
  readonly storedAffinityMs: number;
  /** The name of the host. */
  readonly host: string;
  /** Duration of a lease without a heartbeat; a heartbeat comes about every quarter of it. */
  readonly leaseMs: number;
  /** Interval of the polls of the queue without a notification. */
  readonly pollMs: number;
  /** Times after which sessions lose their workspaces. */
  readonly workspaceTimes: WorkspaceTimes;
  /** By default, that of the process. */
  readonly checkpointClock?: MonotonicClock | undefined;
}

/** Claims waiting sessions and runs their agents, until it is stopped. */
export interface Worker {
  start(): Promise<void>;
  /** Stops every agent and hands the sessions over. Safe to call twice. */
  stop(): Promise<void>;
  /** Sessions with an agent process in this worker. */
  active(): number;
  /** The maximum of {@link Worker.active}. */
  readonly slots: number;
}

/** Interval of the figures about checkpoints in the log. */
const checkpointLogMs = 5 * 60_000;

/** Interval of the reports that the worker runs. */
const reportMs = 20_000;

/** Interval of the search for secrets that runs could not remove. */
const sweepMs = 10 * 60_000;

/** A worker on the context's store; the context's viewer is the service itself. */
export function createWorker(context: Context, options: WorkerOptions): Worker {
  const runs = new Map<string, ActiveRun>();
  /** Runs that are being evicted: each makes room for a waiting session. */
  const leaving = new Set<ActiveRun>();
  const { log, metrics } = context;
  // Reads the profiles on each call: agents are installed and removed while the worker runs.
  const memoryOf = (agent: string | null) => context.agentProfiles.get(agent ?? context.defaultAgent)?.memoryMb ?? 0;
  const claimant = { ...options, cursor: { after: null } };
  let isStopping = false;
  // It claims nothing, and has handed its sessions over.
  let isDrained = false;
  // Sessions may wait for which there is no room: the first idle agent is evicted.
  let isFull = false;
  let isAgain = false;
  let claiming: Promise<void> | null = null;
  let timers: NodeJS.Timeout[] = [];
  let unsubscribe: () => void = () => undefined;
  let cancelCheckpointLog: () => void = () => undefined;
  let lastRenewedAt = performance.now();
  let isRenewing = false;

  const { agents, workerId, workspaceTimes, checkpointClock = processClock } = options;
  const { workspaces } = agents;
  const sweeper = createSweeper(context, {
    workspaces,
    workerId,
    ...workspaceTimes,
    isLeased: (id) => runs.has(id),
  });

  const watched = createWatchedSessions(context.broadcaster);
  const reservations = createReservations(context, workerId);
  const checkpointMetrics = createCheckpointMetrics(metrics);
  const shared = { ...options, watched, reservations, checkpointMetrics, checkpointClock };

  const adopt = (run: ActiveRun) => {
    runs.set(run.sessionId, run);
    void run.done.then(() => {
      if (runs.get(run.sessionId) === run) runs.delete(run.sessionId);
      poll();
      sweeper.deleteRequested();
    });
  };

  // Warm agents are evicted, longest idle first, as soon as a session waits and there is no room for it.
  const evict = () => {
    const idle = [...runs.values()].filter((run) => run.idleSince() !== null);
    idle.sort((a, b) => (a.idleSince() ?? 0) - (b.idleSince() ?? 0));
    const [candidate] = idle;
    if (!candidate) return;
    leaving.add(candidate);
    void candidate.end().finally(() => leaving.delete(candidate));
  };

  const claim = async () => {
    do {
      isAgain = false;
      const slots = options.slots - runs.size;
      isFull = slots <= 0;
      if (slots <= 0) {
        const waiting = await countWaiting(context, claimant, leaving.size + 1);
        // A run may have ended meanwhile: then there is room.
        if (runs.size >= options.slots && waiting > leaving.size) evict();
        continue;
      }
      const takenMb = [...runs.values()].reduce((sum, run) => sum + memoryOf(run.agent), 0);
      const room = { slots, memoryMb: options.memoryMb - takenMb, isEmpty: runs.size === 0, memoryOf };
      const { claimed, isShort, hasMore } = await claimRuns(context, claimant, room);
      isFull = isShort || claimed.length === slots;
      if (hasMore && claimed.length > 0) isAgain = true;
      metrics.claims.inc(claimed.length);
      for (const run of claimed) adopt(runSession(context, run, { ...shared, onIdle }));
      if (isShort && leaving.size === 0) evict();
    } while (isAgain && !isStopping && !isDrained);
  };

  const poll = () => {
    if (isStopping || isDrained) return;
    isAgain = true;
    claiming ??= claim()
      .catch((error: unknown) => log.error({ err: error }, 'Waiting sessions could not be claimed.'))
      .finally(() => {
        claiming = null;
      });
  };

  const onIdle = () => {
    if (isFull) poll();
  };

  const heartbeat = async () => {
    if (isRenewing) return;
    isRenewing = true;
    const startedAt = performance.now();
    try {
      const activeRuns = [...runs.values()];
      if (activeRuns.length > 0) {
        const still = await renewLeases(context, options.workerId, options.leaseMs, activeRuns);
        for (const run of activeRuns)
          if (!still.has(run.sessionId) && runs.get(run.sessionId) === run) {
            metrics.leasesLost.inc();
            void run.revoke();
          }
      }
      lastRenewedAt = startedAt;
    } catch (error) {
      log.error({ err: error }, 'The leases could not be renewed.');
    } finally {
      isRenewing = false;
    }
  };

  // Self-fencing: a worker that could not renew for a whole lease, or got no response, must assume that another worker
  // is about to claim its sessions.
  const fence = () => {
    if (runs.size === 0 || performance.now() - lastRenewedAt <= options.leaseMs) return;
    log.error({ sessions: runs.size }, 'The leases have run out without being renewed: their agents are killed.');
    metrics.leasesLost.inc(runs.size);
    for (const run of runs.values()) void run.abandon();
  };

  // Sessions whose state is stored go to any worker; the others wait for this one as if it had died.
  const handOver = async () => {
    await claiming;
    await Promise.all([...runs.values()].map((run) => run.handOver()));
  };

  const drain = async () => {
    const sessions = runs.size;
    log.info({ workerId, sessions }, 'This worker is drained: it hands its sessions over and claims none.');
    await handOver();
    for (const storage of workspaces)
      for await (const ids of batchesOf(storage.ids())) {
        if (!isDrained || isStopping) return;
        await releaseStored(context, workerId, storage, ids);
      }
    log.info({ workerId, sessions }, 'This worker has handed its sessions over.');
    context.notifier.notify('runs');
  };

  const report = async () => {
    try {
      const isWanted = await reportWorker(context, options);
      if (isStopping || isWanted === isDrained) return;
      isDrained = isWanted;
      if (isDrained) await drain();
      else {
        log.info({}, 'This worker is no longer drained: it claims sessions again.');
        poll();
      }
    } catch (error) {
      log.warn({ err: error }, 'The state of this worker could not be reported.');
    }
  };

  const continueSuspended = async () => {
    try {
      await continueAfterBudgets(context);
    } catch (error) {
      log.error({ err: error }, 'Sessions that waited for the budget of a key could not be continued.');
    }
  };

  const logCheckpoints = () => {
    const figures = checkpointMetrics.read();
    if (runs.size === 0) return;
    const write = figures.unsafeSessions > 0 ? log.warn : log.info;
    write.call(log, { ...figures }, 'Checkpoints of this worker.');
  };
  const logCheckpointsLater = () => {
    cancelCheckpointLog = checkpointClock.after(checkpointLogMs, () => {
      logCheckpointsLater();
      logCheckpoints();
    });
  };

  const sweep = async (isClaiming: boolean) => {
    try {
      const leftSecrets = { isLeased: (id: string) => runs.has(id), isClaiming };
      let taken = 0;
      for (const each of workspaces) taken += await clearLeftSecrets(each, leftSecrets);
      if (taken > 0) log.info({ files: taken }, 'Files of secrets that runs had left were taken away.');
    } catch (error) {
      log.warn({ err: error }, 'Secrets that runs may have left could not be looked for.');
    }
  };

  return {
    async start() {
      log.info({ workerId }, 'This process is a worker.');
      await voidOwnLeases(context, options.workerId);
      await reservations.start();
      await sweep(false);
      sweeper.start();
      watched.start();
      await report();
      const unsubscribes = [
        context.notifier.subscribe('workers', () => void report()),
        context.notifier.subscribe('runs', poll),
        context.notifier.subscribe('provider-keys', () => void continueSuspended()),
      ];
      unsubscribe = () => {
        for (const each of unsubscribes) each();
      };
      timers = [
        setInterval(poll, options.pollMs).unref(),
        setInterval(() => void heartbeat(), options.leaseMs / 4.5).unref(),
        setInterval(fence, 500).unref(),
        setInterval(() => void report(), reportMs).unref(),
        setInterval(() => void sweep(true), sweepMs).unref(),
        setInterval(() => void continueSuspended(), sweepMs).unref(),
      ];
      logCheckpointsLater();
      poll();
      void continueSuspended();
    },
    async stop() {
      isStopping = true;
      unsubscribe();
      for (const timer of timers) clearInterval(timer);
      cancelCheckpointLog();
      await handOver();
      await reservations.stop();
      watched.stop();
      await sweeper.stop();
      await leaveQueue(context, options.workerId).catch((error: unknown) => {
        log.warn(
          { err: error },
          'It could not be told that this worker stops: its sessions wait until its leases would have ended.',
        );
      });
    },
    active: () => runs.size,
    slots: options.slots,
  };
}
