import type { CheckpointKind } from '../../checkpoints/checkpoint.ts';

/** A save to do. */
export interface PlannedSave {
  readonly kind: CheckpointKind;
  /** The turn that it is recorded for; null: the one that has begun last. */
  readonly turn: number | null;
  readonly withIgnored: boolean;
}

/** A {@link PlannedSave} with its time on the schedule's clock. */
export interface DueSave extends PlannedSave {
  readonly at: number;
}

/** Time after the last tool call that ended. */
const afterCallMs = 1_000;
/** Maximum time between a change and the next save, while a turn is open. */
const afterChangeMs = 3_000;
/** The same for an agent that reports no tool calls. */
const openTurnMs = 30_000;
/** A rest after each save in a turn as long as the save, but not longer than this. */
const maxRestMs = 10_000;
/** Time without a report of a tool call after which ignored files are saved in an open turn. */
const quietMs = 10_000;
/** Minimum time between two saves of ignored files. */
const ignoredMs = 60_000;
const retryMs = { first: 1_000, max: 30_000 } as const;

/**
 * Decides when a session's workspace is saved: soon after tool calls, regularly while they run, at the end of each turn, and the
 * ignored files while the agent is idle. It has no timers: each method takes the time, in ms of a monotonic clock.
 */
export class SaveSchedule {
  readonly #openCalls = new Set<string>();
  #isTurnOpen = false;
  #lastEndedTurn: { readonly turn: number; readonly at: number } | null = null;
  /** A turn has ended, and no checkpoint records its end. */
  #isEndUnsaved = false;
  /** The first change since the last save began. */
  #changedAt: number | null = null;
  /** The last end of a tool call since the last save began. */
  #callEndedAt: number | null = null;
  /** The last report of a tool call in this turn. */
  #calledAt: number | null = null;
  #unsavedSince: number | null = null;
  #startedAt = Number.NEGATIVE_INFINITY;
  #restUntil = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #retryAt = Number.NEGATIVE_INFINITY;
  #isIgnoredChanged = true;
  #ignoredAt = Number.NEGATIVE_INFINITY;

  /** The time of the first change that no stored checkpoint has; null: there is none. */
  get unsavedSince(): number | null {
    return this.#unsavedSince;
  }

  /** True if ignored files may have changed since they were last saved. */
  get isIgnoredChanged(): boolean {
    return this.#isIgnoredChanged;
  }

  /** The last turn, if it has ended and no checkpoint records that; else null. */
  get unsavedEnd(): number | null {
    return this.#isEndUnsaved ? (this.#lastEndedTurn?.turn ?? null) : null;
  }

  /** The wait before an attempt to repeat a failed save. */
  get retryMs(): number {
    return Math.min(retryMs.max, retryMs.first * 2 ** Math.max(0, this.#failures - 1));
  }

  turnStarted(now: number): void {
    this.#isTurnOpen = true;
    this.#calledAt = null;
    this.#isEndUnsaved = false;
    // The agent begins to work now: a save before it has nothing new.
    this.#startedAt = Math.max(this.#startedAt, now);
    this.#isIgnoredChanged = true;
  }

  toolCall(now: number, id: string, hasEnded: boolean): void {
    if (hasEnded) {
      this.#openCalls.delete(id);
      this.#callEndedAt = now;
    } else this.#openCalls.add(id);
    this.#calledAt = now;
    this.#changed(now);
  }

  turnEnded(now: number, turn: number): void {
    this.#isTurnOpen = false;
    this.#openCalls.clear();
    this.#lastEndedTurn = { turn, at: now };
    this.#isEndUnsaved = true;
    this.#changed(now);
  }

  saveStarted(now: number, { withIgnored }: PlannedSave): void {
    this.#startedAt = now;
    // A call that still runs goes on changing files.
    this.#changedAt = this.#openCalls.size > 0 ? now : null;
    this.#callEndedAt = null;
    if (withIgnored) this.#isIgnoredChanged = false;
  }

  /** The state at the start of the save is stored. */
  saveSucceeded(now: number, { kind, turn, withIgnored }: PlannedSave): void {
    this.#failures = 0;
    if (!withIgnored) this.#restUntil = now + Math.min(now - this.#startedAt, maxRestMs);
    this.#unsavedSince = this.#changedAt;
    if (kind === 'TURN_END' && turn === this.#lastEndedTurn?.turn) this.#isEndUnsaved = false;
    if (withIgnored) this.#ignoredAt = this.#startedAt;
  }

  /** `isStopped`: we ended it ourselves, for a more urgent one. */
  saveFailed(now: number, { withIgnored }: PlannedSave, isStopped: boolean): void {
    if (withIgnored) this.#isIgnoredChanged = true;
    // It had read changes, which are saved by the next one.
    this.#changedAt = this.#unsavedSince ?? this.#changedAt;
    if (isStopped) return;
    this.#failures += 1;
    this.#retryAt = now + this.retryMs;
  }

  /** Returns the next save; null: nothing has changed. */
  next(): DueSave | null {
    const files = this.#nextOfFiles();
    const due = files === null ? this.#nextOfIgnored() : (this.#nextInQuiet(files.at) ?? files);
    return due && (this.#failures > 0 ? { ...due, at: this.#retryAt } : due);
  }

  #nextOfFiles(): DueSave | null {
    const turn = this.#lastEndedTurn;
    if (this.#isEndUnsaved && turn !== null)
      return { kind: 'TURN_END', turn: turn.turn, withIgnored: false, at: turn.at };
    const times = [
      ...(this.#changedAt === null ? [] : [this.#changedAt + afterChangeMs]),
      ...(this.#callEndedAt === null ? [] : [this.#callEndedAt + afterCallMs]),
      ...(this.#isTurnOpen ? [this.#startedAt + openTurnMs] : []),
    ];
    if (times.length === 0) return null;
    return { kind: 'WORK', turn: null, withIgnored: false, at: Math.max(Math.min(...times), this.#restUntil) };
  }

  // A call that ended long ago, such as the installation of packages, is followed by the agent's thinking.
  #nextInQuiet(before: number): DueSave | null {
    const isStored = this.#changedAt === null && this.#callEndedAt === null;
    if (!this.#isTurnOpen || this.#calledAt === null || !isStored || !this.#isIgnoredChanged) return null;
    const at = Math.max(this.#calledAt + quietMs, this.#ignoredAt + ignoredMs);
    return at < before ? { kind: 'WORK', turn: null, withIgnored: true, at } : null;
  }

  // It completes the checkpoint of the last turn's end.
  #nextOfIgnored(): DueSave | null {
    const turn = this.#lastEndedTurn;
    if (this.#isTurnOpen || turn === null || !this.#isIgnoredChanged) return null;
    return { kind: 'TURN_END', turn: turn.turn, withIgnored: true, at: Math.max(turn.at, this.#ignoredAt + ignoredMs) };
  }

  #changed(now: number): void {
    this.#changedAt ??= now;
    this.#unsavedSince ??= now;
    this.#isIgnoredChanged = true;
  }
}
