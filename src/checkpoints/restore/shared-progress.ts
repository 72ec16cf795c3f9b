const slots = { nextUnit: 0, directories: 1, otherThread: 2, firstSegment: 3 } as const;

/** The states of a segment, and of the other steps: they only increase, except that a stop sets all to -1. */
const states = { waiting: 0, ready: 1, done: 2, stopped: -1 } as const;

/** Thrown by threads that were stopped. */
export class StoppedError extends Error {}

/** The progress of a restore, in memory that all of its threads share. Waiting blocks a thread. */
export class SharedProgress {
  readonly memory: SharedArrayBuffer;
  readonly #cells: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.#cells = new Int32Array(memory);
  }

  static of(segments: number): SharedProgress {
    return new SharedProgress(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * (slots.firstSegment + segments)));
  }

  /** Returns the number of the next unit of work: each is given once. */
  takeUnit(): number {
    this.check();
    return Atomics.add(this.#cells, slots.nextUnit, 1);
  }

  /** Throws StoppedError after a stop. */
  check(): void {
    if (this.#load(slots.directories) === states.stopped) throw new StoppedError();
  }

  /** Makes all threads throw StoppedError when they wait, or take the next unit. */
  stop(): void {
    for (let slot = slots.directories; slot < this.#cells.length; slot++) this.#set(slot, states.stopped);
  }

  setDirectories(): void {
    this.#advance(slots.directories, states.ready);
  }

  waitForDirectories(): void {
    this.#wait(slots.directories);
  }

  setOtherThread(): void {
    this.#advance(slots.otherThread, states.ready);
  }

  waitForOtherThread(): void {
    this.#wait(slots.otherThread);
  }

  setSegment(segment: number): void {
    this.#advance(slots.firstSegment + segment, states.ready);
  }

  waitForSegment(segment: number): void {
    this.#wait(slots.firstSegment + segment);
  }

  /** Records that nobody needs the segment any more. */
  setSegmentDone(segment: number): void {
    this.#advance(slots.firstSegment + segment, states.done);
  }

  isSegmentDone(segment: number): boolean {
    return this.#load(slots.firstSegment + segment) === states.done;
  }

  #load(slot: number): number {
    return Atomics.load(this.#cells, slot);
  }

  #set(slot: number, state: number): void {
    Atomics.store(this.#cells, slot, state);
    Atomics.notify(this.#cells, slot);
  }

  #advance(slot: number, state: number): void {
    const before = this.#load(slot);
    if (before === states.stopped || before >= state) return;
    // A stop in between wins.
    if (Atomics.compareExchange(this.#cells, slot, before, state) === before) Atomics.notify(this.#cells, slot);
  }

  #wait(slot: number): void {
    Atomics.wait(this.#cells, slot, states.waiting);
    this.check();
  }
}
