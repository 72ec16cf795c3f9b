/** The least time in ms between two comparisons of an open turn: the service ignores requests within ten seconds. */
export const paceMs = 10_500;

/** Runs comparisons while they are visible, and not more often than every {@link paceMs}. */
export class RefreshPace {
  readonly #run: () => void;
  readonly #isVisible: () => boolean;
  #lastAt = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isHeld = false;

  constructor(run: () => void, isVisible: () => boolean) {
    this.#run = run;
    this.#isVisible = isVisible;
  }

  /** Records a comparison, also one that another user requested. */
  note(): void {
    this.#lastAt = performance.now();
    if (this.#timer === null) return;
    this.#clear();
    this.want();
  }

  /** Compares as soon as that is possible. */
  want(): void {
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => this.#due(), Math.max(0, this.#lastAt + paceMs - performance.now()));
  }

  /** Compares what was wanted while nobody could see it. */
  look(): void {
    if (!this.#isHeld || !this.#isVisible()) return;
    this.#isHeld = false;
    this.want();
  }

  /** Drops what is wanted. */
  stop(): void {
    this.#clear();
    this.#isHeld = false;
  }

  #due(): void {
    this.#timer = null;
    if (!this.#isVisible()) {
      this.#isHeld = true;
      return;
    }
    this.note();
    this.#run();
  }

  #clear(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
