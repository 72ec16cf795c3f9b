import { CheckpointError } from '../../../checkpoints/driver.ts';
import type { Services } from '../../context.ts';
import { FencedError } from '../../sessions/log.ts';
import type { CheckpointMetrics } from './checkpoint-metrics.ts';
import type { MonotonicClock } from './monotonic-clock.ts';
import type { SafetyNotices } from './safety-notices.ts';
import { type PlannedSave, SaveSchedule } from './save-schedule.ts';
import type { SessionSaver } from './session-saver.ts';

/** Saves the workspace and home of a run while its agent works. */
export interface CheckpointRecorder {
  /** False: nothing is saved. */
  readonly isOn: boolean;
  turnStarted(turn: number): void;
  /** A tool call has begun, goes on, or has ended. */
  toolCall(id: string, hasEnded: boolean): void;
  /** Saves at the end of a turn. Resolves when that is stored, has failed, or takes longer than 5 s. Never rejects. */
  turnEnded(turn: number): Promise<void>;
  /**
   * Saves everything now, before a stop, a sleep or a handover; usually after the agent has stopped. Resolves with true if the
   * newest state is stored, ignored files aside, and not later than `timeoutMs`. Never rejects.
   */
  settle(timeoutMs: number): Promise<boolean>;
  /**
   * Saves everything now, ignored files included, while no agent runs. Resolves with true if that is stored, and not later than
   * `timeoutMs`. Never rejects.
   */
  saveAll(timeoutMs: number): Promise<boolean>;
  /** Takes the text for the agent about parts that are not saved; null: nothing new. */
  takeText(): string | null;
  /** Ends all saves. Call it before the sandbox is closed. Never rejects. */
  close(): Promise<void>;
}

/** Options of {@link createCheckpointRecorder}. */
export interface CheckpointRecorderOptions {
  readonly sessionId: string;
  readonly saver: SessionSaver;
  readonly notices: SafetyNotices;
  readonly metrics: CheckpointMetrics;
  readonly clock: MonotonicClock;
  /** The session is no longer this worker's. */
  onLost(error: FencedError): void;
}

/** Maximum time that the end of a turn waits for its checkpoint. */
const turnEndMs = 5_000;
/** Age of a change that is not stored, after which users learn of it. */
const unsafeMs = 30_000;

type Outcome = 'stored' | 'failed' | 'stopped' | 'lost';

interface Attempt extends PlannedSave {
  readonly controller: AbortController;
  readonly done: Promise<Outcome>;
}

/** The recorder of a sandbox that cannot save its workspace, or of a service that saves none. */
export const noCheckpoints: CheckpointRecorder = {
  isOn: false,
  turnStarted: () => undefined,
  toolCall: () => undefined,
  turnEnded: async () => undefined,
  settle: async () => false,
  saveAll: async () => false,
  takeText: () => null,
  close: async () => undefined,
};

/** Creates the {@link CheckpointRecorder} of a run. */
export function createCheckpointRecorder(
  services: Pick<Services, 'now' | 'log'>,
  options: CheckpointRecorderOptions,
): CheckpointRecorder {
  return new Recorder(services, options);
}

/** Resolves with null when a signal is aborted. */
function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}

class Recorder implements CheckpointRecorder {
  readonly isOn = true;
  readonly #services: Pick<Services, 'now' | 'log'>;
  readonly #options: CheckpointRecorderOptions;
  readonly #schedule = new SaveSchedule();
  readonly #stopWatch: () => void;
  readonly #waiters = new Set<() => void>();
  #current: Attempt | null = null;
  #cancelTimer: () => void = () => undefined;
  #cancelSafety: () => void = () => undefined;
  #isSettling = false;
  #isClosed = false;
  #isFailing = false;
  /** A save of ignored files made way for another one: the next one does not. */
  #hasMadeWay = false;
  #notifying: Promise<void> = Promise.resolve();

  constructor(services: Pick<Services, 'now' | 'log'>, options: CheckpointRecorderOptions) {
    this.#services = services;
    this.#options = options;
    this.#stopWatch = options.metrics.watch(() => {
      const { unsavedMs } = this;
      return { unsavedMs, isUnsafe: unsavedMs >= unsafeMs };
    });
  }

  get unsavedMs(): number {
    const { unsavedSince } = this.#schedule;
    return unsavedSince === null ? 0 : this.#options.clock.now() - unsavedSince;
  }

  turnStarted(): void {
    this.#schedule.turnStarted(this.#options.clock.now());
    this.#arm();
  }

  toolCall(id: string, hasEnded: boolean): void {
    this.#schedule.toolCall(this.#options.clock.now(), id, hasEnded);
    this.#arm();
  }

  turnEnded(turn: number): Promise<void> {
    this.#schedule.turnEnded(this.#options.clock.now(), turn);
    if (this.#isClosed) return Promise.resolve();
    const done = new Promise<void>((resolve) => {
      const finish = () => {
        cancel();
        this.#waiters.delete(finish);
        resolve();
      };
      const cancel = this.#options.clock.after(turnEndMs, finish);
      this.#waiters.add(finish);
    });
    this.#arm();
    return done;
  }

  async settle(timeoutMs: number): Promise<boolean> {
    const { clock } = this.#options;
    this.#isSettling = true;
    this.#cancelTimer();
    const timeout = new AbortController();
    const cancel = clock.after(timeoutMs, () => timeout.abort());
    const stopCurrent = () => this.#current?.controller.abort();
    timeout.signal.addEventListener('abort', stopCurrent);
    const isOver = () => timeout.signal.aborted || this.#isClosed;
    // A request that hangs is not waited for.
    const finish = (attempt: Attempt | null) => Promise.race([attempt?.done ?? null, aborted(timeout.signal)]);
    try {
      if (this.#current?.withIgnored) stopCurrent();
      await finish(this.#current);
      const turn = this.#schedule.unsavedEnd;
      const plan = { kind: turn === null ? 'HANDOVER' : 'TURN_END', turn, withIgnored: false } as const;
      let outcome: Outcome | null = 'failed';
      while ((outcome === 'failed' || outcome === 'stopped') && !isOver()) {
        outcome = await finish(this.#attempt(plan, true));
        if (outcome === 'failed') await this.#pause(timeout.signal);
      }
      if (outcome !== 'stored') return false;
      if (this.#schedule.isIgnoredChanged && !isOver())
        await finish(this.#attempt({ ...plan, withIgnored: true }, true));
      return true;
    } finally {
      cancel();
      this.#isSettling = false;
      this.#arm();
    }
  }

  async saveAll(timeoutMs: number): Promise<boolean> {
    await this.#current?.done;
    if (this.#isClosed) return false;
    const { controller, done } = this.#attempt({ kind: 'WORK', turn: null, withIgnored: true }, true);
    const cancel = this.#options.clock.after(timeoutMs, () => controller.abort());
    const outcome = await done;
    cancel();
    return outcome === 'stored';
  }

  takeText(): string | null {
    return this.#options.notices.takeText();
  }

  async close(): Promise<void> {
    this.#end();
    await this.#current?.done;
    await this.#notifying;
    await this.#options.saver.close();
  }

  #end(): void {
    this.#isClosed = true;
    this.#stopWatch();
    this.#cancelTimer();
    this.#cancelSafety();
    this.#current?.controller.abort();
    for (const finish of [...this.#waiters]) finish();
  }

  // Sets the timers for the next save and the next notice.
  #arm(): void {
    this.#cancelTimer();
    this.#cancelSafety();
    if (this.#isClosed) return;
    const { clock } = this.#options;
    const { unsavedSince } = this.#schedule;
    if (unsavedSince !== null)
      this.#cancelSafety = clock.after(Math.max(0, unsavedSince + unsafeMs - clock.now()), () => this.#notifyUnsafe());
    const next = this.#isSettling ? null : this.#schedule.next();
    const current = this.#current;
    if (next === null || (current !== null && !this.#makesWay(current, next))) return;
    this.#cancelTimer = clock.after(Math.max(0, next.at - clock.now()), () => {
      if (current === null) this.#attempt(next, next.kind === 'TURN_END' && !next.withIgnored);
      else {
        // In an open turn, changes never wait for ignored files.
        this.#hasMadeWay = current.kind === 'TURN_END';
        current.controller.abort();
      }
    });
  }

  #makesWay(current: Attempt, next: PlannedSave): boolean {
    return current.withIgnored && !next.withIgnored && !this.#hasMadeWay && !current.controller.signal.aborted;
  }

  #attempt(plan: PlannedSave, isUrgent: boolean): Attempt {
    this.#cancelTimer();
    const controller = new AbortController();
    this.#schedule.saveStarted(this.#options.clock.now(), plan);
    const done = this.#save(plan, isUrgent, controller.signal).then((outcome) => {
      this.#current = null;
      const isEndSettled = outcome !== 'stopped' && (plan.kind !== 'WORK' || outcome !== 'stored');
      if (isEndSettled || this.#schedule.unsavedEnd === null) for (const finish of [...this.#waiters]) finish();
      this.#arm();
      return outcome;
    });
    this.#current = { ...plan, controller, done };
    return this.#current;
  }

  async #save(plan: PlannedSave, isUrgent: boolean, signal: AbortSignal): Promise<Outcome> {
    const { saver, metrics, clock, notices, sessionId } = this.#options;
    const startedAt = clock.now();
    try {
      const saved = await saver.save({ ...plan, isUrgent, signal });
      this.#schedule.saveSucceeded(clock.now(), plan);
      if (plan.withIgnored) this.#hasMadeWay = false;
      if (saved !== null) metrics.saved(clock.now() - startedAt, saved.storedBytes);
      if (this.#isFailing) this.#services.log.info({ sessionId }, 'The checkpoints of a session are stored again.');
      this.#isFailing = false;
      // A slow save stores what was there when it began. What has changed since may be old too.
      const isSafe = this.unsavedMs < unsafeMs;
      this.#notify(() => notices.stored(isSafe, saved?.missing));
      return 'stored';
    } catch (error) {
      return this.#failed(plan, error);
    }
  }

  #failed(plan: PlannedSave, error: unknown): Outcome {
    const { metrics, clock, sessionId } = this.#options;
    if (error instanceof FencedError) {
      this.#lose(error);
      return 'lost';
    }
    const isStopped = error instanceof CheckpointError && error.code === 'STOPPED';
    this.#schedule.saveFailed(clock.now(), plan, isStopped);
    if (isStopped) return 'stopped';
    metrics.failed();
    // Once: an outage fails many.
    if (!this.#isFailing)
      this.#services.log.warn({ err: error, sessionId }, 'A checkpoint could not be stored. The service keeps trying.');
    this.#isFailing = true;
    return 'failed';
  }

  #notifyUnsafe(): void {
    const since = new Date(this.#services.now().getTime() - this.unsavedMs);
    this.#notify(() => this.#options.notices.unsafe(since));
  }

  #notify(write: () => Promise<void>): void {
    this.#notifying = this.#notifying.then(write).catch((error: unknown) => {
      if (error instanceof FencedError) return this.#lose(error);
      const { sessionId } = this.#options;
      this.#services.log.warn({ err: error, sessionId }, 'A notice about checkpoints could not be written to the log.');
    });
  }

  #lose(error: FencedError): void {
    if (this.#isClosed) return;
    this.#end();
    this.#options.onLost(error);
  }

  #pause(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        cancel();
        signal.removeEventListener('abort', finish);
        resolve();
      };
      const cancel = this.#options.clock.after(this.#schedule.retryMs, finish);
      signal.addEventListener('abort', finish);
      if (signal.aborted || this.#isClosed) finish();
    });
  }
}
